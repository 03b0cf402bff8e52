package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// maxOverdue bounds the overdue writes of one Settle, so that the writes fit into the time
// kept for settling.
const maxOverdue = 10

// heldCounts holds successes of busy endpoints between two writes. No timer writes the
// counts, because a frozen process runs no timers: each Settle also writes the overdue
// counts of other endpoints. A process that ends loses the counts: statistics, and no
// decision. The zero value is empty, and safe for concurrent use.
type heldCounts struct {
	mu  sync.Mutex
	all map[hook.EndpointID]*endpointCounts
	due time.Time // no value is overdue before, except values without counts; zero: unknown
}

type endpointCounts struct {
	stats.Held

	tenant hook.TenantID
	id     hook.EndpointID
}

// hold keeps the counts, or reports that the counts must be written now.
func (h *heldCounts) hold(id hook.EndpointID, add *stats.Counts, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	held, known := h.all[id]
	return known && held.Hold(add, now)
}

// moveTo moves the endpoint's counts to another value.
func (h *heldCounts) moveTo(to *stats.Counts, id hook.EndpointID) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if held, known := h.all[id]; known && held.OK > 0 {
		to.Add(&held.Counts)
		held.Counts = stats.Counts{}
	}
}

// takeEarlier removes and returns the endpoint's counts of an earlier hour; nil: there
// are none.
func (h *heldCounts) takeEarlier(id hook.EndpointID, now time.Time) *endpointCounts {
	h.mu.Lock()
	defer h.mu.Unlock()

	held, known := h.all[id]
	if !known || held.SameHour(now) {
		return nil
	}
	delete(h.all, id)
	return held
}

// dueBy moves the next look at all values to the time when a value written at the given
// time is overdue, unless the look is earlier anyway.
func (h *heldCounts) dueBy(writtenAt time.Time) {
	if at := writtenAt.Add(stats.HoldFor); h.due.IsZero() || at.Before(h.due) {
		h.due = at
	}
}

// takeOverdue removes the overdue values and returns at most maxOverdue values with counts.
// Most calls look at no value: each settlement of a batch calls takeOverdue.
func (h *heldCounts) takeOverdue(now time.Time) []*endpointCounts {
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

// wrote remembers a write and the successes in the window. Another goroutine may have
// written meanwhile, and may hold counts again: those stay.
func (h *heldCounts) wrote(q *Query, window circuit.Counts, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.all == nil {
		h.all = make(map[hook.EndpointID]*endpointCounts)
	}
	held, known := h.all[q.ID]
	if !known {
		held = &endpointCounts{tenant: q.Tenant, id: q.ID}
		h.all[q.ID] = held
	}
	if held.OK > 0 {
		return
	}
	held.WrittenAt, held.Window = now, window.OK
	h.dueBy(now)
}

// holdsBack holds the outcomes back when the endpoint is busy and the outcomes change
// nothing in the circuit.
func (g *Gate) holdsBack(a Admission, o outcomes, now time.Time) bool {
	before := a.query.Record
	unchanged := before.afterOutcomes(a, o, circuit.Counts{}, now) == before
	return unchanged && g.held.hold(a.query.ID, o.counts, now)
}

// count writes the counts together with the held counts of the endpoint, and returns
// the window. So a failure never meets a window without the successes before the
// failure. A failed write loses the held counts.
func (g *Gate) count(ctx context.Context, q *Query, add *stats.Counts, now time.Time) (circuit.Counts, error) {
	g.held.moveTo(add, q.ID)
	window, err := g.Store.Count(ctx, q.Tenant, q.ID, add, now)
	if err != nil {
		return circuit.Counts{}, fmt.Errorf("count attempts of %s: %w", q.ID, err)
	}
	g.held.wrote(q, window, now)
	return window, nil
}

// writeEarlier writes the endpoint's counts of an earlier hour to that hour. The next
// count then reads them as a part of the window.
func (g *Gate) writeEarlier(ctx context.Context, id hook.EndpointID, now time.Time) error {
	if held := g.held.takeEarlier(id, now); held != nil && held.OK > 0 {
		return g.countOverdue(ctx, held)
	}
	return nil
}

// writeOverdue writes the overdue counts of all endpoints.
func (g *Gate) writeOverdue(ctx context.Context, now time.Time) error {
	var errs []error
	for _, held := range g.held.takeOverdue(now) {
		errs = append(errs, g.countOverdue(ctx, held))
	}
	return errors.Join(errs...)
}

// countOverdue writes held counts under the time of the last success. The hour has counts: the
// process wrote some before it held these. If not, the tenant was erased meanwhile, perhaps
// while the process was frozen, and must not get a record again.
func (g *Gate) countOverdue(ctx context.Context, held *endpointCounts) error {
	if err := g.Store.CountMore(ctx, held.tenant, held.id, &held.Counts, held.At); err != nil {
		return fmt.Errorf("count %d held successes of %s: %w", held.OK, held.id, err)
	}
	return nil
}
