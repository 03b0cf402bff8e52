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
//   - change Lag, Left, Hidden and Admit before do;
//   - block, before and after do.
type Call struct {
	Operation string // of DynamoDB, as "PutItem"
	Index     string // of a Query; empty: the table
	Keys      []Key  // of the items that the request names, in its order
	Hash      string // of a Query: the partition
	Write     bool
	Input     any // of the SDK, as *dynamodb.PutItemInput

	// Lag is the time until the indexes follow the writes.
	Lag time.Duration
	// Left are keys of a batch that the answer lists as unprocessed. A batch leaves out
	// further keys past 16 MB.
	Left map[Key]bool
	// Hidden are keys of a transaction whose writes Query, Scan and BatchGetItem do not see
	// before Around returns. The isolation of DynamoDB allows that:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
	Hidden map[Key]bool
	// Admit is asked with the partitions that the request is about to write, and its error
	// throttles the request; nil: all may be written. The table is locked meanwhile.
	Admit func([]Partition) error

	hid []Key // the hidden items
}

// Partition is a partition of the table, or of an index.
type Partition struct{ Index, Hash string }

// admit asks whether the partitions take the writes.
func (t *Table) admit(c *Call, all ...prepared) error {
	if c.Admit == nil {
		return nil
	}
	var written []Partition
	for _, p := range all {
		if p.check {
			continue
		}
		written = append(written, Partition{Hash: p.key.Hash})
		for _, index := range t.schema.Indexes {
			gone, coming := t.indexRow(index, p.key, p.before), t.indexRow(index, p.key, p.after)
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
	return c.Admit(written)
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
