package gate

import (
	"context"
	"sync"
	"time"

	"surehook.example/surehook/internal/conflict"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// maxSaveAttempts limits the tries of a write. After a conflict another writer has succeeded,
// so 20 tries tolerate 19 concurrent writers at one endpoint.
const maxSaveAttempts = 20

// Gate decides whether attempts may start now. All fields but Wait must be set. A Gate
// must not be copied.
type Gate struct {
	Store        Store
	CircuitQueue CircuitQueue
	Notifier     settle.Notifier
	Now          func() time.Time
	Places       int           // places of a tenant in the lane slot, at least 1
	Wait         conflict.Wait // between two tries of a write; nil: by the real clock

	held   heldCounts
	counts sync.Pool // of *stats.Counts, which have 6 kB: without the pool they would be a third of the garbage
}

// Admit returns a verdict for each due delivery. A fast endpoint without limits costs
// no request.
func (g *Gate) Admit(ctx context.Context, q *Query) (a Admission, err error) {
	err = conflict.Update(ctx, g.Wait, maxSaveAttempts, &q.Record, g.circuitOf(ctx, q.Tenant, q.ID), func(record Record) error {
		if record != q.Record {
			again := *q // the caller keeps its record
			again.Record = record
			q = &again
		}
		decided, err := g.decideAdmission(ctx, q)
		a = decided.withPlaces(q)
		return g.giveBack(ctx, decided, err)
	})
	return a, contentionOf(err, q.ID)
}

// decideAdmission decides by the circuit in the query. CodeConflict means that the stored
// circuit has changed since.
func (g *Gate) decideAdmission(ctx context.Context, q *Query) (Admission, error) {
	now := g.Now()
	switch {
	case q.Endpoint == nil:
		return sameVerdict(q, Verdict{Decision: Cancel, Reason: hook.ReasonDeleted}), nil
	case q.Endpoint.Status == hook.StatusPaused:
		return sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonPaused}), g.markWaiting(ctx, q.Record, now)
	case q.Endpoint.Status == hook.StatusDisabled:
		return sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonDisabled}), g.markWaiting(ctx, q.Record, now)
	case q.Due[0].Test:
		return g.admitTest(ctx, q, now)
	case q.Record.State != circuit.Closed:
		return g.admitProbe(ctx, q, now)
	case now.Before(q.Record.ThrottledUntil):
		return sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonThrottled}), g.markWaiting(ctx, q.Record, now)
	case q.Endpoint.Coalesce.On():
		return g.admitGroup(ctx, q, now)
	case q.slots(now) > 0 && q.Record.Backlog() && !q.claimed():
		return sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonInFlight}), nil
	case q.slots(now) > 0 && !q.Lane.Single():
		return g.move(ctx, q, now)
	}
	a, err := g.applyLimits(ctx, q, now)
	if err != nil || q.Record.Sheds(now) == 0 || q.Record.Width(q.Endpoint, now) > 0 {
		return a, err
	}
	return a, g.shed(ctx, q, a, now)
}

// shed parks the first attempts that the circuit does not admit.
func (g *Gate) shed(ctx context.Context, q *Query, a Admission, now time.Time) error {
	parked := false
	for i, due := range q.Due {
		if due.Attempt == 1 && !due.Slot && !q.Record.Admits(string(due.Delivery.Event), now) {
			a.Verdicts[i] = Verdict{Decision: Park, Reason: hook.ReasonFailureRate}
			parked = true
		}
	}
	if !parked {
		return nil
	}
	return g.markWaiting(ctx, q.Record, now)
}
