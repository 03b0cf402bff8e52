package breaker

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

const (
	// probeChoice is the number of parked deliveries among which the breaker chooses a probe.
	probeChoice = 50
	// maxHalvings limits how often the breaker halves the time to look for deliveries younger
	// than the last probe's: 10 halvings of an hour are 3.5 s.
	maxHalvings = 10
)

// mustAwaitProbe reports whether it is too early for a probe: the circuit is open before the end of
// its cooldown, or the endpoint of an open or half-open circuit is throttled.
func (r *reconciliation) mustAwaitProbe() bool {
	throttled := r.record.State == circuit.HalfOpen && r.now.Before(r.record.ThrottledUntil)
	return throttled || r.record.State == circuit.Open && r.now.Before(r.record.NextProbe())
}

// sendProbe sends the task of a parked delivery, marked as the probe: while deliveries are
// parked, the gate gives the lease to no other task. The delivery stays parked until the task
// arrives. If the task is lost, or the process dies before it is sent, Tick sends another one.
func (r *reconciliation) sendProbe(ctx context.Context, next admission.Record) (step, error) {
	parked, err := r.probes(ctx)
	if err != nil || len(parked) == 0 {
		return step{next: r.record}, err // Tick checks the endpoint again
	}
	probe := admission.Likeliest(parked, r.record.ProbeType)
	next.ProbeType, next.ProbedFrom, next.ProbeSentAt = probe.EventType, probe.CreatedAt, r.Now() // the reads take time too
	next.AttendAt = next.ProbeSentAt.Add(admission.AttendAfter)
	return step{decision: decideProbe, next: next, act: func(ctx context.Context) error {
		task := probe.NextTask()
		task.Probe = true
		if errs := r.Queue.Send(ctx, hook.QueueRetry, []hook.Task{task}, 0); errs != nil {
			return errs[0]
		}
		return nil
	}}, nil
}

// probes returns the parked deliveries among which a probe is chosen. These are the oldest, if
// there are fewer than probeChoice or no probe was sent yet. Otherwise they are deliveries
// from halfway between the last probe's delivery and now: each failed probe leads to younger
// deliveries, until there are none, and then to the oldest again. So a burst of deliveries that
// always fail does not hide the ones behind it.
func (r *reconciliation) probes(ctx context.Context) ([]hook.Delivery, error) {
	oldest, live, err := r.withoutSlot(ctx, probeChoice)
	if err != nil || len(oldest) < probeChoice || r.record.ProbedFrom.IsZero() {
		return oldest, err
	}
	span := r.now.Sub(r.record.ProbedFrom)
	for range maxHalvings {
		span /= 2
		younger, err := r.listParked(ctx, live, r.record.ProbedFrom.Add(max(span, time.Millisecond)), probeChoice)
		if err != nil || len(younger) > 0 {
			return younger, err
		}
	}
	return oldest, nil
}

// withoutSlot returns the oldest parked deliveries without a slot, and the endpoint's limits without
// ended leases.
func (r *reconciliation) withoutSlot(ctx context.Context, limit int) ([]hook.Delivery, admission.Limits, error) {
	live, err := r.Store.Limits(ctx, r.check.Endpoint)
	if err != nil {
		return nil, live, err
	}
	live = live.Live(r.now)
	oldest, err := r.listParked(ctx, live, time.Time{}, limit)
	return oldest, live, err
}
