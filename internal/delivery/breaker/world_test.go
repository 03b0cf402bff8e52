package breaker_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

var start = world.Start()

// bundle is the world of function breaker, beside function deliver with its gate.
type bundle struct{ *world.World }

// setup returns a world whose endpoints retry every 10 s, 20 times.
func setup(t *testing.T) *bundle {
	t.Helper()

	return &bundle{world.New(t, world.Options{
		Function: world.Breaker, Delays: slices.Repeat([]time.Duration{10 * time.Second}, 20), Circuits: true,
	})}
}

// inTurn runs f in such a world whose goroutines run one at a time: otherwise the n-th effect would be
// another one in each run.
func inTurn(t *testing.T, f func(w *bundle)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		f(&bundle{world.New(t, world.Options{
			Function: world.Breaker, Delays: slices.Repeat([]time.Duration{10 * time.Second}, 20), Circuits: true, InTurn: true,
		})})
	})
}

// lines returns the wide lines with the message.
func (w *bundle) lines(message string) []map[string]any {
	w.T.Helper()

	var lines []map[string]any
	for line := range bytes.Lines([]byte(w.Log.String())) {
		var attrs map[string]any
		if err := json.Unmarshal(line, &attrs); err != nil {
			w.T.Fatal(err)
		}
		if attrs["msg"] == message {
			lines = append(lines, attrs)
		}
	}
	return lines
}

// attended returns the values of the key in the wide lines.
func (w *bundle) attended(key string) []any {
	w.T.Helper()

	var values []any
	for _, line := range w.lines("circuit.reconciled") {
		values = append(values, line[key])
	}
	return values
}

// park stores parked deliveries of the given ages.
func (w *bundle) park(e hook.Endpoint, ages ...time.Duration) []hook.DeliveryRef {
	w.T.Helper()

	var ids []hook.DeliveryRef
	for _, age := range ages {
		d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now().Add(-age), e), e.Target())
		d.State, d.Reason, d.DecidedBy = hook.StateParked, hook.ReasonCircuit, hook.NewNonce()
		w.Save(d)
		ids = append(ids, d.Ref())
	}
	return ids
}

// ages returns n ages, the oldest first, a second apart.
func ages(n int) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = time.Duration(n-i) * time.Second
	}
	return list
}

// record changes the endpoint's record.
func (w *bundle) record(e hook.Endpoint, change func(r admission.Record) admission.Record) {
	w.T.Helper()

	if err := w.Store.SaveCircuit(w.T.Context(), change(w.Circuit(e))); err != nil {
		w.T.Fatal(err)
	}
}

// open opens the endpoint's circuit while deliveries wait, as the gate does.
func (w *bundle) open(e hook.Endpoint) {
	w.T.Helper()

	settings := circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}
	w.record(e, func(r admission.Record) admission.Record {
		return r.ExpectParked(w.Clock.Now()).Trip(settings, w.Clock.Now())
	})
	w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, settings.Cooldown)
}

// waves returns the deliveries of the POSTs, grouped by the time of the POST, and
// in the order of the ids within a group. The first wave starts at the time of
// the successful probe.
func (w *bundle) waves(ids []hook.DeliveryRef) [][]hook.DeliveryRef {
	var waves [][]hook.DeliveryRef
	var last time.Time
	for _, p := range w.Posts {
		if len(waves) == 0 || !p.At.Equal(last) {
			waves = append(waves, nil)
			last = p.At
		}
		waves[len(waves)-1] = append(waves[len(waves)-1], p.Ref())
	}
	for _, wave := range waves {
		slices.SortFunc(wave, func(a, b hook.DeliveryRef) int { return slices.Index(ids, a) - slices.Index(ids, b) })
	}
	return waves
}

func sizes(waves [][]hook.DeliveryRef) []int {
	var list []int
	for _, wave := range waves {
		list = append(list, len(wave))
	}
	return list
}
