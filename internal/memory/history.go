package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"surehook/internal/hook"
)

// history is events with their deliveries and attempts, and the orders in which
// they are asked for. What it holds is never changed, only replaced.
type history struct {
	stories    map[hook.EventID]*story
	deliveries map[hook.DeliveryID]*hook.Delivery
	shelves    map[shelf]*ordered[*hook.Delivery] // by age
	removals   *ordered[removal]
}

// story is all that is recorded about one event.
type story struct {
	event      *hook.Event      // nil: only its deliveries are recorded
	deliveries []*hook.Delivery // by endpoint and generation
	attempts   []hook.Attempt   // by endpoint, generation and number
	expiresAt  time.Time        // the latest of all; zero: never
}

// shelf is where the deliveries of an endpoint in one state are.
type shelf struct {
	endpoint hook.EndpointID
	state    hook.State
}

// removal is when a story is removed.
type removal struct {
	at    time.Time
	event hook.EventID
}

func newHistory() history {
	return history{
		stories:    make(map[hook.EventID]*story),
		deliveries: make(map[hook.DeliveryID]*hook.Delivery),
		shelves:    make(map[shelf]*ordered[*hook.Delivery]),
		removals: newOrdered(func(a, b removal) int {
			return cmp.Or(a.at.Compare(b.at), strings.Compare(string(a.event), string(b.event)))
		}),
	}
}

func (h *history) event(id hook.EventID) (hook.Event, bool) {
	if s := h.stories[id]; s != nil && s.event != nil {
		return *s.event, true
	}
	return hook.Event{}, false
}

func (h *history) putEvent(e hook.Event) {
	h.story(e.ID, e.ExpiresAt).event = &e
}

// putDelivery keeps the newest record of a delivery.
func (h *history) putDelivery(d *hook.Delivery) {
	if old := h.deliveries[d.ID]; old != nil {
		h.shelf(old.ID.Endpoint, old.State).remove(old)
	}
	h.deliveries[d.ID] = d
	h.shelf(d.ID.Endpoint, d.State).add(d)

	s := h.story(d.ID.Event, d.ExpiresAt)
	i, found := slices.BinarySearchFunc(s.deliveries, d.ID, func(d *hook.Delivery, id hook.DeliveryID) int {
		return compareDeliveries(d.ID, id)
	})
	if found {
		s.deliveries[i] = d
		return
	}
	s.deliveries = slices.Insert(s.deliveries, i, d)
}

func (h *history) putAttempt(a hook.Attempt) {
	s := h.story(a.Delivery.Event, a.ExpiresAt)
	i, found := slices.BinarySearchFunc(s.attempts, a, func(a, b hook.Attempt) int {
		return cmp.Or(compareDeliveries(a.Delivery, b.Delivery), cmp.Compare(a.Number, b.Number))
	})
	if found {
		s.attempts[i] = a
		return
	}
	s.attempts = slices.Insert(s.attempts, i, a)
}

// story returns what is recorded about the event, making room for it at first,
// to be kept until the time given at least.
func (h *history) story(id hook.EventID, until time.Time) *story {
	s := h.stories[id]
	if s == nil {
		s = new(story)
		h.stories[id] = s
	}
	if until.After(s.expiresAt) {
		h.removals.remove(removal{s.expiresAt, id})
		s.expiresAt = until
		h.removals.add(removal{until, id})
	}
	return s
}

func (h *history) shelf(endpoint hook.EndpointID, state hook.State) *ordered[*hook.Delivery] {
	at := shelf{endpoint, state}
	if h.shelves[at] == nil {
		h.shelves[at] = newOrdered(compareAges)
	}
	return h.shelves[at]
}

// expire removes what was to be kept until now.
func (h *history) expire(now time.Time) {
	for r, ok := h.removals.first(); ok && !r.at.After(now); r, ok = h.removals.first() {
		for _, d := range h.stories[r.event].deliveries {
			h.shelf(d.ID.Endpoint, d.State).remove(d)
			delete(h.deliveries, d.ID)
		}
		delete(h.stories, r.event)
		h.removals.remove(r)
	}
}

// compareDeliveries orders by endpoint and generation.
func compareDeliveries(a, b hook.DeliveryID) int {
	if c := strings.Compare(string(a.Endpoint), string(b.Endpoint)); c != 0 {
		return c
	}
	return cmp.Compare(a.Generation, b.Generation)
}

// compareAges orders the deliveries of an endpoint, the oldest first.
func compareAges(a, b *hook.Delivery) int {
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.ID.Event), string(b.ID.Event)); c != 0 {
		return c
	}
	return cmp.Compare(a.ID.Generation, b.ID.Generation)
}
