package cost_test

import (
	"math"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/proof/world"
)

// endpoint creates an endpoint, and resets the ledger.
func (w *bundle) endpoint(change func(e *hook.Endpoint)) {
	w.t.Helper()

	e, err := world.EndpointWith(w.t.Context(), w.ids.Endpoint(), world.Secret, w.clock())
	if err != nil {
		w.t.Fatal(err)
	}
	e.URL = "https://hooks.example.com/surehook/orders"
	if change != nil {
		change(&e)
	}
	if err := w.store.CreateEndpoint(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
	w.fill(e)
	if !w.unproven {
		record := admission.NewRecord(e.Tenant, e.ID)
		record.Speed, record.SpeedAt, record.SeenAt = admission.Fast, w.clock(), w.clock()
		if err := w.store.SaveCircuit(w.t.Context(), record); err != nil {
			w.t.Fatal(err)
		}
	}
	w.ledger.Reset()
}

// fill counts the hour as an hour near its end: every minute has deliveries of
// five event types, with durations of 20 ms to 2 s.
func (w *bundle) fill(e hook.Endpoint) {
	w.t.Helper()

	now := w.clock()
	for minute := 49; minute >= 0; minute-- {
		var counts stats.Counts
		for i := range w.perMinute {
			took := time.Duration(20*math.Pow(100, float64(i%40)/40)) * time.Millisecond
			counts.Count(stats.Attempt{
				Type:  []string{"order.paid", "order.created", "order.shipped", "user.created", "invoice.paid"}[i%5],
				Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Age: took, Duration: took, Queued: took,
			})
			counts.OK++
		}
		if _, err := w.store.Count(w.t.Context(), e.Tenant, e.ID, &counts, now.Add(-time.Duration(minute)*time.Minute)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// warm posts and delivers one event, to fill the caches, and resets the ledger.
func (w *bundle) warm() {
	w.t.Helper()

	w.post(1)
	w.drain(1)
	w.ledger.Reset()
	w.attempts, w.delivered, w.messages = 0, 0, 0
}
