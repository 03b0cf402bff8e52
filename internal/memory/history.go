package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"surehook/internal/hook"
)

// history holds events with deliveries and attempts, and their orders. Stored
// records are replaced, never modified.
type history struct {
	events     map[hook.EventID]*eventRecords
	byState    map[stateKey]*ordered[*hook.Delivery]        // by age
	accepted   map[hook.EndpointID]*ordered[*hook.Delivery] // by acceptance of the event
	untargeted map[hook.TenantID]*ordered[*hook.Event]      // events without a target, by acceptance
	retrying   *ordered[*hook.Delivery]                     // by OverdueFrom
	expiries   *ordered[expiry]
}

// eventRecords holds all records of one event.
type eventRecords struct {
	event      hook.Event       // zero: only deliveries are stored
	deliveries []*hook.Delivery // by endpoint and generation
	attempts   []hook.Attempt   // by endpoint, generation and number
	expiresAt  time.Time        // the latest of all records; zero: never

	// The room for the only target and the only delivery of most events: a collection of
	// garbage takes the longer, the more objects are stored.
	onlyTarget   [1]hook.Target
	onlyDelivery [1]*hook.Delivery
}

func (r *eventRecords) hasEvent() bool { return r.event.ID != "" }

// put replaces the event.
func (r *eventRecords) put(e hook.Event) {
	if len(e.Targets) == 1 {
		e.Targets = append(r.onlyTarget[:0], e.Targets...)
	}
	r.event = e
}

// insert stores a further delivery.
func (r *eventRecords) insert(i int, d *hook.Delivery) {
	r.deliveries = slices.Insert(r.deliveries, i, d)
	if len(r.deliveries) > 1 {
		r.onlyDelivery[0] = nil // the list has left the room
	}
}

// search returns the place of the delivery's record.
func (r *eventRecords) search(ref hook.DeliveryRef) (i int, found bool) {
	return slices.BinarySearchFunc(r.deliveries, ref, func(d *hook.Delivery, ref hook.DeliveryRef) int {
		return compareDeliveries(d.Ref(), ref)
	})
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
		events:     make(map[hook.EventID]*eventRecords),
		byState:    make(map[stateKey]*ordered[*hook.Delivery]),
		accepted:   make(map[hook.EndpointID]*ordered[*hook.Delivery]),
		untargeted: make(map[hook.TenantID]*ordered[*hook.Event]),
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

func (h *history) event(id hook.EventID) (hook.Event, bool) {
	if r := h.events[id]; r != nil && r.hasEvent() {
		return r.event, true
	}
	return hook.Event{}, false
}

// delivery returns the record; nil for no record.
func (h *history) delivery(ref hook.DeliveryRef) *hook.Delivery {
	if r := h.events[ref.Event]; r != nil {
		if i, found := r.search(ref); found {
			return r.deliveries[i]
		}
	}
	return nil
}

func (h *history) putEvent(e hook.Event) {
	h.unlistEvent(e.ID)
	r := h.recordsOf(e.ID, e.ExpiresAt)
	r.put(e)
	if len(e.Targets) == 0 {
		h.untargetedOf(e.Tenant).add(&r.event)
	}
}

// unlistEvent removes the stored event from the list of events without a target, if the
// event is there.
func (h *history) unlistEvent(id hook.EventID) {
	if e, ok := h.event(id); ok {
		h.untargetedOf(e.Tenant).remove(&e)
	}
}

// untargetedOf returns the tenant's events without a target, the oldest first.
func (h *history) untargetedOf(tenant hook.TenantID) *ordered[*hook.Event] {
	if h.untargeted[tenant] == nil {
		h.untargeted[tenant] = newOrdered(func(a, b *hook.Event) int {
			return cmp.Or(a.AcceptedAt.Compare(b.AcceptedAt), strings.Compare(string(a.ID), string(b.ID)))
		})
	}
	return h.untargeted[tenant]
}

// acceptedBy returns the deliveries of the endpoint by acceptance, the oldest first.
func (h *history) acceptedBy(endpoint hook.EndpointID) *ordered[*hook.Delivery] {
	if h.accepted[endpoint] == nil {
		h.accepted[endpoint] = newOrdered(func(a, b *hook.Delivery) int {
			if c := cmp.Compare(a.AcceptedAt, b.AcceptedAt); c != 0 {
				return c
			}
			if c := strings.Compare(string(a.ID.Event), string(b.ID.Event)); c != 0 {
				return c
			}
			return cmp.Or(cmp.Compare(a.ID.Generation, b.ID.Generation), cmp.Compare(a.Shard, b.Shard))
		})
	}
	return h.accepted[endpoint]
}

// putDelivery replaces the record of a delivery.
func (h *history) putDelivery(d *hook.Delivery) {
	r := h.recordsOf(d.ID.Event, d.ExpiresAt)
	i, found := r.search(d.Ref())
	if found {
		h.unlist(r.deliveries[i])
		r.deliveries[i] = d
	} else {
		r.insert(i, d)
	}
	h.inState(d.ID.Endpoint, d.State).add(d)
	h.acceptedBy(d.ID.Endpoint).add(d)
	if d.State == hook.StateRetrying {
		h.retrying.add(d)
	}
}

func (h *history) putAttempt(a hook.Attempt) {
	r := h.recordsOf(a.Delivery.Event, a.ExpiresAt)
	i, found := slices.BinarySearchFunc(r.attempts, a, compareAttempts)
	if found {
		r.attempts[i] = a
		return
	}
	r.attempts = slices.Insert(r.attempts, i, a)
}

// unlist removes the delivery from all lists.
func (h *history) unlist(d *hook.Delivery) {
	h.inState(d.ID.Endpoint, d.State).remove(d)
	h.acceptedBy(d.ID.Endpoint).remove(d)
	if d.State == hook.StateRetrying {
		h.retrying.remove(d)
	}
}

// recordsOf returns the records of the event, creates missing records, and extends
// their expiry time to until.
func (h *history) recordsOf(id hook.EventID, until time.Time) *eventRecords {
	r := h.events[id]
	if r == nil {
		r = new(eventRecords)
		r.deliveries = r.onlyDelivery[:0]
		h.events[id] = r
	}
	if until.After(r.expiresAt) {
		h.expiries.remove(expiry{r.expiresAt, id})
		r.expiresAt = until
		h.expiries.add(expiry{until, id})
	}
	return r
}

// inState returns the deliveries of the endpoint in the state, the oldest first.
func (h *history) inState(endpoint hook.EndpointID, state hook.State) *ordered[*hook.Delivery] {
	at := stateKey{endpoint, state}
	if h.byState[at] == nil {
		h.byState[at] = newOrdered(compareAges)
	}
	return h.byState[at]
}

// expire removes events with an expiry time not after now.
func (h *history) expire(now time.Time) {
	for r, ok := h.expiries.first(); ok && !r.at.After(now); r, ok = h.expiries.first() {
		for _, d := range h.events[r.event].deliveries {
			h.unlist(d)
		}
		h.unlistEvent(r.event)
		delete(h.events, r.event)
		h.expiries.remove(r)
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

// compareAges orders the deliveries of an endpoint by age, the oldest first.
func compareAges(a, b *hook.Delivery) int {
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.ID.Event), string(b.ID.Event)); c != 0 {
		return c
	}
	return cmp.Compare(a.ID.Generation, b.ID.Generation)
}
