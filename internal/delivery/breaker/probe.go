package breaker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/isolation"
)

// mustAwaitProbe reports whether the next probe needs another check: the circuit is
// open before the end of the cooldown, or not closed before the end of the throttle.
func (r *reconciliation) mustAwaitProbe() bool {
	throttled := r.record.State == circuit.HalfOpen && r.now.Before(r.record.ThrottledUntil)
	return throttled || r.record.State == circuit.Open && r.now.Before(r.record.NextProbe())
}

// awaitProbe schedules a check for the time of the next probe. SQS delays a message
// by at most 15 minutes, so a longer time takes several messages. Each of them also
// ends the expired deliveries.
func (r *reconciliation) awaitProbe(ctx context.Context, next gate.Record) error {
	r.decision = decideAwait
	next.AttendAt = r.record.NextProbe()
	if err := r.saveCircuit(ctx, next); err != nil {
		return err
	}
	return r.checkAgain(ctx, 0, next.AttendAt.Sub(r.now))
}

// sendProbe sends the token of a parked delivery, and names the token the probe: the gate
// gives the lease to no other token while deliveries are parked. The delivery stays
// parked until the token arrives. If the token is lost, Tick sends another token.
func (r *reconciliation) sendProbe(ctx context.Context, next gate.Record) error {
	// Only a check with a probe sets AttendAt within the next minute. The gate sets
	// AttendAt to the time of the next probe, and the check of a paused or
	// disabled endpoint sets AttendAt farther in the future.
	now := r.Now() // the reads may have taken most of the invocation
	if left := r.record.AttendAt.Sub(now); left > 0 && left <= gate.AttendAfter {
		r.decision = decideHeld
		return nil
	}
	parked, err := r.probes(ctx, now)
	if err != nil || len(parked) == 0 {
		return err // Tick checks the endpoint again
	}
	probe := likeliest(parked, r.record.ProbeType)
	r.decision = decideProbe
	next.AttendAt, next.ProbeType, next.ProbedFrom = r.Now().Add(gate.AttendAfter), probe.EventType, probe.CreatedAt // the reads take time too
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

// probes returns the parked deliveries among which a probe is chosen: the oldest, when
// they are all or no probe was sent yet, and otherwise deliveries from halfway between the
// last probe and now on. Each failed probe leads to younger deliveries, until none are
// younger, and then to the oldest again. So a burst of deliveries that always fail does
// not hide the deliveries behind.
func (r *reconciliation) probes(ctx context.Context, now time.Time) ([]hook.Delivery, error) {
	limits, err := r.Store.Limits(ctx, r.check.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	leases := limits.Live(now).Leases
	oldest, err := r.withoutSlot(ctx, leases, time.Time{}, probeChoice)
	if err != nil || len(oldest) < probeChoice || r.record.ProbedFrom.IsZero() {
		return oldest, err
	}
	span := now.Sub(r.record.ProbedFrom)
	for range maxPlaces {
		span /= 2
		younger, err := r.withoutSlot(ctx, leases, r.record.ProbedFrom.Add(max(span, time.Millisecond)), probeChoice)
		if err != nil || len(younger) > 0 {
			return younger, err
		}
	}
	return oldest, nil
}

// withoutSlot returns parked deliveries without one of the leases, created at or after
// since, the oldest first. The token of a delivery with a lease is on its way, or its
// attempt is in flight.
func (r *reconciliation) withoutSlot(ctx context.Context, leases map[string]isolation.Lease, since time.Time, limit int) ([]hook.Delivery, error) {
	parked, err := r.listParked(ctx, since, limit+len(leases))
	if err != nil {
		return nil, err
	}
	parked = slices.DeleteFunc(parked, func(d hook.Delivery) bool {
		_, leased := leases[isolation.LeaseKey(d.ID)]
		return leased
	})
	return parked[:min(limit, len(parked))], nil
}

// likeliest returns the delivery with the best prospect as a probe: the fewest
// attempts, then another type than the last probe, then the oldest. A delivery that
// always fails, or a type of them, must not hold the circuit open.
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
