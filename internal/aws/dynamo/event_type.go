package dynamo

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
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

const (
	// maxMomentKeys bounds the items of one transaction, beside the catalogue: 24
	// event types have less than the 4 MB of a transaction.
	maxMomentKeys = 24
	// maxMomentTries bounds the tries of a read as of one moment. A commit takes
	// milliseconds, and the waits of 4 tries add up to 70 ms at most.
	maxMomentTries = 4
)

// errTorn means that a transaction changes the items during the read.
var errTorn = &hook.Error{Code: hook.CodeUnavailable, Message: "a transaction changes the items"}

// untorn repeats a read as of one moment while transactions change the items. torn
// means that the items changed during every try.
func (s *Store) untorn(ctx context.Context, read func() error) (torn bool, err error) {
	err = store.Persist(ctx, s.Wait, maxMomentTries, read)
	if errors.Is(err, errTorn) && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// typesOfOneMoment reads the catalogue and the existing items of the event types as of one moment. DynamoDB
// commits the items of a transaction one by one, and a Query or a BatchGetItem meanwhile sees some
// items after and some before the transaction. TransactGetItems never does. Each transaction reads the
// catalogue, too: equal versions prove that no change is between two transactions. An error wraps
// errTorn when a transaction changes the items.
func (s *Store) typesOfOneMoment(ctx context.Context, keys []key) (c hook.Catalogue, items []attributes, err error) {
	for first := true; first || len(keys) > 0; first = false {
		chunk := keys[:min(len(keys), maxMomentKeys)]
		keys = keys[len(chunk):]
		read, err := s.transactGet(ctx, append([]key{catalogueKey()}, chunk...))
		if err != nil {
			return c, nil, err
		}
		before := c.Version
		if err := decodeItem(read[0], &c); err != nil {
			return c, nil, err
		}
		if !first && c.Version != before {
			return c, nil, errTorn
		}
		items = append(items, slices.DeleteFunc(read[1:], func(item attributes) bool { return len(item) == 0 })...)
	}
	return c, items, nil
}

// transactGet reads the items as of one moment, in the order of the keys; nil for an
// item that does not exist.
func (s *Store) transactGet(ctx context.Context, keys []key) ([]attributes, error) {
	gets := make([]types.TransactGetItem, len(keys))
	for i, k := range keys {
		gets[i].Get = &types.Get{TableName: s.table, Key: k.attributes()}
	}
	out, err := s.db.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: gets})
	if interrupted(err) {
		return nil, errTorn
	}
	if err != nil {
		return nil, err
	}
	items := make([]attributes, len(keys))
	for i, response := range out.Responses[:min(len(keys), len(out.Responses))] {
		items[i] = response.Item
	}
	return items, nil
}
