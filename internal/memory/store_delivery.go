package memory

import (
	"context"
	"fmt"
	"slices"

	"surehook/internal/hook"
)

// Delivery returns a copy of the record.
func (s *Store) Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error) {
	op := "read delivery " + id.String()
	if err := available(ctx, op); err != nil {
		return hook.Delivery{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	d, ok := s.deliveries[id]
	if !ok {
		return hook.Delivery{}, fmt.Errorf("%s: %w", op, hook.NotFound("delivery"))
	}
	return copyDelivery(*d), nil
}

// DeliveriesByID returns each record once, in the order of the ids.
func (s *Store) DeliveriesByID(ctx context.Context, ids []hook.DeliveryID) ([]hook.Delivery, error) {
	if err := available(ctx, "read deliveries by id"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	seen := make(map[hook.DeliveryID]bool, len(ids))
	var found []hook.Delivery
	for _, id := range ids {
		if d, ok := s.deliveries[id]; ok && !seen[id] {
			found = append(found, copyDelivery(*d))
		}
		seen[id] = true
	}
	return found, nil
}

// Deliveries returns copies, in the order of endpoint and generation.
func (s *Store) Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error) {
	if err := available(ctx, "list deliveries of event "+string(id)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Delivery
	if records := s.events[id]; records != nil {
		for _, d := range records.deliveries {
			found = append(found, copyDelivery(*d))
		}
	}
	return found, nil
}

// Attempts returns copies of the attempts.
func (s *Store) Attempts(ctx context.Context, id hook.EventID) ([]hook.Attempt, error) {
	if err := available(ctx, "list attempts of event "+string(id)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Attempt
	if records := s.events[id]; records != nil {
		for _, a := range records.attempts {
			found = append(found, copyAttempt(a))
		}
	}
	return found, nil
}

// SaveDelivery stores copies of the delivery and the attempt.
func (s *Store) SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error {
	op := "save delivery " + d.ID.String()
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var version int64
	if stored, ok := s.deliveries[d.ID]; ok {
		version = stored.Version
	}
	if version != d.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the delivery was changed meanwhile"))
	}
	d.Version++
	kept := storedDelivery(d)
	s.putDelivery(&kept)
	if attempt != nil {
		s.putAttempt(storedAttempt(*attempt))
	}
	return nil
}

// storedDelivery returns a copy in the stored form.
func storedDelivery(d hook.Delivery) hook.Delivery {
	d.CreatedAt = storedTime(d.CreatedAt)
	d.UpdatedAt = storedTime(d.UpdatedAt)
	d.NextAttemptAt = storedTime(d.NextAttemptAt)
	d.ExpiresAt = storedExpiry(d.ExpiresAt)
	d.Replayed.At = storedTime(d.Replayed.At)
	return copyDelivery(d)
}

func copyDelivery(d hook.Delivery) hook.Delivery {
	d.Last.Body = slices.Clone(d.Last.Body)
	return d
}

// storedAttempt returns a copy in the stored form.
func storedAttempt(a hook.Attempt) hook.Attempt {
	a.StartedAt = storedTime(a.StartedAt)
	a.NextAttemptAt = storedTime(a.NextAttemptAt)
	a.ExpiresAt = storedExpiry(a.ExpiresAt)
	return copyAttempt(a)
}

func copyAttempt(a hook.Attempt) hook.Attempt {
	a.Outcome.Body = slices.Clone(a.Outcome.Body)
	return a
}
