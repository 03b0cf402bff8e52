package breaker_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// metrics returns the metrics of the newest line with the message, and holds
// the line to the schema of the Embedded Metric Format.
func (w *world) metrics(message string) map[string]float64 {
	w.t.Helper()

	lines := w.lines(message)
	if len(lines) == 0 {
		w.t.Fatalf("there is no line %s", message)
	}
	line := lines[len(lines)-1]
	if line["_aws"] == nil {
		return nil
	}
	raw, err := os.ReadFile("../../emf/testdata/emf.schema.json")
	if err != nil {
		w.t.Fatal(err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("emf.schema.json", resource); err != nil {
		w.t.Fatal(err)
	}
	schema, err := compiler.Compile("emf.schema.json")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := schema.Validate(line); err != nil {
		w.t.Errorf("%s is no line with metrics: %v", message, err)
	}
	text, err := json.Marshal(line["_aws"])
	if err != nil {
		w.t.Fatal(err)
	}
	var meta struct {
		CloudWatchMetrics []struct {
			Metrics []struct {
				Name string `json:"Name"`
			} `json:"Metrics"`
		} `json:"CloudWatchMetrics"`
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		w.t.Fatal(err)
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

	w := newWorld(t)
	if err := w.breaker().Tick(t.Context()); err != nil {
		t.Fatalf("Tick() = %v", err)
	}
	if diff := cmp.Diff(map[string]float64{"circuits_open": 0, "dead_letters_open": 0}, w.metrics("breaker.ticked")); diff != "" {
		t.Errorf("gauges of nothing (-want +got):\n%s", diff)
	}

	w.record(w.endpoint(nil), open(time.Hour, time.Hour))
	w.record(w.endpoint(nil), halfOpen(time.Hour, time.Hour))
	w.record(w.endpoint(nil), closed(3, time.Hour))
	w.record(w.endpoint(nil), func(r gate.Record) gate.Record { // forgotten
		r = open(-time.Hour, 0)(r)
		r.Waiting, r.AttendAt = false, time.Time{}
		return r
	})
	d := hook.QueuedDelivery(w.event(w.endpoint(nil), start), hook.NewEndpointID())
	w.bury(d, 12, time.Hour)
	if letters, err := w.deadLetters.Receive(t.Context()); err != nil || len(letters) != 10 { // and hides them
		t.Fatalf("Receive() = %d letters, %v", len(letters), err)
	}
	if err := w.breaker().Tick(t.Context()); err != nil {
		t.Fatalf("Tick() = %v", err)
	}
	if diff := cmp.Diff(map[string]float64{"circuits_open": 2, "dead_letters_open": 12}, w.metrics("breaker.ticked")); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
}

func TestTick_LeavesOutWhatItCannotMeasure(t *testing.T) {
	t.Parallel()

	tests := []struct {
		fails string
		want  map[string]float64
	}{
		{fails: "list attended", want: map[string]float64{"dead_letters_open": 0}},
		{fails: "depth", want: map[string]float64{"circuits_open": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.fails, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			e := w.endpoint(nil)
			ids := w.park(e, time.Minute)
			w.record(e, open(-time.Hour, 0))
			w.spy.fails = func(verb string, _ hook.EndpointID) error {
				if verb == tt.fails {
					return errDead
				}
				return nil
			}
			if err := w.breaker().Tick(t.Context()); err == nil {
				t.Error("Tick() = nil; want what could not be measured")
			}
			if diff := cmp.Diff(tt.want, w.metrics("breaker.ticked")); diff != "" {
				t.Errorf("gauges (-want +got):\n%s", diff)
			}
			if got := w.queue.Receive(hook.LaneRetry, 10); len(got) != 1 || got[0].Token.Delivery != ids[0] {
				t.Errorf("tokens = %v; want the probe, whatever cannot be measured", got)
			}
		})
	}
}

func TestAttend_CountsTheDead(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	e := w.endpoint(status(hook.StatusDisabled, time.Hour))
	w.park(e, 3*time.Hour, 2*time.Hour, time.Minute)
	w.record(e, closed(0, 0))
	look := hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}
	if err := w.breaker().Reconcile(t.Context(), look); err != nil {
		t.Fatalf("Attend() = %v", err)
	}
	if diff := cmp.Diff(map[string]float64{"dead": 2}, w.metrics("circuit.reconciled")); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	w.wantDead(e, 2)
	if err := w.breaker().Reconcile(t.Context(), look); err != nil {
		t.Fatalf("Attend() = %v", err)
	}
	if got := w.metrics("circuit.reconciled"); got != nil {
		t.Errorf("metrics of a look at which nothing died = %v; want none", got)
	}
	w.wantDead(e, 2)
}

func TestAttend_CountsNoneThatItDidNotEnd(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		fails func(w *world, ids []hook.DeliveryID) func(verb string, id hook.EndpointID) error
		end   func(w *world, e hook.Endpoint)
		dead  int
	}{
		{
			name: "somebody moved one meanwhile", fails: func(w *world, ids []hook.DeliveryID) func(string, hook.EndpointID) error {
				moved := false
				return func(verb string, _ hook.EndpointID) error {
					if verb == "save delivery" && !moved {
						moved = true
						d, err := w.store.Delivery(w.t.Context(), ids[0])
						if err != nil {
							return err
						}
						d.State = hook.StateRetrying
						return w.store.SaveDelivery(w.t.Context(), d, nil)
					}
					return nil
				}
			}, end: nil, dead: 1,
		},
		{
			name: "the endpoint was deleted", fails: nil, end: func(w *world, e hook.Endpoint) {
				if err := w.store.DeleteEndpoint(w.t.Context(), e); err != nil {
					w.t.Fatal(err)
				}
			}, dead: 0,
		},
		{
			name: "the count is lost", fails: func(*world, []hook.DeliveryID) func(string, hook.EndpointID) error {
				return func(verb string, _ hook.EndpointID) error {
					if verb == "count" {
						return errDead
					}
					return nil
				}
			}, end: nil, dead: 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			e := w.endpoint(status(hook.StatusDisabled, time.Hour))
			ids := w.park(e, 3*time.Hour, 2*time.Hour)
			w.record(e, closed(0, 0))
			if tt.fails != nil {
				w.spy.fails = tt.fails(w, ids)
			}
			if tt.end != nil {
				tt.end(w, e)
			}
			if err := w.breaker().Reconcile(t.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
				t.Errorf("Attend() = %v; want nil", err)
			}
			w.wantDead(e, tt.dead)
		})
	}
}

// wantDead wants that many deaths in the stats of the endpoint.
func (w *world) wantDead(e hook.Endpoint, want int) {
	w.t.Helper()

	hours, err := w.store.Hours(w.t.Context(), e.ID, start.Add(-24*time.Hour))
	if err != nil {
		w.t.Fatal(err)
	}
	got := 0
	for _, h := range hours {
		got += h.Dead
	}
	if got != want {
		w.t.Errorf("the stats count %d dead; want %d", got, want)
	}
}
