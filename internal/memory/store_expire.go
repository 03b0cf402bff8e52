package memory

import (
	"maps"
	"slices"
	"time"

	"surehook/internal/admin/erasure"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// Expire removes expired records, like the TTL of a table:
//   - an event with its deliveries and attempts, after the latest expiry time of
//     the event, the deliveries and the attempts;
//   - jobs with their outcome counts;
//   - records of changes, jobs of erasure, and portal links with their keys;
//   - counts outside every window.
//
// Records without expiry time stay. The cost depends on the number of removed
// records, jobs and minutes, so simulations call Expire rarely.
func (s *Store) Expire(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.expire(now)
	for _, t := range s.tenants {
		s.expireJobs(t, now)
	}
	for _, all := range s.changes {
		maps.DeleteFunc(all, func(_ string, r hook.AuditRecord) bool { return !r.ExpiresAt.After(now) })
	}
	maps.DeleteFunc(s.erasures, func(_ hook.ErasureID, e erasure.Erasure) bool { return !e.ExpiresAt.After(now) })
	for _, l := range s.links {
		if !l.ExpiresAt.After(now) {
			s.removeLink(l)
		}
	}
	for _, all := range s.counts {
		for start := range all {
			if now.Sub(start) > 2*circuit.Window {
				delete(all, start)
			}
		}
	}
	for _, hours := range s.hours {
		for start := range hours {
			if now.Sub(start) > hoursKept {
				delete(hours, start)
			}
		}
	}
	for start := range s.active {
		if now.Sub(start) > hoursKept {
			delete(s.active, start)
		}
	}
}

// hoursKept is the time to keep the counts of an hour from its start.
const hoursKept = time.Hour + stats.Kept

// RemoveEvent removes the event's record alone: the TTL of a table removes the records
// of an event in any order.
func (s *Store) RemoveEvent(id hook.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.removeEvent(id)
}

func (h *history) removeEvent(id hook.EventID) {
	if r := h.opened(id); r != nil {
		h.unlistEvent(r)
		r.event = hook.Event{}
		h.drop(r)
	}
}

// RemoveDelivery removes the delivery's record alone.
func (s *Store) RemoveDelivery(ref hook.DeliveryRef) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.removeDelivery(ref)
}

func (h *history) removeDelivery(ref hook.DeliveryRef) {
	r := h.opened(ref.Event)
	if r == nil {
		return
	}
	if i, found := r.search(ref); found {
		h.unlist(r, r.deliveries[i])
		r.deliveries = slices.Delete(r.deliveries, i, i+1)
		h.drop(r)
	}
}

// drop forgets an event without records.
func (h *history) drop(r *eventRecords) {
	if !r.hasEvent() && len(r.deliveries) == 0 && len(r.attempts) == 0 {
		h.forgetExpiry(r)
		delete(h.events, r.id)
	}
}

func (s *Store) expireJobs(t *tenant, now time.Time) {
	var expired []*replay.Job
	for j := range t.jobs.all() {
		if !j.ExpiresAt.IsZero() && !j.ExpiresAt.After(now) {
			expired = append(expired, j)
		}
	}
	for _, j := range expired {
		t.jobs.remove(j)
		delete(t.open, j.ID)
		delete(s.outcomes, j.ID)
	}
}

// Size returns the numbers of events, deliveries and attempts.
func (s *Store) Size() (events, deliveries, attempts int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for id := range s.events {
		records := s.records(id)
		if records.hasEvent() {
			events++
		}
		deliveries += len(records.deliveries)
		attempts += len(records.attempts)
	}
	return events, deliveries, attempts
}
