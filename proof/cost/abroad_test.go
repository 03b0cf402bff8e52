package cost_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/cost"
)

// abroad is a sender in another region: one more invocation per attempt, while function
// deliver waits for it.
type abroad struct{ w *bundle }

func (a abroad) Send(ctx context.Context, r send.Request) (hook.Outcome, error) {
	outcome := a.w.Send(ctx, r)
	a.w.ledger.Add(cost.InvocationUsage(outcome.Duration+cost.WorkTime(1, cost.MemoryMB), cost.MemoryMB))
	outcome.Duration += cost.CrossingTime
	outcome.Region = r.Endpoint.Region

	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.longest = max(a.w.longest, outcome.Duration)
	return outcome, nil
}

// elsewhere runs ten seconds of deliveries to one busy endpoint of another region.
func elsewhere(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, full, mixProcesses)
	w.perMinute = 60 * busyRate
	w.endpoint(func(e *hook.Endpoint) { e.Region = "eu-central-1" })
	w.warm()
	const deliveries = 10 * busyRate
	for i := range deliveries {
		w.post(1)
		if (i+1)%full == 0 {
			w.drain(i + 1)
		}
		w.now = w.now.Add(time.Second / busyRate)
	}
	w.wantDelivered(deliveries)
	return w.scenario("an event posted alone, delivered through a sender in another region", "100 a second to one endpoint, delivery batches of 10", deliveries)
}
