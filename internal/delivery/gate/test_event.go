package gate

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
)

// testPause is how long a test event waits for an in-flight slot before it asks again.
const testPause = time.Second

// admitTest admits the test event that its owner has just sent, to see whether the endpoint works
// now: neither the circuit, nor a throttle, a rate or a backlog holds it back, but only
// max_in_flight. Its sender bounds how many there are. It takes no lease of a
// probe, so a probe may be in flight beside it.
func (g *Gate) admitTest(ctx context.Context, q *Query, now time.Time) (Admission, error) {
	a := sameVerdict(q, Verdict{Decision: Admit})
	a.test = true
	if q.Endpoint.MaxInFlight == 0 {
		return a, nil
	}
	v, err := g.startLease(ctx, q, q.Due[0], now)
	if v.Decision == Park { // all slots are in use: an attempt ends soon
		v = Verdict{Decision: Move, Lane: hook.LaneRetry, Until: now.Add(testPause)}
	}
	a.Verdicts[0] = v
	return a, err
}
