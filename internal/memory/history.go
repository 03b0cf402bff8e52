package memory

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"surehook/internal/hook"
)

// history holds events with deliveries and attempts, and their orders. Stored
// deliveries are replaced, never modified.
type history struct {
	events     map[hook.EventID]slot
	byState    map[stateKey]*ordered[position]        // by age
	accepted   map[hook.EndpointID]*ordered[position] // by acceptance of the event
	untargeted map[hook.TenantID]*ordered[position]   // events without a target, by acceptance
	retrying   *ordered[*hook.Delivery]               // by OverdueFrom
	expiries   *ordered[expiry]
	packing    packing
}

// slot holds the records of one event.
type slot struct {
	id     hook.EventID // the text in the lists
	open   *eventRecords
	packed string // the text of the records; empty: open
}

// records returns the records; nil for an empty slot.
func (s slot) records() *eventRecords {
	if s.packed == "" {
		return s.open
	}
	r := unpack(s.packed)
	r.id = s.id
	return r
}

// eventRecords is all records of one event.
type eventRecords struct {
	id         hook.EventID     // the text in the lists
	event      hook.Event       // zero: only deliveries are stored
	deliveries []*hook.Delivery // by endpoint and generation
	attempts   []hook.Attempt   // by endpoint, generation and number
	expiresAt  time.Time        // the latest of all records; zero: never
}

func (r *eventRecords) hasEvent() bool { return r != nil && r.event.ID != "" }

// delivery returns the record; nil for no record.
func (r *eventRecords) delivery(ref hook.DeliveryRef) *hook.Delivery {
	if r != nil {
		if i, found := r.search(ref); found {
			return r.deliveries[i]
		}
	}
	return nil
}

// search returns the place of the delivery's record.
func (r *eventRecords) search(ref hook.DeliveryRef) (i int, found bool) {
	return slices.BinarySearchFunc(r.deliveries, ref, func(d *hook.Delivery, ref hook.DeliveryRef) int {
		return compareDeliveries(d.Ref(), ref)
	})
}

// packable bounds the deliveries of a packed event: a read of one reads all.
const packable = 16

// settled reports whether no change of the records is to be expected soon.
func (r *eventRecords) settled() bool {
	return len(r.deliveries) >= max(len(r.event.Targets), 1) && len(r.deliveries) <= packable &&
		!slices.ContainsFunc(r.deliveries, func(d *hook.Delivery) bool { return !d.State.Settled() })
}

// position is the position of an event, or of a delivery of a known endpoint, in a list.
// For a list by age, at is the time of creation, otherwise of acceptance.
type position struct {
	at         int64 // in milliseconds since 1970
	event      hook.EventID
	generation int
	shard      int
	acceptedAt int64
}

func comparePositions(a, b position) int {
	if c := cmp.Compare(a.at, b.at); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.event), string(b.event)); c != 0 {
		return c
	}
	if c := cmp.Compare(a.generation, b.generation); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.acceptedAt, b.acceptedAt))
}

// stateKey identifies the deliveries of an endpoint in one state.
type stateKey struct {
	endpoint hook.EndpointID
	state    hook.State
}

// expiry is the expiry time of an event's records.
type expiry struct {
	at    time.Time
	event hook.EventID
}

func newHistory() history {
	return history{
		events:     make(map[hook.EventID]slot),
		byState:    make(map[stateKey]*ordered[position]),
		accepted:   make(map[hook.EndpointID]*ordered[position]),
		untargeted: make(map[hook.TenantID]*ordered[position]),
		retrying: newOrdered(func(a, b *hook.Delivery) int {
			return cmp.Or(
				a.OverdueFrom().Compare(b.OverdueFrom()), strings.Compare(string(a.ID.Event), string(b.ID.Event)), compareDeliveries(a.Ref(), b.Ref()),
			)
		}),
		expiries: newOrdered(func(a, b expiry) int {
			return cmp.Or(a.at.Compare(b.at), strings.Compare(string(a.event), string(b.event)))
		}),
	}
}

// records returns the records of the event, to read; nil for none.
func (h *history) records(id hook.EventID) *eventRecords { return h.events[id].records() }

// opened returns the records of the event, to change; nil for none.
func (h *history) opened(id hook.EventID) *eventRecords {
	s := h.events[id]
	r := s.records()
	if s.packed != "" {
		h.events[s.id] = slot{id: s.id, open: r} // the map keeps the text of the last key
	}
	return r
}

// pack packs settled records. Changes of the records work without, but need more memory.
func (h *history) pack(r *eventRecords) {
	if r.settled() {
		h.events[r.id] = slot{id: r.id, packed: h.packing.pack(r)}
	}
}

func (h *history) event(id hook.EventID) (hook.Event, bool) {
	if r := h.records(id); r.hasEvent() {
		return r.event, true
	}
	return hook.Event{}, false
}

// delivery returns the record; nil for no record.
func (h *history) delivery(ref hook.DeliveryRef) *hook.Delivery {
	return h.records(ref.Event).delivery(ref)
}

// deliveries yields the records of the endpoint at the positions.
func (h *history) deliveries(endpoint hook.EndpointID, at iter.Seq[position]) iter.Seq[*hook.Delivery] {
	return func(yield func(*hook.Delivery) bool) {
		for p := range at {
			id := hook.DeliveryID{Event: p.event, Endpoint: endpoint, Generation: p.generation}
			if !yield(h.delivery(hook.DeliveryRef{DeliveryID: id, AcceptedAt: p.acceptedAt, Shard: p.shard})) {
				return
			}
		}
	}
}

// putEvent replaces the record of the event.
func (h *history) putEvent(r *eventRecords, e hook.Event) {
	h.unlistEvent(r)
	r.event = e
	h.keep(r, e.ExpiresAt)
	if len(e.Targets) == 0 {
		h.untargetedOf(e.Tenant).add(r.position())
	}
}

// unlistEvent removes the event from the list of events without a target, if the event is
// there.
func (h *history) unlistEvent(r *eventRecords) {
	if r.hasEvent() {
		h.untargetedOf(r.event.Tenant).remove(r.position())
	}
}

// position returns the position of the event.
func (r *eventRecords) position() position {
	return position{at: r.event.AcceptedAt.UnixMilli(), event: r.id}
}

// untargetedOf returns the tenant's events without a target, the oldest first.
func (h *history) untargetedOf(tenant hook.TenantID) *ordered[position] {
	if h.untargeted[tenant] == nil {
		h.untargeted[tenant] = newOrdered(comparePositions)
	}
	return h.untargeted[tenant]
}

// acceptedBy returns the deliveries of the endpoint by acceptance, the oldest first.
func (h *history) acceptedBy(endpoint hook.EndpointID) *ordered[position] {
	if h.accepted[endpoint] == nil {
		h.accepted[endpoint] = newOrdered(comparePositions)
	}
	return h.accepted[endpoint]
}

// putDelivery replaces the record of a delivery.
func (h *history) putDelivery(r *eventRecords, d *hook.Delivery) {
	i, found := r.search(d.Ref())
	if found {
		h.unlist(r, r.deliveries[i])
		r.deliveries[i] = d
	} else {
		r.deliveries = slices.Insert(r.deliveries, i, d)
	}
	h.keep(r, d.ExpiresAt)
	h.eachList(r, d, (*ordered[position]).add)
	if d.State == hook.StateRetrying {
		h.retrying.add(d)
	}
}

func (h *history) putAttempt(r *eventRecords, a hook.Attempt) {
	h.keep(r, a.ExpiresAt)
	i, found := slices.BinarySearchFunc(r.attempts, a, compareAttempts)
	if found {
		r.attempts[i] = a
		return
	}
	r.attempts = slices.Insert(r.attempts, i, a)
}

// unlist removes the delivery from all lists.
func (h *history) unlist(r *eventRecords, d *hook.Delivery) {
	h.eachList(r, d, (*ordered[position]).remove)
	if d.State == hook.StateRetrying {
		h.retrying.remove(d)
	}
}

// eachList calls do for the lists of the delivery, with the position there.
func (h *history) eachList(r *eventRecords, d *hook.Delivery, do func(*ordered[position], position)) {
	at := position{at: d.CreatedAt.UnixMilli(), event: r.id, generation: d.ID.Generation, shard: int(d.Shard), acceptedAt: d.AcceptedAt}
	do(h.inState(d.ID.Endpoint, d.State), at)
	at.at = d.AcceptedAt
	do(h.acceptedBy(d.ID.Endpoint), at)
}

// recordsOf returns the records of the event to change, and creates missing records.
func (h *history) recordsOf(id hook.EventID) *eventRecords {
	r := h.opened(id)
	if r == nil {
		id = hook.EventID(strings.Clone(string(id))) // may be a part of a long text
		r = &eventRecords{id: id}
		h.events[id] = slot{id: id, open: r}
	}
	return r
}

// keep extends the expiry time of the records to until.
func (h *history) keep(r *eventRecords, until time.Time) {
	if until.After(r.expiresAt) {
		h.forgetExpiry(r)
		r.expiresAt = until
		h.expiries.add(expiry{until, r.id})
	}
}

func (h *history) forgetExpiry(r *eventRecords) {
	if !r.expiresAt.IsZero() {
		h.expiries.remove(expiry{r.expiresAt, r.id})
	}
}

// inState returns the deliveries of the endpoint in the state, the oldest first.
func (h *history) inState(endpoint hook.EndpointID, state hook.State) *ordered[position] {
	at := stateKey{endpoint, state}
	if h.byState[at] == nil {
		h.byState[at] = newOrdered(comparePositions)
	}
	return h.byState[at]
}

// expire removes events with an expiry time not after now.
func (h *history) expire(now time.Time) {
	for first, ok := h.expiries.first(); ok && !first.at.After(now); first, ok = h.expiries.first() {
		r := h.records(first.event)
		for _, d := range r.deliveries {
			h.unlist(r, d)
		}
		h.unlistEvent(r)
		delete(h.events, first.event)
		h.expiries.remove(first)
	}
}

// compareDeliveries orders the deliveries of an event id by endpoint and generation.
func compareDeliveries(a, b hook.DeliveryRef) int {
	if c := strings.Compare(string(a.Endpoint), string(b.Endpoint)); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Generation, b.Generation); c != 0 {
		return c
	}
	if c := cmp.Compare(a.AcceptedAt, b.AcceptedAt); c != 0 {
		return c
	}
	return cmp.Compare(a.Shard, b.Shard)
}

// compareAttempts orders the attempts of an event id by delivery and number.
func compareAttempts(a, b hook.Attempt) int {
	return cmp.Or(compareDeliveries(a.Delivery, b.Delivery), cmp.Compare(a.Number, b.Number))
}
