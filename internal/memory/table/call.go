package table

import (
	"context"
	"slices"
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
	Low       string // of a Query: the least sort key
	Write     bool
	Input     any // of the SDK, as *dynamodb.PutItemInput

	// Lag is the time until the indexes follow the writes.
	Lag time.Duration
	// Left are keys of a batch that the answer lists as unprocessed. A batch leaves out
	// further keys past 16 MB. A batch with no other keys is throttled:
	// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
	Left map[Key]bool
	// Hidden are keys of a transaction whose writes Query, Scan and BatchGetItem do not see
	// before Around returns, or before another request answers with the write or changes
	// the item: each single read is serializable, also of a batch. The isolation of DynamoDB
	// allows that:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
	Hidden map[Key]bool
	// Admit is asked with the partitions that the request is about to write, and its error
	// throttles the request; nil: all may be written. Batches ask nobody. The table is
	// locked meanwhile.
	Admit func([]Partition) error
}

// hidden is an item before a transaction under way that hides its write.
type hidden struct {
	call   *Call
	before Item
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
		return err
	}
	if t.Around == nil {
		return locked()
	}
	err := t.Around(ctx, c, locked)
	t.mu.Lock()
	defer t.mu.Unlock()

	for k := range c.Hidden {
		t.reveal(c, k)
	}
	return err
}

// answer makes the call, and returns what do answers; nothing with an error.
func answer[Out any](ctx context.Context, t *Table, c *Call, do func() (*Out, error)) (out *Out, err error) {
	if err := t.around(ctx, c, func() (err error) {
		out, err = do()
		return err
	}); err != nil {
		return nil, err
	}
	return out, nil
}

// hide writes the item, and keeps the item before for readers that see half of the
// transaction.
func (t *Table) hide(c *Call, k Key, before, after Item) {
	earlier := t.hidden[k]
	t.write(k, after, c.Lag)
	if c.Hidden[k] {
		t.hidden[k] = append(earlier, hidden{c, before})
	}
}

// reveal shows the write of the item, and the writes before it.
func (t *Table) reveal(c *Call, k Key) {
	all := t.hidden[k]
	i := slices.IndexFunc(all, func(h hidden) bool { return h.call == c })
	if i+1 < len(all) {
		t.hidden[k] = all[i+1:]
		return
	}
	if i >= 0 {
		delete(t.hidden, k)
	}
}

// answered returns the item for an answer: after the answer, all readers see it.
func (t *Table) answered(k Key) Item {
	delete(t.hidden, k)
	return t.at(k)
}

// committed returns the item as Query, Scan and BatchGetItem see it.
func (t *Table) committed(k Key, item Item) Item {
	if len(t.hidden) == 0 {
		return item
	}
	if all := t.hidden[k]; len(all) > 0 {
		return all[0].before
	}
	return item
}
