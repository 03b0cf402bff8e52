package breaker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

// mustAwaitProbe reports whether it is too early for a probe and nothing is under way: the
// circuit is open before the end of its cooldown, or the endpoint of an open or half-open
// circuit is throttled.
func (r *reconciliation) mustAwaitProbe() bool {
	throttled := r.record.State == circuit.HalfOpen && r.now.Before(r.record.ThrottledUntil)
	return throttled || r.record.State == circuit.Open && r.now.Before(r.record.NextProbe())
}

// awaitProbe schedules a check for the time of the next probe. SQS delays a message by at most
// 15 minutes, so a longer time takes several messages. Each check also ends expired deliveries.
func (r *reconciliation) awaitProbe(ctx context.Context, next admission.Record) error {
	r.decision = decideAwait
	next.AttendAt = r.record.NextProbe()
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	return r.checkAgain(ctx, 0, next.AttendAt.Sub(r.now))
}

// sendProbe sends the token of a parked delivery, marked as the probe: while deliveries are
// parked, the gate gives the lease to no other token. The delivery stays parked until the token
// arrives. If the token is lost, Tick sends another one.
func (r *reconciliation) sendProbe(ctx context.Context, next admission.Record) error {
	// Only a check that sent a probe sets AttendAt to within the next minute: the gate sets it
	// to the time of the next probe, and the check of a paused or disabled endpoint sets it
	// farther ahead.
	now := r.Now() // not r.now: the reads may have taken most of the invocation
	if left := r.record.AttendAt.Sub(now); left > 0 && left <= admission.AttendAfter {
		r.decision = decideHeld
		return nil
	}
	parked, err := r.probes(ctx, now)
	if err != nil || len(parked) == 0 {
		return err // Tick checks the endpoint again
	}
	probe := likeliest(parked, r.record.ProbeType)
	r.decision = decideProbe
	next.AttendAt, next.ProbeType, next.ProbedFrom = r.Now().Add(admission.AttendAfter), probe.EventType, probe.CreatedAt // the reads take time too
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	token := probe.NextToken()
	token.Probe = true
	if errs := r.Queue.Send(ctx, hook.LaneRetry, []hook.Token{token}, 0); errs != nil {
		return fmt.Errorf("send probe %s: %w", probe.ID, errs[0])
	}
	return nil
}

// probes returns the parked deliveries among which a probe is chosen. These are the oldest, if
// there are no more than probeChoice or no probe was sent yet. Otherwise they are deliveries
// from halfway between the last probe's delivery and now: each failed probe leads to younger
// deliveries, until there are none, and then to the oldest again. So a burst of deliveries that
// always fail does not hide the ones behind it.
func (r *reconciliation) probes(ctx context.Context, now time.Time) ([]hook.Delivery, error) {
	live, err := r.liveLimits(ctx, now)
	if err != nil {
		return nil, err
	}
	oldest, err := r.withoutSlot(ctx, live, time.Time{}, probeChoice)
	if err != nil || len(oldest) < probeChoice || r.record.ProbedFrom.IsZero() {
		return oldest, err
	}
	span := now.Sub(r.record.ProbedFrom)
	for range maxHalvings {
		span /= 2
		younger, err := r.withoutSlot(ctx, live, r.record.ProbedFrom.Add(max(span, time.Millisecond)), probeChoice)
		if err != nil || len(younger) > 0 {
			return younger, err
		}
	}
	return oldest, nil
}

// liveLimits returns the endpoint's limits without ended leases.
func (r *reconciliation) liveLimits(ctx context.Context, now time.Time) (admission.Limits, error) {
	limits, err := r.Store.Limits(ctx, r.check.Endpoint)
	if err != nil {
		return limits, fmt.Errorf("read limits: %w", err)
	}
	return limits.Live(now), nil
}

// withoutSlot returns parked deliveries created at or after since that have none of the leases,
// the oldest first. If a delivery has a lease, its token is on its way or its attempt is in
// flight.
func (r *reconciliation) withoutSlot(ctx context.Context, live admission.Limits, since time.Time, limit int) ([]hook.Delivery, error) {
	parked, err := r.listParked(ctx, since, limit+len(live.Leases))
	if err != nil {
		return nil, err
	}
	parked = live.Free(parked)
	return parked[:min(limit, len(parked))], nil
}

// likeliest returns the delivery with the best prospects as a probe: one of another event type
// than the last probe, then with the fewest attempts, then the oldest. Deliveries that always
// fail, or an event type that does, must not hold the circuit open.
func likeliest(parked []hook.Delivery, last string) hook.Delivery {
	return slices.MinFunc(parked, func(a, b hook.Delivery) int {
		repeats := func(d hook.Delivery) int {
			if d.EventType == last {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(repeats(a), repeats(b)), cmp.Compare(a.Attempts, b.Attempts), a.CreatedAt.Compare(b.CreatedAt))
	})
}
