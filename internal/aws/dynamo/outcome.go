package dynamo

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

const (
	// deliveriesPerItem is the number of deliveries of a job counted by one item. An
	// index has two digits and takes at most 3 bytes, so even three full sets, 900
	// bytes, fit into one write unit of 1 KB. The outcomes of 100,000 deliveries are
	// 1000 items: one or two requests of 1 MB.
	deliveriesPerItem = 100
	// outcomesKept is the time to keep outcomes after the last counted delivery:
	// longer than any job runs and is kept.
	outcomesKept = 6 * replay.KeepJobs
)

// outcomesItem holds one set of delivery indexes per outcome, each relative to
// the item's first index. Adding an index to a set twice counts once.
type outcomesItem struct {
	Delivered []int `stored:"delivered"`
	Dead      []int `stored:"dead"`
	Cancelled []int `stored:"cancelled"`
}

// outcomeSet returns the name of the set for the state of the delivery.
func outcomeSet(d hook.Delivery) (set string, err error) {
	if d.Job == "" || d.JobIndex < 0 {
		return "", &hook.Error{Code: hook.CodeInternal, Message: "the delivery belongs to no job"}
	}
	switch d.State {
	case hook.StateDelivered:
		return "delivered", nil
	case hook.StateDead:
		return "dead", nil
	case hook.StateCancelled, hook.StateDiscarded:
		return "cancelled", nil
	case hook.StateQueued, hook.StateRetrying, hook.StateParked:
	}
	return "", &hook.Error{Code: hook.CodeInternal, Message: "the delivery is not settled: " + d.State.String()}
}

// RecordOutcome adds the delivery to the set for its state, in one request. A
// repeated call changes nothing. A delivery recorded with two states is in two
// sets; JobOutcomes resolves the precedence.
func (s *Store) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	op := "record outcome of delivery " + d.ID.String()
	set, err := outcomeSet(d)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	add := s.update(outcomesKey(d.Job, d.JobIndex), "SET expires_at = :expires, tenant = :tenant ADD "+set+" :index", condition{}, attributes{
		":index":   &types.AttributeValueMemberNS{Value: []string{strconv.Itoa(d.JobIndex % deliveriesPerItem)}},
		":expires": number(ttl(d.UpdatedAt.Add(outcomesKept))),
		":tenant":  text(string(d.Tenant)),
	})
	return s.commit(ctx, op, add)
}

// JobOutcomes reads all outcome items of the job. A delivery in several sets
// counts once: delivered takes precedence over dead, and dead over cancelled.
func (s *Store) JobOutcomes(ctx context.Context, id hook.JobID) (replay.Outcomes, error) {
	items, err := listRecords[outcomesItem](ctx, s, jobPartition(id), outcomesPrefix, "read outcomes of replay "+string(id))
	if err != nil {
		return replay.Outcomes{}, err
	}
	var sum replay.Outcomes
	for _, it := range items {
		counted := make(map[int]bool, deliveriesPerItem)
		for _, set := range []struct {
			indexes []int
			n       *int
		}{{it.Delivered, &sum.Delivered}, {it.Dead, &sum.Dead}, {it.Cancelled, &sum.Cancelled}} {
			for _, index := range set.indexes {
				if !counted[index] {
					counted[index] = true
					*set.n++
				}
			}
		}
	}
	return sum, nil
}
