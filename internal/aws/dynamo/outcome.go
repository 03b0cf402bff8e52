package dynamo

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

const (
	// tallySlots is how many slots of a job one item counts: few enough to stay
	// within one write unit with all three sets, enough to read the tally of
	// 100,000 deliveries in one request or two.
	tallySlots = 100
	// tallyKept is how long a tally is kept after the last delivery it counted:
	// longer than any job runs, and then is kept.
	tallyKept = 6 * replay.KeepJobs
)

// tallyItem holds, per outcome, the slots that were counted as such, less the
// first one of the item. They are sets of numbers, so that adding is counting
// once.
type tallyItem struct {
	Delivered []int `dynamodbav:"delivered,numberset"`
	Dead      []int `dynamodbav:"dead,numberset"`
	Cancelled []int `dynamodbav:"cancelled,numberset"`
}

// tallied returns the set that settled deliveries of the state are counted in.
func tallied(d hook.Delivery) (set string, err error) {
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

// RecordOutcome counts the settled delivery for the job that it belongs to. Telling it
// again changes nothing; telling that it settled as something else later adds
// that, and Tallied chooses.
func (s *Store) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	op := "tally delivery " + d.ID.String()
	set, err := tallied(d)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:        s.table,
		Key:              tallyKey(d.Job, d.JobIndex).attributes(),
		UpdateExpression: aws.String("SET expires_at = :expires ADD " + set + " :slot"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":slot":    &types.AttributeValueMemberNS{Value: []string{strconv.Itoa(d.JobIndex % tallySlots)}},
			":expires": number(ttl(d.UpdatedAt.Add(tallyKept))),
		},
	})
	return translate(err, op)
}

// JobOutcomes returns how many deliveries of the job were counted as settled. One
// that was counted as delivered counts as nothing else, and one that was
// counted as dead is not cancelled.
func (s *Store) JobOutcomes(ctx context.Context, id hook.JobID) (replay.Outcomes, error) {
	var items []tallyItem
	if err := s.list(ctx, jobPartition(id), tallyPrefix, &items, "read tally of replay "+string(id)); err != nil {
		return replay.Outcomes{}, err
	}
	var sum replay.Outcomes
	for _, it := range items {
		counted := make(map[int]bool, tallySlots)
		for _, set := range []struct {
			slots []int
			n     *int
		}{{it.Delivered, &sum.Delivered}, {it.Dead, &sum.Dead}, {it.Cancelled, &sum.Cancelled}} {
			for _, slot := range set.slots {
				if !counted[slot] {
					counted[slot] = true
					*set.n++
				}
			}
		}
	}
	return sum, nil
}
