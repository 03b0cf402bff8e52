package gate

import (
	"context"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// admitProbe admits one probe if due, and parks the other deliveries. While the
// endpoint is throttled, admitProbe parks all deliveries: a probe is an attempt, too.
func (g *Gate) admitProbe(ctx context.Context, q Query, now time.Time) (Admission, error) {
	a := sameVerdict(q, Verdict{Decision: Park, Reason: hook.ReasonCircuit})
	if now.Before(q.Record.ThrottledUntil) {
		return a, g.markWaiting(ctx, q.Record, now)
	}
	for i, due := range q.Due {
		// The first due token takes a free lease. The holder of a lease may return
		// and renew the lease. Another token of the probing delivery is parked.
		probed, ok := q.Record.Probe(due.Holder(), now)
		if !ok {
			continue
		}
		a.probe = due.Holder()
		a.sharedProbe = q.Record.Holder == a.probe && now.Before(q.Record.LeaseUntil)
		a.Verdicts[i] = Verdict{Decision: Admit}
		if probed == q.Record.Circuit {
			break
		}
		q.Record.Circuit = probed
		a.query.Record = q.Record.Wait(now).planCheck(now)
		if err := g.saveCircuit(ctx, a.query.Record); err != nil {
			return Admission{}, err
		}
		a.query.Record.Version++ // the stored version, for Settle
		return a, nil
	}
	return a, g.markWaiting(ctx, q.Record, now)
}

// markWaiting records that deliveries wait for the endpoint. The write comes before
// the first delivery is parked, so that the breaker misses no parked delivery.
func (g *Gate) markWaiting(ctx context.Context, r Record, now time.Time) error {
	next := r.Wait(now)
	if next == r {
		return nil
	}
	return g.saveCircuit(ctx, next)
}

func (g *Gate) saveCircuit(ctx context.Context, r Record) error {
	if err := g.Store.SaveCircuit(ctx, r); err != nil {
		return fmt.Errorf("save circuit of %s: %w", r.Endpoint, err)
	}
	return nil
}
