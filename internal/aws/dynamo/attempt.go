package dynamo

import (
	"context"

	"surehook/internal/hook"
)

type attemptItem struct {
	key
	Delivery      string       `dynamodbav:"delivery"`
	Number        int          `dynamodbav:"number"`
	Trigger       hook.Trigger `dynamodbav:"trigger"`
	StartedAt     int64        `dynamodbav:"started_at"`
	NextAttemptAt int64        `dynamodbav:"next_at,omitempty"`
	ExpiresAt     int64        `dynamodbav:"expires_at,omitempty"`
	Outcome       *outcomeItem `dynamodbav:"outcome,omitempty"`
}

func toAttemptItem(a hook.Attempt) attemptItem {
	return attemptItem{
		key:           attemptKey(a.Delivery, a.Number),
		Delivery:      a.Delivery.String(),
		Number:        a.Number,
		Trigger:       a.Trigger,
		StartedAt:     millis(a.StartedAt),
		NextAttemptAt: millis(a.NextAttemptAt),
		ExpiresAt:     ttl(a.ExpiresAt),
		Outcome:       toOutcomeItem(a.Outcome),
	}
}

func fromAttemptItem(it attemptItem) (hook.Attempt, error) {
	id, err := hook.ParseDeliveryID(it.Delivery)
	if err != nil {
		return hook.Attempt{}, err //nolint:wrapcheck // the caller names the operation
	}
	outcome, err := fromOutcomeItem(it.Outcome)
	if err != nil {
		return hook.Attempt{}, err
	}
	return hook.Attempt{
		Delivery:      id,
		Number:        it.Number,
		Trigger:       it.Trigger,
		StartedAt:     fromMillis(it.StartedAt),
		NextAttemptAt: fromMillis(it.NextAttemptAt),
		ExpiresAt:     fromTTL(it.ExpiresAt),
		Outcome:       outcome,
	}, nil
}

// Attempts reads all attempts of the event in one query per 1 MB. The event's
// deliveries times hook.MaxAttempts bound the number of attempts.
func (s *Store) Attempts(ctx context.Context, id hook.EventID) ([]hook.Attempt, error) {
	op := "list attempts of event " + string(id)
	var items []attemptItem
	if err := s.list(ctx, eventPartition(id), attemptPrefix, &items, op); err != nil {
		return nil, err
	}
	return fromItems(items, fromAttemptItem, op)
}
