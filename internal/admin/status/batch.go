package status

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// addMembers completes the batches of the attempts with their members, which are in the record of
// the batch's leader. If the leader has no record, because the process died before the write, the
// batch stays without members.
func (r *Reader) addMembers(ctx context.Context, attempts []hook.Attempt) error {
	known := make(map[hook.BatchID][]hook.DeliveryID)
	for i := range attempts {
		b := attempts[i].Outcome.Batch
		if b == nil || b.Members != nil {
			continue
		}
		members, ok := known[b.ID]
		if !ok {
			var err error
			if members, err = r.members(ctx, b); err != nil {
				return err
			}
			known[b.ID] = members
		}
		whole := *b
		whole.Members = members
		attempts[i].Outcome.Batch = &whole
	}
	return nil
}

// members reads the members of a batch: the leader's event, delivery and attempts.
func (r *Reader) members(ctx context.Context, b *hook.Batch) ([]hook.DeliveryID, error) {
	event, err := r.Store.Event(ctx, b.Leader.Event)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read event %s of batch %s: %w", b.Leader.Event, b.ID, err)
	}
	deliveries, err := r.Store.Deliveries(ctx, event)
	if err != nil {
		return nil, fmt.Errorf("read leader of batch %s: %w", b.ID, err)
	}
	for _, d := range deliveries {
		if d.ID != b.Leader {
			continue
		}
		if members := membersIn(&d.Last, b.ID); members != nil {
			return members, nil
		}
		recorded, err := r.Store.Attempts(ctx, []hook.Delivery{d})
		if err != nil {
			return nil, fmt.Errorf("read attempts of the leader of batch %s: %w", b.ID, err)
		}
		for _, a := range recorded {
			if members := membersIn(&a.Outcome, b.ID); members != nil {
				return members, nil
			}
		}
	}
	return nil, nil
}

// membersIn returns the members of the batch if the outcome holds them, and nil otherwise.
func membersIn(o *hook.Outcome, id hook.BatchID) []hook.DeliveryID {
	if o.Batch == nil || o.Batch.ID != id {
		return nil
	}
	return o.Batch.Members
}
