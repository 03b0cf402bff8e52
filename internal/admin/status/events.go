package status

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/merge"
)

// EventFilter selects events. The zero value of a field selects all.
type EventFilter struct {
	Type           string
	IdempotencyKey string
	Since          time.Time // inclusive
	Until          time.Time // exclusive
}

// selects reports whether the filter selects the stored event.
func (f EventFilter) selects(e hook.Event) bool {
	return (f.Type == "" || e.Type == f.Type) && !e.AcceptedAt.Before(f.Since) && (f.Until.IsZero() || e.AcceptedAt.Before(f.Until))
}

// ListedEvent is an event in a list, with the states of its deliveries.
type ListedEvent struct {
	hook.Event

	// States counts the endpoints by the state of the newest delivery of the event. Deliveries of
	// deleted endpoints are left out.
	States map[hook.State]int
}

func (f EventFilter) scope(tenant hook.TenantID) string {
	return page.Scope("events", string(tenant), f.Type, f.IdempotencyKey, bound(f.Since), bound(f.Until))
}

// Events returns a page of the tenant's events without payloads, newest first. The list
// holds the events with a recorded delivery to an endpoint of the tenant, and the events
// without a target. An event with queued deliveries only is found by its id or its
// idempotency key.
//
// A page makes at most one request for each shard of the endpoints, one per 100
// endpoints, hook.UntargetedShards and moreRequests. A page that needs more ends early,
// even empty, with a cursor that goes on there. The states take no request more: the merge
// passes all deliveries of an event. Those of the last event of a page that ends early may be
// incomplete, and count as queued.
//
// Errors: CodeInvalid for endpoints with more than maxParts shards together, and for a
// cursor of another list.
func (r *Reader) Events(ctx context.Context, tenant hook.TenantID, f EventFilter, p page.Request) (page.List[ListedEvent], error) {
	return afterPosition(f.scope(tenant), p, func(after *Position) ([]ListedEvent, *Position, error) {
		if f.IdempotencyKey != "" {
			events, err := r.keyedEvent(ctx, tenant, f, after)
			return events, nil, err
		}
		return r.events(ctx, tenant, f, after, p.Limit)
	})
}

// events returns at most limit events after the position, and the position for the next page.
func (r *Reader) events(ctx context.Context, tenant hook.TenantID, f EventFilter, after *Position, limit int) ([]ListedEvent, *Position, error) {
	targets, _, err := r.listed(ctx, tenant, "")
	if err != nil {
		return nil, nil, err
	}
	parts := DeliveryFilter{}.parts(targets)
	if len(parts) > maxParts {
		return nil, nil, &hook.Error{Code: hook.CodeInvalid, Message: fmt.Sprintf(
			"the endpoints of the tenant have %d shards, and a list of events merges at most %d; list the deliveries of one endpoint instead", len(parts), maxParts)}
	}
	all := r.rowsOf(parts)
	for shard := range hook.UntargetedShards {
		all = append(all, func(ctx context.Context, span Span, look int) ([]Row, *Position, error) {
			return r.Store.UntargetedRows(ctx, tenant, shard, span, look)
		})
	}
	// An event may have a row in each part, so a part's share of a page is the whole page. With many parts,
	// each gets less; then pages end early if every event has many deliveries.
	rows := looksFor(min(limit+2, 5000/len(all)+6), max(limit+2, 100), f.Type != "")
	m := merged(all, Span{Since: f.Since, Until: f.Until}, after, rows)
	l := &eventPage{Reader: r, tenant: tenant, filter: f, merge: m, states: newStates(targets)}
	data, next, err := assembled(m, limit, func(e ListedEvent) Position { return eventPosition(e.Event) }, func(n int) (taken[ListedEvent], error) { return l.take(ctx, n) })
	if err != nil {
		return nil, nil, fmt.Errorf("list events of tenant %s: %w", tenant, err)
	}
	for i, e := range data {
		data[i].States = l.states.of(e.Event)
	}
	return data, next, nil
}

// keyedEvent returns the event with the idempotency key.
func (r *Reader) keyedEvent(ctx context.Context, tenant hook.TenantID, f EventFilter, after *Position) ([]ListedEvent, error) {
	e, err := r.Event(ctx, tenant, hook.KeyedEventID(tenant, f.IdempotencyKey))
	unknown := err != nil && hook.CodeOf(err) == hook.CodeNotFound
	if err != nil && !unknown {
		return nil, err
	}
	if unknown || after != nil || !f.selects(e) || r.expired(e.ExpiresAt) {
		return nil, nil
	}
	deliveries, err := r.Store.Deliveries(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("read deliveries of event %s: %w", e.ID, err)
	}
	states := newStates(e.Targets)
	for _, d := range deliveries {
		states.add(d)
	}
	e.Payload = nil
	return []ListedEvent{{Event: e, States: states.of(e)}}, nil
}

// eventPage reads a page of events.
type eventPage struct {
	*Reader

	tenant hook.TenantID
	filter EventFilter
	merge  *merge.List[Row]
	states states
	last   Position // of the last event looked at
}

func eventPosition(e hook.Event) Position {
	return Position{At: e.AcceptedAt.UnixMilli(), DeliveryID: hook.DeliveryID{Event: e.ID}}
}

// take takes those of the next n events that the list holds.
func (l *eventPage) take(ctx context.Context, n int) (found taken[ListedEvent], err error) {
	var positions []Position
	for len(positions) < n && !found.short {
		want := n - len(positions)
		rows, err := l.merge.Take(ctx, want)
		if err != nil {
			return found, err
		}
		found.short = len(rows) < want
		for _, row := range rows {
			l.states.add(row.Delivery)
			position := Position{At: row.At, DeliveryID: hook.DeliveryID{Event: row.Event}}
			if position == l.last {
				continue
			}
			l.last = position
			if d := row.Delivery; d.Version == 0 || d.Tenant == l.tenant && (l.filter.Type == "" || d.EventType == l.filter.Type) {
				positions = append(positions, position)
			}
		}
	}
	found.last = l.last
	found.items, err = l.heads(ctx, positions)
	return found, err
}

// heads returns the selected events at the positions, in order. An event of another time
// of acceptance has the same idempotency key, and is another event.
func (l *eventPage) heads(ctx context.Context, positions []Position) ([]ListedEvent, error) {
	if len(positions) == 0 {
		return nil, nil
	}
	ids := make([]hook.EventID, len(positions))
	for i, position := range positions {
		ids[i] = position.Event
	}
	l.merge.Left -= (len(ids) + 99) / 100
	found, err := l.Store.EventHeads(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d events: %w", len(ids), err)
	}
	at := make(map[Position]hook.Event, len(found))
	for _, e := range found {
		at[eventPosition(e)] = e
	}
	var events []ListedEvent
	for _, position := range positions {
		if e, ok := at[position]; ok && e.Tenant == l.tenant && l.filter.selects(e) && !l.expired(e.ExpiresAt) {
			events = append(events, ListedEvent{Event: e})
		}
	}
	return events, nil
}

// states counts the deliveries of events by state, as their records are read.
type states struct {
	known  map[hook.EndpointID]bool // endpoints whose deliveries are read
	newest map[hook.EventID]map[hook.EndpointID]hook.Delivery
}

func newStates(targets []hook.Target) states {
	s := states{known: make(map[hook.EndpointID]bool, len(targets)), newest: make(map[hook.EventID]map[hook.EndpointID]hook.Delivery)}
	for _, t := range targets {
		s.known[t.Endpoint] = true
	}
	return s
}

// add keeps the record if it is of the newest generation so far. A row without a record is none.
func (s states) add(d hook.Delivery) {
	if d.Version == 0 {
		return
	}
	of := s.newest[d.ID.Event]
	if of == nil {
		of = make(map[hook.EndpointID]hook.Delivery)
		s.newest[d.ID.Event] = of
	}
	if of[d.ID.Endpoint].ID.Generation < d.ID.Generation {
		of[d.ID.Endpoint] = d
	}
}

// of returns the number of endpoints by the state of the event's newest delivery. A target
// without a record is queued, and so is a replay.
func (s states) of(e hook.Event) map[hook.State]int {
	counts := make(map[hook.State]int)
	for _, d := range s.newest[e.ID] {
		switch {
		case d.AcceptedAt != e.AcceptedAt.UnixMilli() || d.Unreadable():
		case d.Replayed.Generation != 0:
			counts[hook.StateQueued]++
		default:
			counts[d.State]++
		}
	}
	for _, t := range e.Targets {
		if _, recorded := s.newest[e.ID][t.Endpoint]; !recorded && s.known[t.Endpoint] {
			counts[hook.StateQueued]++
		}
	}
	return counts
}
