package table

import (
	"cmp"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Row returns what the index projects of the item; nil: the item is not in the index.
func (s Schema) Row(index Index, item Item) Item {
	if item[index.Hash] == nil || item[index.Sort] == nil {
		return nil
	}
	return Item{s.Hash: item[s.Hash], s.Sort: item[s.Sort], index.Hash: item[index.Hash], index.Sort: item[index.Sort]}
}

// indexRow returns the row of the item in the index; nil: the item is not in the index.
func (t *Table) indexRow(index Index, k Key, item Item) *row {
	projected := t.schema.Row(index, item)
	hash, ok := projected[index.Hash].(*types.AttributeValueMemberS)
	sort, ok2 := projected[index.Sort].(*types.AttributeValueMemberS)
	if !ok || !ok2 {
		return nil
	}
	return &row{hash: hash.Value, sort: sort.Value, key: k, item: projected, bytes: ItemSize(projected)}
}

// same reports whether the row of an index stays.
func same(gone, coming *row) bool {
	return gone == nil && coming == nil || gone != nil && coming != nil && !order(gone, coming) && !order(coming, gone)
}

// Partition is a partition of the table, or of an index.
type Partition struct{ Index, Hash string }

// admit asks whether the partitions take the writes.
func (t *Table) admit(call *Call, changes []change, before, after []Item) error {
	if call.Admit == nil {
		return nil
	}
	var written []Partition
	for i, c := range changes {
		written = append(written, Partition{Hash: c.key.Hash})
		for _, index := range t.schema.Indexes {
			gone, coming := t.indexRow(index, c.key, before[i]), t.indexRow(index, c.key, after[i])
			if same(gone, coming) {
				continue
			}
			for _, r := range []*row{gone, coming} {
				if r != nil {
					written = append(written, Partition{index.Name, r.hash})
				}
			}
		}
	}
	return call.Admit(written)
}

// lagging is a change of an index that is not visible yet.
type lagging struct {
	at           time.Time
	index        int
	gone, coming *row
}

// follow changes the index after the lag. The changes of one item stay in their order.
func (t *Table) follow(index int, gone, coming *row, lag time.Duration) {
	if same(gone, coming) {
		return
	}
	at := t.now().Add(lag)
	key := cmp.Or(coming, gone).key
	waits := lag > 0
	for _, earlier := range t.lagging {
		if earlier.index == index && cmp.Or(earlier.coming, earlier.gone).key == key {
			if waits = true; earlier.at.After(at) {
				at = earlier.at
			}
		}
	}
	change := lagging{at, index, gone, coming}
	if waits {
		t.lagging = append(t.lagging, change)
		return
	}
	t.catchUp(change)
}

func (t *Table) catchUp(c lagging) {
	if c.gone != nil {
		t.indexes[c.index].Delete(c.gone)
	}
	if c.coming != nil {
		t.indexes[c.index].Set(c.coming)
	}
}

// settle makes the changes of the indexes whose lag has passed.
func (t *Table) settle() {
	if len(t.lagging) == 0 {
		return
	}
	now := t.now()
	var later []lagging
	for _, c := range t.lagging {
		if c.at.After(now) {
			later = append(later, c)
			continue
		}
		t.catchUp(c)
	}
	t.lagging = later
}
