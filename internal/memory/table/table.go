package table

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"
)

// Key is a primary key. Keys order by Hash, and then by Sort.
type Key struct{ Hash, Sort string }

// String returns the key for logs.
func (k Key) String() string { return k.Hash + " " + k.Sort }

// Index is a global secondary index with the projection KEYS_ONLY. Items without one of
// the attributes are not in the index.
type Index struct{ Name, Hash, Sort string }

// Schema names the table, and the attributes of the keys. All are strings.
type Schema struct {
	Name       string
	Hash, Sort string
	Indexes    []Index
	TTL        string // the attribute with the time of expiry, in seconds since 1970
}

// Table is one table of DynamoDB in one process. It satisfies the part of the SDK's
// client that reads and writes items. Table is safe for concurrent use. Calls take effect
// one after the other.
//
// Values given to a table are copied. Values that it returns are shared with other
// readers: callers do not change them. The table never does.
type Table struct {
	// Now is the clock of the index lag and of the tokens of transactions; nil: the real
	// clock.
	Now func() time.Time
	// Around is called around each request, and may let it fail: see Call; nil: nothing
	// fails.
	Around func(ctx context.Context, c *Call, do func() error) error
	// Wrote is called after each write of an item, in the order of the writes, with the
	// item before and after; nil stands for no item. The table is locked meanwhile; nil:
	// nobody is told.
	Wrote func(k Key, before, after Item)

	schema Schema
	known  known
	others sync.Map // fields that the table does not support, by the type of a request

	mu      sync.Mutex
	items   rows
	indexes []rows
	lagging []lagging
	tokens  map[string]time.Time // of transactions, when they were made
	hidden  map[Key][]hidden     // of transactions under way
}

// row is an item in the table, or a row of an index.
type row struct {
	hash, sort string
	key        Key
	item       Item // nil: a bound of a query
	bytes      int
}

func order(a, b *row) bool {
	return cmp.Or(
		strings.Compare(a.hash, b.hash), strings.Compare(a.sort, b.sort),
		strings.Compare(a.key.Hash, b.key.Hash), strings.Compare(a.key.Sort, b.key.Sort),
	) < 0
}

// New returns an empty table.
func New(schema Schema) *Table {
	t := &Table{
		schema: schema, items: newRows(), tokens: make(map[string]time.Time), hidden: make(map[Key][]hidden),
	}
	for range schema.Indexes {
		t.indexes = append(t.indexes, newRows())
	}
	return t
}

// rows are a B-tree of rows. It is an interface because each package that has a table would otherwise
// compile the B-tree again.
type rows interface {
	Get(r *row) (found *row, ok bool)
	Set(r *row) (before *row, replaced bool)
	Delete(r *row) (before *row, deleted bool)
	Scan(f func(r *row) bool)
	Ascend(from *row, f func(r *row) bool)
	Descend(from *row, f func(r *row) bool)
}

//go:noinline
func newRows() rows {
	return btree.NewBTreeGOptions(order, btree.Options{NoLocks: true})
}

func (t *Table) now() time.Time {
	if t.Now == nil {
		return time.Now() //nolint:forbidigo // a table without a clock, as of make dev
	}
	return t.Now()
}

// at returns the item with the key; nil: there is none.
func (t *Table) at(k Key) Item {
	found, ok := t.items.Get(&row{hash: k.Hash, sort: k.Sort, key: k})
	if !ok {
		return nil
	}
	return found.item
}

// write replaces the item with the key; nil removes it. lag is the time until the indexes
// follow.
func (t *Table) write(k Key, after Item, lag time.Duration) {
	delete(t.hidden, k) // readers that see this write see those before it
	r := &row{hash: k.Hash, sort: k.Sort, key: k, item: after, bytes: ItemSize(after)}
	var before Item
	var old *row
	if after == nil {
		old, _ = t.items.Delete(r)
	} else {
		old, _ = t.items.Set(r)
	}
	if old != nil {
		before = old.item
	}
	if before == nil && after == nil {
		return
	}
	for i, index := range t.schema.Indexes {
		t.follow(i, t.indexRow(index, k, before), t.indexRow(index, k, after), lag)
	}
	if t.Wrote != nil {
		t.Wrote(k, before, after)
	}
}

// Expire removes expired items, like the time to live of a table: an item stays until
// pick returns true for it, which AWS does in any order, and days late; nil picks every
// one. An item that expired five years ago stays. Expire returns the number of removed
// items. Its cost grows with the table.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
func (t *Table) Expire(now time.Time, pick func(Key) bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()

	var expired []Key
	t.items.Scan(func(r *row) bool {
		seconds, ok := t.Expiry(r.item)
		if ok && seconds <= now.Unix() && seconds > now.AddDate(-5, 0, 0).Unix() && (pick == nil || pick(r.key)) {
			expired = append(expired, r.key)
		}
		return true
	})
	for _, k := range expired {
		t.write(k, nil, 0)
	}
	return len(expired)
}

// Expiry returns when the item expires, in Unix seconds; ok is false for never.
func (t *Table) Expiry(item Item) (seconds int64, ok bool) {
	at, ok := item[t.schema.TTL].(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	return whole(at.Value)
}

// Each calls f with every item, in the order of the keys, until f returns false.
func (t *Table) Each(f func(Key, Item) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.items.Scan(func(r *row) bool { return f(r.key, r.item) })
}
