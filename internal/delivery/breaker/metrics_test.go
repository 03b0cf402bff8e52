package breaker_test

import (
	"bytes"
	"encoding/json"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// metrics returns the metrics of the newest line with the message, and validates the
// line against the schema of the Embedded Metric Format.
func (w *bundle) metrics(message string) map[string]float64 {
	w.T.Helper()

	lines := w.lines(message)
	if len(lines) == 0 {
		w.T.Fatalf("no line %s", message)
	}
	line := lines[len(lines)-1]
	if line["_aws"] == nil {
		return nil
	}
	raw, err := os.ReadFile("../../emf/testdata/emf.schema.json")
	if err != nil {
		w.T.Fatal(err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		w.T.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("emf.schema.json", resource); err != nil {
		w.T.Fatal(err)
	}
	schema, err := compiler.Compile("emf.schema.json")
	if err != nil {
		w.T.Fatal(err)
	}
	if err := schema.Validate(line); err != nil {
		w.T.Errorf("validate %s: %v", message, err)
	}
	text, err := json.Marshal(line["_aws"])
	if err != nil {
		w.T.Fatal(err)
	}
	var meta struct {
		CloudWatchMetrics []struct {
			Metrics []struct {
				Name string `json:"Name"`
			} `json:"Metrics"`
		} `json:"CloudWatchMetrics"`
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		w.T.Fatal(err)
	}
	got := map[string]float64{}
	for _, directive := range meta.CloudWatchMetrics {
		for _, m := range directive.Metrics {
			got[m.Name], _ = line[m.Name].(float64)
		}
	}
	return got
}

func TestTick_WritesTheGauges(t *testing.T) {
	t.Parallel()

	w := setup(t)
	if err := w.Breaker().Tick(w.Context()); err != nil {
		t.Fatalf("Tick() = %v", err)
	}
	if diff := cmp.Diff(map[string]float64{"circuits_open": 0, "dead_letters_open": 0}, w.metrics("breaker.ticked")); diff != "" {
		t.Errorf("gauges of an empty store (-want +got):\n%s", diff)
	}

	w.record(w.Endpoint(nil), open(time.Hour, time.Hour))
	w.record(w.Endpoint(nil), halfOpen(time.Hour, time.Hour))
	w.record(w.Endpoint(nil), closed(3, time.Hour))
	w.record(w.Endpoint(nil), func(r admission.Record) admission.Record { // forgotten
		r = open(-time.Hour, 0)(r)
		r.Waiting, r.AttendAt = false, time.Time{}
		return r
	})
	d := hook.QueuedDelivery(w.Event("order.paid", start, w.Endpoint(nil)), hook.Target{Endpoint: hook.NewEndpointID(), Shards: 1})
	w.sendLetters(d, 12, time.Hour)
	if letters, err := w.DeadLetters.Receive(t.Context()); err != nil || len(letters) != 10 { // hides 10 letters
		t.Fatalf("Receive() = %d letters, %v", len(letters), err)
	}
	if err := w.Breaker().Tick(w.Context()); err != nil {
		t.Fatalf("Tick() = %v", err)
	}
	if diff := cmp.Diff(map[string]float64{"circuits_open": 2, "dead_letters_open": 12}, w.metrics("breaker.ticked")); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
}

func TestTick_LeavesOutFailedGauges(t *testing.T) {
	t.Parallel()

	tests := []struct {
		fails string
		after int32 // calls before the fault
		want  map[string]float64
	}{
		{fails: "list circuit", after: 16, want: map[string]float64{"dead_letters_open": 0}},
		{fails: "read depth", want: map[string]float64{"circuits_open": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.fails, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			ids := w.park(e, time.Minute)
			w.record(e, open(-time.Hour, 0))
			var calls atomic.Int32
			w.Calls.Fail = func(verb string, _ hook.EndpointID) error {
				if verb == tt.fails && calls.Add(1) > tt.after { // the 16 shards of due circuits come first
					return world.ErrDead
				}
				return nil
			}
			if err := w.Breaker().Tick(w.Context()); err == nil {
				t.Error("Tick() = nil; want the error of the gauge")
			}
			if diff := cmp.Diff(tt.want, w.metrics("breaker.ticked")); diff != "" {
				t.Errorf("gauges (-want +got):\n%s", diff)
			}
			if got := w.Queue.Receive(hook.QueueRetry, 10); len(got) != 1 || got[0].Task.Delivery != ids[0] {
				t.Errorf("tasks = %v; want the probe", got)
			}
		})
	}
}

func TestReconcile_CountsTheDead(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(status(hook.StatusDisabled, time.Hour))
	w.park(e, 3*time.Hour, 2*time.Hour, time.Minute)
	w.record(e, closed(0, 0))
	check := hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}
	if err := w.Breaker().Reconcile(w.Context(), check); err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
	if diff := cmp.Diff(map[string]float64{"dead": 2}, w.metrics("circuit.reconciled")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	w.wantDead(e, 2)
	if err := w.Breaker().Reconcile(w.Context(), check); err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
	if got := w.metrics("circuit.reconciled"); got != nil {
		t.Errorf("metrics of a check without a death = %v; want none", got)
	}
	w.wantDead(e, 2)
}

func TestReconcile_CountsOnlyEndedDeliveries(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		fails func(w *bundle, ids []hook.DeliveryRef) func(verb string, id hook.EndpointID) error
		end   func(w *bundle, e hook.Endpoint)
		dead  int
	}{
		{
			name: "a concurrent change of a delivery", fails: func(w *bundle, ids []hook.DeliveryRef) func(string, hook.EndpointID) error {
				moved := false
				return func(verb string, _ hook.EndpointID) error {
					if verb == "write delivery" && !moved {
						moved = true
						d, err := w.Store.Delivery(w.T.Context(), ids[0])
						if err != nil {
							return err
						}
						d.State = hook.StateRetrying
						return w.Store.SaveDelivery(w.T.Context(), d, nil)
					}
					return nil
				}
			}, end: nil, dead: 1,
		},
		{
			name: "the endpoint was deleted", fails: nil, end: func(w *bundle, e hook.Endpoint) {
				if err := w.Store.DeleteEndpoint(w.T.Context(), e); err != nil {
					w.T.Fatal(err)
				}
			}, dead: 0,
		},
		{
			name: "the count is lost", fails: func(*bundle, []hook.DeliveryRef) func(string, hook.EndpointID) error {
				return func(verb string, _ hook.EndpointID) error {
					if verb == "write stats" {
						return world.ErrDead
					}
					return nil
				}
			}, end: nil, dead: 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(status(hook.StatusDisabled, time.Hour))
			ids := w.park(e, 3*time.Hour, 2*time.Hour)
			w.record(e, closed(0, 0))
			if tt.fails != nil {
				w.Calls.Fail = tt.fails(w, ids)
			}
			if tt.end != nil {
				tt.end(w, e)
			}
			if err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
				t.Errorf("Reconcile() = %v; want nil", err)
			}
			w.wantDead(e, tt.dead)
		})
	}
}

// wantDead checks the number of dead deliveries in the stats of the endpoint.
func (w *bundle) wantDead(e hook.Endpoint, want int) {
	w.T.Helper()

	hours, err := w.Store.Hours(w.T.Context(), e.ID, start.Add(-24*time.Hour))
	if err != nil {
		w.T.Fatal(err)
	}
	got := 0
	for _, h := range hours {
		got += h.Dead
	}
	if got != want {
		w.T.Errorf("the stats count %d dead; want %d", got, want)
	}
}
