package dynamo

import (
	"context"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// EventType reads one item.
func (s *Store) EventType(ctx context.Context, name string) (hook.EventType, error) {
	return read[hook.EventType](ctx, s, eventTypeKey(name), "event type", name)
}

// TypeListing makes one transaction per 24 names.
func (s *Store) TypeListing(ctx context.Context, eventTypes []string) (ingest.TypeListing, error) {
	const op = "read event types"
	keys := keysFor(eventTypes, eventTypeKey)
	var found ingest.TypeListing
	var items []attributes
	torn, err := s.untorn(ctx, func() (err error) {
		found.Catalogue, items, err = s.typesOfOneMoment(ctx, keys)
		return err
	})
	if found.Torn = torn; torn {
		if found.Catalogue, err = s.Catalogue(ctx); err != nil {
			return ingest.TypeListing{}, err
		}
		items, err = s.batchGet(ctx, keys)
	}
	if err != nil {
		return ingest.TypeListing{}, translate(err, op)
	}
	// Without an unknown word, the environment's validation applies.
	found.Types = decodeEach(ctx, s, items, func(t hook.EventType, _ error) bool { return t.Name != "" })
	return found, nil
}

// EventTypesAfter makes one query. A page of large types is shorter: one query reads 1 MB.
func (s *Store) EventTypesAfter(ctx context.Context, after string, limit int) (page []hook.EventType, more bool, err error) {
	const op = "list event types"
	query := s.sorted(eventTypesPartition, eventTypePrefix)
	if after != "" { // a start key without an item is valid
		query.ExclusiveStartKey = eventTypeKey(after).attributes()
	}
	items, more, err := s.page(ctx, query, min(max(limit, 1), maxPage))
	return readable[hook.EventType](ctx, s, items), more, translate(err, op)
}

// Catalogue reads one item.
func (s *Store) Catalogue(ctx context.Context) (hook.Catalogue, error) {
	return readOr(ctx, s, catalogueKey(), "catalogue", "of event types", hook.Catalogue{})
}

// PutEventType writes the type and the catalogue in one transaction.
func (s *Store) PutEventType(ctx context.Context, before, after hook.EventType) error {
	next := s.next(eventTypeKey(after.Name), before.Version, after)
	var room condition
	if before.Name == "" {
		room = where("attribute_not_exists(#types) OR #types < :most", attributes{":most": number(hook.MaxTypesPerEnvironment)})
	}
	return s.commit(ctx, "put event type "+after.Name, next, s.changeCatalogue(before, after, room).orElse(hook.TooManyTypes()))
}

// DeleteEventType removes the type and writes the catalogue in one transaction.
func (s *Store) DeleteEventType(ctx context.Context, t hook.EventType) error {
	return s.commit(ctx, "delete event type "+t.Name, s.removal(eventTypeKey(t.Name), atVersion(t.Version)), s.changeCatalogue(t, hook.EventType{}, condition{}))
}

// changeCatalogue returns the catalogue's write for the change of a type. The condition of
// the type's write makes before the stored type, so the numbers stay right.
func (s *Store) changeCatalogue(before, after hook.EventType, guard condition) write {
	change := hook.Catalogue{}.After(before, after)
	guard.names = map[string]string{"#types": "types"}
	return s.update(catalogueKey(), "ADD version :one, #types :types, checked :checked", guard, attributes{
		":one": number(1), ":types": number(int64(change.Types)), ":checked": number(int64(change.Checked)),
	})
}
