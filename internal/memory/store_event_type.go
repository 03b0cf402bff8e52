package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"surehook/internal/admin/eventtype"
	"surehook/internal/delivery/ingest"
	"surehook/internal/hook"
)

var _ eventtype.Store = (*Store)(nil)

// EventType returns a copy of the type.
func (s *Store) EventType(ctx context.Context, name string) (hook.EventType, error) {
	op := "read event type " + name
	if err := available(ctx, op); err != nil {
		return hook.EventType{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	t, ok := s.eventTypes[name]
	if !ok {
		return hook.EventType{}, fmt.Errorf("%s: %w", op, hook.NotFound("event type"))
	}
	return copyEventType(t), nil
}

// TypeListing returns copies of the known types. A listing is never torn.
func (s *Store) TypeListing(ctx context.Context, eventTypes []string) (ingest.TypeListing, error) {
	if err := available(ctx, "read event types"); err != nil {
		return ingest.TypeListing{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	found := ingest.TypeListing{Catalogue: s.catalogue}
	for _, name := range eventTypes {
		if t, ok := s.eventTypes[name]; ok {
			found.Types = append(found.Types, copyEventType(t))
		}
	}
	return found, nil
}

// EventTypesAfter cuts limit to 1 to 100.
func (s *Store) EventTypesAfter(ctx context.Context, after string, limit int) (page []hook.EventType, more bool, err error) {
	if err := available(ctx, "list event types"); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, name := range slices.Sorted(maps.Keys(s.eventTypes)) {
		if name <= after {
			continue
		}
		if len(page) == min(max(limit, 1), maxPage) {
			return page, true, nil
		}
		page = append(page, copyEventType(s.eventTypes[name]))
	}
	return page, false, nil
}

// Catalogue returns the state of all types.
func (s *Store) Catalogue(ctx context.Context) (hook.Catalogue, error) {
	if err := available(ctx, "read catalogue"); err != nil {
		return hook.Catalogue{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.catalogue, nil
}

// PutEventType stores a copy of the type.
func (s *Store) PutEventType(ctx context.Context, before, after hook.EventType) error {
	op := "put event type " + after.Name
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.eventTypes[after.Name].Version != before.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event type was changed meanwhile"))
	}
	catalogue := s.catalogue.After(before, after)
	if before.Name == "" && catalogue.Types > hook.MaxTypesPerEnvironment {
		return fmt.Errorf("%s: %w", op, hook.TooManyTypes())
	}
	after.Version = before.Version + 1
	s.catalogue, s.eventTypes[after.Name] = catalogue, copyEventType(after)
	return nil
}

// DeleteEventType removes the type.
func (s *Store) DeleteEventType(ctx context.Context, t hook.EventType) error {
	op := "delete event type " + t.Name
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if stored, ok := s.eventTypes[t.Name]; !ok || stored.Version != t.Version {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event type was changed meanwhile"))
	}
	delete(s.eventTypes, t.Name)
	s.catalogue = s.catalogue.After(t, hook.EventType{})
	return nil
}

func copyEventType(t hook.EventType) hook.EventType {
	t.Schema, t.Example = slices.Clone(t.Schema), slices.Clone(t.Example)
	t.CreatedAt, t.UpdatedAt = storedTime(t.CreatedAt), storedTime(t.UpdatedAt)
	return t
}
