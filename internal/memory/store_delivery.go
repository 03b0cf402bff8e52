package memory

import (
	"context"
	"fmt"
	"slices"

	"surehook/internal/hook"
)

// Delivery returns a copy of the record.
func (s *Store) Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error) {
	op := "read delivery " + ref.String()
	if err := available(ctx, op); err != nil {
		return hook.Delivery{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	d := s.delivery(ref)
	if d == nil {
		return hook.Delivery{}, fmt.Errorf("%s: %w", op, hook.NotFound("delivery"))
	}
	return copyDelivery(*d), nil
}

// DeliveriesByRef returns each record once, in the order of the refs.
func (s *Store) DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) ([]hook.Delivery, error) {
	if err := available(ctx, "read deliveries by ref"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	seen := make(map[hook.DeliveryRef]bool, len(refs))
	var found []hook.Delivery
	for _, ref := range refs {
		if d := s.delivery(ref); d != nil && !seen[ref] {
			found = append(found, copyDelivery(*d))
		}
		seen[ref] = true
	}
	return found, nil
}

// Deliveries returns copies, in the order of endpoint and generation.
func (s *Store) Deliveries(ctx context.Context, e hook.Event) ([]hook.Delivery, error) {
	if err := available(ctx, "list deliveries of event "+string(e.ID)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Delivery
	for _, target := range e.Targets {
		ref, _ := e.Ref(target.Endpoint, 1)
		for d := s.delivery(ref); d != nil; d = s.delivery(d.Successor()) {
			found = append(found, copyDelivery(*d))
			if d.Replayed.Generation == 0 {
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b hook.Delivery) int { return compareDeliveries(a.Ref(), b.Ref()) })
	return found, nil
}

// Attempts returns copies of the attempts.
func (s *Store) Attempts(ctx context.Context, deliveries []hook.Delivery) ([]hook.Attempt, error) {
	if err := available(ctx, fmt.Sprintf("list attempts of %d deliveries", len(deliveries))); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var found []hook.Attempt
	for _, d := range deliveries {
		if records := s.records(d.ID.Event); records != nil {
			for _, a := range records.attempts {
				if a.Delivery == d.Ref() {
					found = append(found, copyAttempt(a))
				}
			}
		}
	}
	slices.SortFunc(found, compareAttempts)
	return found, nil
}

// SaveDelivery stores copies of the delivery and the attempt.
func (s *Store) SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error {
	if ctx.Err() != nil { // the text is made only then: a store in memory saves much
		return available(ctx, "save delivery "+d.ID.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	var version int64
	if stored := s.delivery(d.Ref()); stored != nil {
		version = stored.Version
	}
	if version != d.Version {
		return fmt.Errorf("save delivery %s: %w", d.ID, hook.Conflict("the delivery was changed meanwhile"))
	}
	d.Version++
	kept := storedDelivery(d)
	records := s.recordsOf(d.ID.Event)
	s.putDelivery(records, &kept)
	if attempt != nil {
		s.putAttempt(records, storedAttempt(*attempt))
	}
	s.pack(records)
	return nil
}

// storedDelivery returns a copy in the stored form.
func storedDelivery(d hook.Delivery) hook.Delivery {
	d.CreatedAt = storedTime(d.CreatedAt)
	d.UpdatedAt = storedTime(d.UpdatedAt)
	d.NextAttemptAt = storedTime(d.NextAttemptAt)
	d.SweptAt = storedTime(d.SweptAt)
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

// EraseAttempts removes the bodies of the attempts.
func (s *Store) EraseAttempts(ctx context.Context, deliveries []hook.Delivery) error {
	if err := available(ctx, fmt.Sprintf("erase attempts of %d deliveries", len(deliveries))); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, d := range deliveries {
		if records := s.opened(d.ID.Event); records != nil {
			for i, a := range records.attempts {
				if a.Delivery == d.Ref() {
					records.attempts[i].Outcome.Body = nil
				}
			}
			s.pack(records)
		}
	}
	return nil
}

// EraseEvent removes the payload.
func (s *Store) EraseEvent(ctx context.Context, e hook.Event) error {
	op := "erase event " + string(e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	stored, ok := s.event(e.ID)
	if !ok || stored.AcceptedAt.UnixMilli() != e.AcceptedAt.UnixMilli() {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event is gone"))
	}
	stored.Payload = nil
	if !stored.Erased() {
		stored.ErasedAt = storedTime(e.ErasedAt)
	}
	records := s.recordsOf(e.ID)
	s.putEvent(records, stored)
	s.pack(records)
	return nil
}
