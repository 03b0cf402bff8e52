package dynamo

import (
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// batchItem is the request of an attempt with several events. The leader's item has the
// members.
type batchItem struct {
	ID      hook.BatchID `dynamodbav:"id"`
	Size    int          `dynamodbav:"n"`
	Leader  string       `dynamodbav:"by"`
	Members []string     `dynamodbav:"all,omitempty"`
}

// toBatchItem returns nil for a request with one event in the plain form.
func toBatchItem(b *hook.Batch) *batchItem {
	if b == nil {
		return nil
	}
	it := &batchItem{ID: b.ID, Size: b.Size, Leader: b.Leader.String()}
	for _, d := range b.Members {
		it.Members = append(it.Members, d.String())
	}
	return it
}

func fromBatchItem(it *batchItem) (b *hook.Batch, err error) {
	if it == nil {
		return nil, nil //nolint:nilnil // no batch
	}
	b = &hook.Batch{ID: it.ID, Size: it.Size}
	if b.Leader, err = hook.ParseDeliveryID(it.Leader); err != nil {
		return nil, fmt.Errorf("read batch %s: %w", it.ID, err)
	}
	for _, text := range it.Members {
		d, err := hook.ParseDeliveryID(text)
		if err != nil {
			return nil, fmt.Errorf("read batch %s: %w", it.ID, err)
		}
		b.Members = append(b.Members, d)
	}
	return b, nil
}
