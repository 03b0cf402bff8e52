package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"surehook/internal/admin/erasure"
	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/replay"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/rule/stats"
)

var (
	_ settle.Store  = (*Store)(nil)
	_ breaker.Store = (*Store)(nil)
	_ replay.Store  = (*Store)(nil)
	_ replay.Index  = (*Store)(nil)
	_ replay.Jobs   = (*Store)(nil)
)

// Store implements all storage ports. Store is safe for concurrent use. The cost
// of a call depends on the size of the result, not on the size of the store.
//
// Arguments and results are copies. Times are stored in UTC milliseconds, rate
// slots with full precision, and expiry times in whole seconds. Only Expire
// removes expired records.
type Store struct {
	mu            sync.Mutex
	history       // events, deliveries, attempts
	tenants       map[hook.TenantID]*tenant
	owners        map[hook.EndpointID]hook.TenantID
	creators      map[hook.EndpointID]hook.TenantID // of deleted endpoints, too
	materials     map[hook.EndpointID]hook.Material
	keys          map[hook.KeyID]hook.APIKey
	keyHashes     map[string]hook.KeyID
	links         map[hook.KeyID]hook.PortalLink
	linkKeys      map[string]hook.KeyID // of opened links, by the hash of the key
	dataKeys      map[hook.TenantID][]byte
	circuits      map[hook.EndpointID]gate.Record
	due           *ordered[gate.Record] // circuits with an AttendAt, ordered by AttendAt
	limits        map[hook.EndpointID]gate.Limits
	places        map[hook.TenantID]gate.Limits
	counts        map[hook.EndpointID]minutes
	hours         map[hook.EndpointID]map[time.Time]*stats.Counts  // by start of the hour in UTC
	active        map[time.Time]map[hook.CircuitCheck]bool         // endpoints with counts, by hour
	notifications map[hook.EndpointID]map[string]hook.Notification // by time and key
	outcomes      map[hook.JobID]*outcomes
	changes       map[hook.TenantID]map[string]hook.AuditRecord // by position
	erasures      map[hook.ErasureID]erasure.Erasure

	eventTypes map[string]hook.EventType // by name
	catalogue  hook.Catalogue

	erasedVersions int64 // the highest version of an erased tenant
}

// tenant holds the endpoints and jobs of a tenant.
type tenant struct {
	id        hook.TenantID
	version   int64 // number of changes of endpoints and limits, ever
	limits    hook.TenantLimits
	free      time.Time // next-free time of the limit of events per second
	endpoints map[hook.EndpointID]hook.Endpoint
	uids      map[string]hook.EndpointID
	rows      map[hook.EndpointID]bool // the list of endpoints
	closing   hook.ErasureID           // empty: no erasure is under way
	jobs      *ordered[*replay.Job]    // by id; ids sort by time
	open      map[hook.JobID]bool      // running jobs
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		history:   newHistory(),
		tenants:   make(map[hook.TenantID]*tenant),
		owners:    make(map[hook.EndpointID]hook.TenantID),
		creators:  make(map[hook.EndpointID]hook.TenantID),
		materials: make(map[hook.EndpointID]hook.Material),
		erasures:  make(map[hook.ErasureID]erasure.Erasure),
		keys:      make(map[hook.KeyID]hook.APIKey),
		keyHashes: make(map[string]hook.KeyID),
		links:     make(map[hook.KeyID]hook.PortalLink),
		linkKeys:  make(map[string]hook.KeyID),
		dataKeys:  make(map[hook.TenantID][]byte),
		circuits:  make(map[hook.EndpointID]gate.Record),
		due: newOrdered(func(a, b gate.Record) int {
			return cmp.Or(a.AttendAt.Compare(b.AttendAt), strings.Compare(string(a.Endpoint), string(b.Endpoint)))
		}),
		limits:        make(map[hook.EndpointID]gate.Limits),
		places:        make(map[hook.TenantID]gate.Limits),
		counts:        make(map[hook.EndpointID]minutes),
		hours:         make(map[hook.EndpointID]map[time.Time]*stats.Counts),
		active:        make(map[time.Time]map[hook.CircuitCheck]bool),
		notifications: make(map[hook.EndpointID]map[string]hook.Notification),
		outcomes:      make(map[hook.JobID]*outcomes),
		changes:       make(map[hook.TenantID]map[string]hook.AuditRecord),
		eventTypes:    make(map[string]hook.EventType),
	}
}

// PutEvent stores a copy of the event.
func (s *Store) PutEvent(ctx context.Context, e hook.Event) error {
	op := "put event " + string(e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if stored, ok := s.event(e.ID); ok && !stored.Expired(e.AcceptedAt) {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event exists already"))
	}
	stored := storedEvent(e)
	if t, ok := s.tenants[e.Tenant]; ok {
		stored.Tenant = t.id // the text of the event may be a part of a whole request
	}
	s.putEvent(s.recordsOf(e.ID), stored)
	return nil
}

// Event returns a copy of the event.
func (s *Store) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	op := "read event " + string(id)
	if err := available(ctx, op); err != nil {
		return hook.Event{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	e, ok := s.event(id)
	if !ok {
		return hook.Event{}, fmt.Errorf("%s: %w", op, hook.NotFound("event"))
	}
	return copyEvent(e), nil
}

// AddTarget replaces the event by a copy with the target. The event stays in the list of
// events without a target.
func (s *Store) AddTarget(ctx context.Context, e hook.Event, target hook.Target) error {
	op := fmt.Sprintf("add endpoint %s to event %s", target.Endpoint, e.ID)
	if err := available(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	stored, ok := s.event(e.ID)
	if !ok || stored.Tenant != e.Tenant || !stored.AcceptedAt.Equal(storedTime(e.AcceptedAt)) ||
		stored.Erased() || len(stored.Targets) >= hook.MaxTargets ||
		slices.ContainsFunc(stored.Targets, func(t hook.Target) bool { return t.Endpoint == target.Endpoint }) {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the event was changed meanwhile, or takes no further endpoint"))
	}
	stored = copyEvent(stored)
	stored.Targets = append(stored.Targets, target)
	s.opened(e.ID).event = stored
	return nil
}

// Load returns copies of the records. Events and endpoints share payloads, lists and maps with
// the store, which replaces and never changes them.
func (s *Store) Load(ctx context.Context, tokens []hook.Token) (deliver.Snapshot, error) {
	if err := available(ctx, "load tokens"); err != nil {
		return deliver.Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	snapshot := deliver.Snapshot{
		Events:     make(map[hook.EventID]*hook.Event, len(tokens)),
		Endpoints:  make(map[hook.EndpointID]*hook.Endpoint, len(tokens)),
		Circuits:   make(map[hook.EndpointID]gate.Record, len(tokens)),
		Deliveries: make(map[hook.DeliveryRef]*hook.Delivery),
		Limits:     make(map[hook.EndpointID]gate.Limits),
	}
	for _, t := range tokens {
		if t.Slot {
			snapshot.Limits[t.Delivery.Endpoint] = copyLimits(s.limits[t.Delivery.Endpoint])
		}
		records := s.records(t.Delivery.Event)
		if records.hasEvent() {
			snapshot.Events[t.Delivery.Event] = new(records.event)
		}
		if e, ok := s.tenantOf(t.Tenant).endpoints[t.Delivery.Endpoint]; ok {
			snapshot.Endpoints[e.ID] = &e
		}
		if r, ok := s.circuits[t.Delivery.Endpoint]; ok {
			snapshot.Circuits[r.Endpoint] = r
		}
		if d := records.delivery(t.Delivery); d != nil {
			snapshot.Deliveries[d.Ref()] = new(copyDelivery(*d))
		}
		if before, ok := t.Delivery.Predecessor(); ok {
			if d := records.delivery(before); d != nil {
				snapshot.Deliveries[d.Ref()] = new(copyDelivery(*d))
			}
		}
	}
	return snapshot, nil
}

// available rejects a call with an ended context, like a remote store.
func available(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer; try again", Err: err})
	}
	return nil
}

// storedTime returns the stored form of a time: UTC milliseconds.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// storedExpiry returns the stored form of an expiry time: whole seconds in UTC.
func storedExpiry(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// storedEvent returns a copy in the stored form.
func storedEvent(e hook.Event) hook.Event {
	e.AcceptedAt = storedTime(e.AcceptedAt)
	e.ErasedAt = storedTime(e.ErasedAt)
	e.ExpiresAt = storedExpiry(e.ExpiresAt)
	return copyEvent(e)
}

func copyEvent(e hook.Event) hook.Event {
	e.Payload = slices.Clone(e.Payload)
	e.Targets = slices.Clone(e.Targets)
	return e
}
