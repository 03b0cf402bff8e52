package gate

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
)

// admitProbe admits one probe if it is due, and parks the other deliveries. While the endpoint
// is throttled it parks all of them: a probe is an attempt, too.
//
// While deliveries are parked, the breaker chooses the probe, because a new delivery, or a
// retry that happens to be due, may be of an event type that always fails. Without parked
// deliveries the breaker sends no probe, so the first due token is the probe.
func (g *Gate) admitProbe(ctx context.Context, q *Query, now time.Time) (Admission, error) {
	a := sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonCircuit})
	if now.Before(q.Record.ThrottledUntil) {
		return a, g.markWaiting(ctx, q.Record, now)
	}
	for i, due := range q.Due {
		// The first such token takes a free lease. If the holder of the lease comes again, it
		// renews the lease. Another token of the same delivery is parked.
		probed, ok := q.Record.Probe(due.Holder(), now)
		if !ok || !due.Probe && q.Record.HasParked() && q.Record.Holder != due.Holder() {
			continue
		}
		if moved, err := g.moveProbe(ctx, q, due, now); err != nil {
			return Admission{}, err
		} else if moved.Decision != 0 {
			a.Verdicts[i] = moved
			break
		}
		a.probe = due.Holder()
		a.sharedProbe = q.Record.Holder == a.probe && now.Before(q.Record.LeaseUntil)
		a.Verdicts[i] = Verdict{Decision: Admit}
		if probed == q.Record.Circuit {
			break
		}
		admitted := *q
		admitted.Record.Circuit = probed
		if len(q.Due) > 1 { // the others are parked
			admitted.Record = admitted.Record.Wait(now)
		}
		admitted.Record = admitted.Record.planCheck(now)
		if err := g.saveCircuit(ctx, admitted.Record); err != nil {
			return Admission{}, err
		}
		admitted.Record.Version++ // the stored version, for Settle
		a.query = &admitted
		return a, nil
	}
	return a, g.markWaiting(ctx, q.Record, now)
}

// moveProbe returns the verdict about a probe in the wrong lane; zero in the right lane. The
// moved token stays the probe, even if deliveries are parked before it arrives.
func (g *Gate) moveProbe(ctx context.Context, q *Query, due Due, now time.Time) (Verdict, error) {
	if q.slots(now) > 0 && !q.Lane.Single() && !q.Endpoint.Coalesce.On() {
		one := *q
		one.Due = []Due{due}
		a, err := g.move(ctx, &one, now)
		a.Verdicts[0].Probe = true
		return a.Verdicts[0], err
	}
	if ok, err := g.hasPlace(ctx, q, due, now); err != nil || !ok {
		return Verdict{Decision: Move, Lane: hook.LaneOverflow, Probe: true}, err
	}
	return Verdict{}, nil
}
