package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"surehook/internal/circuit"
	"surehook/internal/deliver"
	"surehook/internal/gate"
	"surehook/internal/hook"
)

// Store keeps endpoints, their circuits, limits and counts, events, deliveries,
// attempts and API keys. It is safe for concurrent use. What it is given and
// what it gives are copies; times are kept in UTC milliseconds, slots of a rate
// limit as they are, times of removal in whole seconds. Nothing is removed when
// its time comes.
type Store struct {
	mu         sync.Mutex
	events     map[hook.EventID]hook.Event
	deliveries map[hook.DeliveryID]hook.Delivery
	attempts   map[attemptID]hook.Attempt
	tenants    map[hook.TenantID]*tenant
	keys       map[hook.KeyID]hook.APIKey
	circuits   map[hook.EndpointID]gate.Record
	limits     map[hook.EndpointID]gate.Limits
	counts     map[minute]circuit.Counts
}

type attemptID struct {
	delivery hook.DeliveryID
	number   int
}

// tenant is what a tenant has.
type tenant struct {
	version   int64 // changes of its endpoints, ever
	endpoints map[hook.EndpointID]hook.Endpoint
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		events:     make(map[hook.EventID]hook.Event),
		deliveries: make(map[hook.DeliveryID]hook.Delivery),
		attempts:   make(map[attemptID]hook.Attempt),
		tenants:    make(map[hook.TenantID]*tenant),
		keys:       make(map[hook.KeyID]hook.APIKey),
		circuits:   make(map[hook.EndpointID]gate.Record),
		limits:     make(map[hook.EndpointID]gate.Limits),
		counts:     make(map[minute]circuit.Counts),
	}
}

// PutEvent stores a new event; CodeConflict if its id exists.
func (s *Store) PutEvent(ctx context.Context, e hook.Event) error {
	op := "put event " + string(e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if _, ok := s.events[e.ID]; ok {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event exists already"))
	}
	s.events[e.ID] = copyEvent(e)
	return nil
}

// Event returns the event with its payload; CodeNotFound if there is none.
func (s *Store) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	op := "read event " + string(id)
	if err := available(ctx, op); err != nil {
		return hook.Event{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	e, ok := s.events[id]
	if !ok {
		return hook.Event{}, fmt.Errorf("%s: %w", op, hook.NotFound("event"))
	}
	return copyEvent(e), nil
}

// Load returns the events, endpoints, circuits and deliveries that the tokens name.
func (s *Store) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	if err := available(ctx, "load tokens"); err != nil {
		return deliver.Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	snapshot := deliver.Snapshot{
		Events:     make(map[hook.EventID]hook.Event),
		Endpoints:  make(map[hook.EndpointID]hook.Endpoint),
		Circuits:   make(map[hook.EndpointID]gate.Record),
		Deliveries: make(map[hook.DeliveryID]hook.Delivery),
	}
	for _, t := range tokens {
		if e, ok := s.events[t.Delivery.Event]; ok {
			snapshot.Events[e.ID] = copyEvent(e)
		}
		if e, ok := s.tenantOf(t.Tenant).endpoints[t.Delivery.Endpoint]; ok {
			snapshot.Endpoints[e.ID] = copyEndpoint(e)
		}
		if r, ok := s.circuits[t.Delivery.Endpoint]; ok {
			snapshot.Circuits[r.Endpoint] = r
		}
		if d, ok := s.deliveries[t.Delivery]; ok {
			snapshot.Deliveries[d.ID] = copyDelivery(d)
		}
	}
	return snapshot, nil
}

// available refuses a call whose context is done, as a store across a network would.
func available(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer; try again", Err: err})
	}
	return nil
}

// compareDeliveries orders by endpoint and generation.
func compareDeliveries(a, b hook.DeliveryID) int {
	return cmp.Or(strings.Compare(string(a.Endpoint), string(b.Endpoint)), cmp.Compare(a.Generation, b.Generation))
}

// storedTime returns the time as it is kept: UTC milliseconds.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// storedExpiry returns the time of removal as it is kept: whole seconds.
func storedExpiry(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func copyEvent(e hook.Event) hook.Event {
	e.Payload = slices.Clone(e.Payload)
	e.Targets = slices.Clone(e.Targets)
	e.AcceptedAt = storedTime(e.AcceptedAt)
	e.ExpiresAt = storedExpiry(e.ExpiresAt)
	return e
}
