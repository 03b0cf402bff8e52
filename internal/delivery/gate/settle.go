package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// Result is what came of one attempt that was admitted.
type Result struct {
	stats.Attempt

	RetryAfter time.Duration // what a throttling endpoint asked for
}

// outcomes sums up the results of a batch, in the order in which they came.
type outcomes struct {
	circuit.Results

	counts     stats.Counts
	throttled  bool
	retryAfter time.Duration
}

// count sorts a result: transient failures count against the endpoint;
// anything else that came back proves that it is alive, being throttled too.
func (t *outcomes) count(r Result) {
	t.counts.Count(r.Attempt)
	if r.Class.Result() == hook.ResultTransient && r.Class != hook.ClassThrottled {
		t.Failed++
		t.Trailing++
		t.counts.Failed++
		return
	}
	t.Alive = true
	t.Trailing = 0
	t.counts.OK++
	if r.Class == hook.ClassThrottled {
		t.throttled = true
		t.retryAfter = max(t.retryAfter, r.RetryAfter)
	}
}

// Settle takes back what Admit gave, and tells the circuit what came of the
// attempts, in the order in which they ended. A process that dies before it
// loses no delivery: places and leases run out by themselves, and what was not
// counted is seen again at the next attempt.
func (g *Gate) Settle(ctx context.Context, a Admission, results []Result) error {
	err := g.releaseSlots(ctx, a)
	if len(results) == 0 {
		return err
	}
	var t outcomes
	for _, r := range results {
		t.count(r)
	}
	return errors.Join(err, g.recordOutcomes(ctx, a, t))
}

func (g *Gate) releaseSlots(ctx context.Context, a Admission) error {
	if len(a.holders) == 0 {
		return nil
	}
	return g.changeLimits(ctx, a.query.ID, func(limits Limits) Limits { return limits.Release(a.holders) })
}

// recordOutcomes counts the results and moves the circuit.
func (g *Gate) recordOutcomes(ctx context.Context, a Admission, t outcomes) error {
	now := g.Now()
	window, err := g.Store.Count(ctx, a.query.Tenant, a.query.ID, t.counts, now)
	if err != nil {
		return fmt.Errorf("count attempts of %s: %w", a.query.ID, err)
	}
	before := a.query.Record
	for range maxSaveAttempts {
		after := before.after(a, t, window, now)
		if after == before {
			return nil
		}
		err := g.Store.SaveCircuit(ctx, after)
		if err == nil {
			return g.announceTransition(ctx, before, after, now)
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return fmt.Errorf("save circuit of %s: %w", a.query.ID, err)
		}
		if before, err = g.Store.Circuit(ctx, a.query.Tenant, a.query.ID); err != nil {
			return fmt.Errorf("read circuit of %s: %w", a.query.ID, err)
		}
	}
	return errContention(a.query.ID)
}

func (r Record) after(a Admission, t outcomes, window circuit.Counts, now time.Time) Record {
	settings := circuit.Settings{CircuitSettings: a.query.Endpoint.Circuit.WithDefaults(), Slow: r.Review.Fragile}
	before := r.Circuit
	if a.probe != "" {
		r.Circuit = r.Probed(a.probe, t.Alive, settings, now)
	} else {
		r.Circuit = r.Settled(t.Results, window, a.query.Record.Generation, settings, now)
	}
	if t.throttled {
		wait := t.retryAfter
		if wait == 0 {
			wait = defaultThrottle
		}
		if until := now.Add(wait).Truncate(time.Millisecond); until.After(r.ThrottledUntil) {
			r.ThrottledUntil = until
		}
	}
	switch {
	case r.State == before.State && r.Generation == before.Generation:
		return r
	case r.State == circuit.Closed:
		return r.Release(now)
	}
	return r.planAttention(now)
}

// announceTransition asks the breaker to come when the next probe is due, or to release
// at once. If that is lost, the tick finds the record by its AttendAt.
func (g *Gate) announceTransition(ctx context.Context, before, after Record, now time.Time) error {
	look := hook.CircuitCheck{Tenant: after.Tenant, Endpoint: after.Endpoint, Wave: after.Wave}
	switch {
	case after.State == circuit.Open && !after.ProbeAt.Equal(before.ProbeAt):
		if err := g.CircuitQueue.Enqueue(ctx, look, after.ProbeAt.Sub(now)); err != nil {
			return fmt.Errorf("ask for a probe of %s: %w", after.Endpoint, err)
		}
		if before.State == circuit.Closed {
			return g.notifyTransition(ctx, hook.NotificationOpened, "deliveries to it keep failing: they are parked until a probe comes through", after, now)
		}
	case after.State == circuit.Closed && before.State != circuit.Closed:
		if after.Waiting {
			if err := g.CircuitQueue.Enqueue(ctx, look, 0); err != nil {
				return fmt.Errorf("ask for a release of %s: %w", after.Endpoint, err)
			}
		}
		return g.notifyTransition(ctx, hook.NotificationClosed, "a probe came through: what is parked is released", after, now)
	}
	return nil
}

// notifyTransition says that the circuit opened or closed. If the process dies before, it is
// not said; the circuit itself shows it.
func (g *Gate) notifyTransition(ctx context.Context, kind, why string, r Record, now time.Time) error {
	n := hook.Notification{
		Type: kind, Tenant: r.Tenant, Endpoint: r.Endpoint, At: now, Reason: why,
		Figures: map[string]float64{"failures": float64(r.Failures), "cooldown_s": r.Cooldown.Seconds()},
		Key:     fmt.Sprintf("%s/%s/%d", kind, r.Endpoint, r.Generation),
	}
	if err := g.Notifier.Notify(ctx, n); err != nil {
		return fmt.Errorf("tell %s of %s: %w", kind, r.Endpoint, err)
	}
	return nil
}
