package table

import (
	"context"
	"time"
)

// Call is a request to the table, as Around sees it. Around may
//   - return an error without do: the request has no effect. An ended context, a throttle of
//     a partition, a conflict of transactions, and the death of the process are such errors;
//   - call do, and return another error: the answer is lost;
//   - call do twice: a client that lost the answer repeats the request, with the same
//     token of a transaction;
//   - change Lag, Left and Hidden before do;
//   - block, before and after do.
type Call struct {
	Operation string // of DynamoDB, as "PutItem"
	Index     string // of a Query; empty: the table
	Keys      []Key  // of the items that the request names, in its order
	Hash      string // of a Query: the partition
	Write     bool

	// Lag is the time until the indexes follow the writes.
	Lag time.Duration
	// Left are keys of a batch that the answer lists as unprocessed. A batch leaves out
	// further keys past 16 MB.
	Left map[Key]bool
	// Hidden are keys of a transaction whose writes Query, Scan and BatchGetItem do not see
	// before Around returns. The isolation of DynamoDB allows that:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
	Hidden map[Key]bool

	hid []Key // the hidden items
}

// hidden is an item before the transactions under way that hide their write.
type hidden struct {
	before Item
	times  int
}

// around makes the call, as Around decides.
func (t *Table) around(ctx context.Context, c *Call, do func() error) error {
	locked := func() error {
		t.mu.Lock()
		defer t.mu.Unlock()

		t.settle()
		return do()
	}
	if err := ctx.Err(); err != nil {
		return err //nolint:wrapcheck // as the SDK does
	}
	if t.Around == nil {
		return locked()
	}
	err := t.Around(ctx, c, locked)
	t.mu.Lock()
	defer t.mu.Unlock()

	for _, k := range c.hid {
		if t.hidden[k].times--; t.hidden[k].times == 0 {
			delete(t.hidden, k)
		}
	}
	return err
}

// hide keeps the item for readers that see half of a transaction.
func (t *Table) hide(c *Call, k Key, before Item) {
	if !c.Hidden[k] {
		return
	}
	if t.hidden[k] == nil {
		t.hidden[k] = &hidden{before: before}
	}
	t.hidden[k].times++
	c.hid = append(c.hid, k)
}

// committed returns the item as Query, Scan and BatchGetItem see it.
func (t *Table) committed(k Key, item Item) Item {
	if h := t.hidden[k]; h != nil {
		return h.before
	}
	return item
}
