package cost_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/cost"
)

// coalesced runs ten seconds of events to one coalescing endpoint, in windows of 5 s and
// requests of 100 events.
func coalesced(t *testing.T) cost.Scenario {
	t.Helper()

	w := newBundle(t, hook.MaxCoalesceEvents, mixProcesses)
	w.perMinute = 60 * busyRate
	w.endpoint(func(e *hook.Endpoint) {
		e.Coalesce = hook.Coalescing{Window: 5 * time.Second}.WithDefaults()
	})
	w.warm()
	const events = 10 * busyRate
	for range events / 100 {
		w.post(100)
		w.now = w.now.Add(100 * time.Second / busyRate)
	}
	w.drain(events / hook.MaxCoalesceEvents)
	w.wantDelivered(events / hook.MaxCoalesceEvents) // requests
	return w.scenario("a batch of 100 events to an endpoint that coalesces", "100 a second to one endpoint, 100 events a request", events)
}
