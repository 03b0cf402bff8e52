package admit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// maxOverdue limits the overdue counts that one Learn writes, so that they fit into the time
// reserved for settling.
const maxOverdue = 10

// unwrittenCounts keeps successes of busy endpoints between two writes. A timer could not write
// them, because a frozen process runs no timers, so each Learn also writes the overdue counts
// of other endpoints. If a process ends, its held counts are lost: the statistics lack them,
// but no decision depends on them. The zero value is empty and safe for concurrent use.
type unwrittenCounts struct {
	mu  sync.Mutex
	all map[hook.EndpointID]*endpointCounts
	due time.Time // before this time no entry with counts is overdue; zero: unknown
}

type endpointCounts struct {
	stats.Unwritten

	tenant hook.TenantID
	id     hook.EndpointID
}

// hold keeps the counts and returns true, or returns false if they must be written now.
func (h *unwrittenCounts) hold(id hook.EndpointID, add *stats.Counts, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	held, known := h.all[id]
	return known && held.Hold(add, now)
}

// moveTo puts the endpoint's held counts before those of another value, and clears them.
func (h *unwrittenCounts) moveTo(to *stats.Counts, id hook.EndpointID) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if held, known := h.all[id]; known && held.OK > 0 {
		held.Add(to)
		*to, held.Counts = held.Counts, stats.Counts{}
	}
}

// takeEarlier removes and returns the endpoint's counts if they are of an earlier hour; nil
// otherwise.
func (h *unwrittenCounts) takeEarlier(id hook.EndpointID, now time.Time) *endpointCounts {
	h.mu.Lock()
	defer h.mu.Unlock()

	held, known := h.all[id]
	if !known || held.SameHour(now) {
		return nil
	}
	delete(h.all, id)
	return held
}

// dueBy schedules the next look at all entries for the time when an entry written at the given
// time is overdue, unless a look is due earlier.
func (h *unwrittenCounts) dueBy(writtenAt time.Time) {
	if at := writtenAt.Add(stats.HoldFor); h.due.IsZero() || at.Before(h.due) {
		h.due = at
	}
}

// takeOverdue removes the overdue entries, and returns up to maxOverdue of those with counts.
// It is called for each batch, and usually returns without looking at any entry.
func (h *unwrittenCounts) takeOverdue(now time.Time) []*endpointCounts {
	h.mu.Lock()
	defer h.mu.Unlock()

	if now.Before(h.due) {
		return nil
	}
	h.due = time.Time{}
	var overdue []*endpointCounts
	for id, held := range h.all {
		if !held.Overdue(now) {
			h.dueBy(held.WrittenAt)
			continue
		}
		if held.OK > 0 {
			if len(overdue) == maxOverdue {
				h.dueBy(held.WrittenAt)
				continue
			}
			overdue = append(overdue, held)
		}
		delete(h.all, id)
	}
	return overdue
}

// wrote notes a write and the successes in the window. If another goroutine has written
// meanwhile and holds counts again, they stay.
func (h *unwrittenCounts) wrote(r admission.Record, window circuit.Counts, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.all == nil {
		h.all = make(map[hook.EndpointID]*endpointCounts)
	}
	held, known := h.all[r.Endpoint]
	if !known {
		held = &endpointCounts{tenant: r.Tenant, id: r.Endpoint}
		h.all[r.Endpoint] = held
	}
	if held.OK > 0 {
		return
	}
	held.WrittenAt, held.Window = now, window.OK
	h.dueBy(now)
}

// holdsBack holds the outcomes back and returns true, if the endpoint is busy and the outcomes
// do not change the circuit, whatever its window has: successes of a closed circuit that neither counts
// failures nor is strained.
func (g *Gate) holdsBack(a admission.Admission, o admission.Outcomes, now time.Time) bool {
	before := a.Next.Record
	unchanged := before.After(a, o, circuit.Counts{}, now) == before
	return unchanged && g.unwritten.hold(before.Endpoint, o.Counts, now)
}

// count writes the counts together with the held counts of the endpoint, and returns the
// window. So when a failure is judged, the window contains the successes before it. If the
// write fails, the held counts are lost.
func (g *Gate) count(ctx context.Context, r admission.Record, add *stats.Counts, now time.Time) (circuit.Counts, error) {
	g.unwritten.moveTo(add, r.Endpoint)
	window, err := g.Store.Count(ctx, r.Tenant, r.Endpoint, add, now)
	if err != nil {
		return circuit.Counts{}, fmt.Errorf("count attempts of %s: %w", r.Endpoint, err)
	}
	g.unwritten.wrote(r, window, now)
	return window, nil
}

// writeEarlier writes the endpoint's held counts of an earlier hour into that hour, so that the
// next count finds them in the window.
func (g *Gate) writeEarlier(ctx context.Context, id hook.EndpointID, now time.Time) error {
	if held := g.unwritten.takeEarlier(id, now); held != nil && held.OK > 0 {
		return g.countOverdue(ctx, held)
	}
	return nil
}

// writeOverdue writes the overdue counts of all endpoints.
func (g *Gate) writeOverdue(ctx context.Context, now time.Time) error {
	var errs []error
	for _, held := range g.unwritten.takeOverdue(now) {
		errs = append(errs, g.countOverdue(ctx, held))
	}
	return errors.Join(errs...)
}

// countOverdue writes held counts under the time of the last success. That hour must already
// have counts, because the process wrote some before it held these. If it has none, the tenant
// was erased meanwhile, perhaps while the process was frozen, and must not get a new record.
func (g *Gate) countOverdue(ctx context.Context, held *endpointCounts) error {
	if err := g.Store.CountMore(ctx, held.tenant, held.id, &held.Counts, held.At); err != nil {
		return fmt.Errorf("count %d held successes of %s: %w", held.OK, held.id, err)
	}
	return nil
}
