package breaker_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// slotFlows are releases of parked deliveries in in-flight slots.
var slotFlows = []struct {
	name     string
	record   func(r admission.Record) admission.Record
	endpoint func(e *hook.Endpoint)
	parked   int
	most     int  // requests at once, besides the slots that the answers opened
	probes   bool // a copy of the probe's message may make a second probe
}{
	{name: "a new endpoint", record: closed(0, time.Minute), parked: 12, most: 12},
	{name: "one slot", record: closed(0, time.Minute), endpoint: func(e *hook.Endpoint) { e.MaxInFlight = 1 }, parked: 4, most: 1},
	{
		name: "two slots and a rate", record: closed(0, time.Minute), parked: 5, most: 2,
		endpoint: func(e *hook.Endpoint) { e.MaxInFlight, e.RatePerSecond = 2, 0.5 },
	},
	{
		name: "a fast endpoint with a rate", parked: 30, most: 20, endpoint: func(e *hook.Endpoint) { e.RatePerSecond = 10 },
		record: func(r admission.Record) admission.Record {
			r.Speed, r.SeenAt = admission.Fast, start
			return closed(0, time.Minute)(r)
		},
	},
	{name: "a throttled endpoint", record: throttled(30*time.Second, closed(0, time.Minute)), parked: 7, most: 7},
	{name: "a probe, and then slots", record: open(0, 0), parked: 7, most: 7, probes: true},
	{
		name: "a probe, and then one slot", record: open(0, 0), endpoint: func(e *hook.Endpoint) { e.MaxInFlight = 1 }, parked: 4, most: 1, probes: true,
	},
}

// slotRun is one run of a flow.
type slotRun struct {
	*bundle

	endpoint hook.Endpoint
	requests world.InFlight
}

// look checks that an endpoint that is not fast has no more requests than its answers allow.
func (w *slotRun) look(requests int) {
	limits, err := w.Store.Limits(w.T.Context(), w.endpoint.ID)
	if err != nil {
		w.T.Error(err)
	}
	r := w.Circuit(w.endpoint)
	if open := max(admission.FirstSlots, limits.Slots); r.Speed != admission.Fast && requests > open {
		w.T.Errorf("%d requests at once; want at most %d", requests, open)
	}
}

// runSlots runs the flow, and checks the end. prepare is called before the first check. The goroutines
// run one at a time: otherwise the order of the calls would depend on the machine.
func runSlots(t *testing.T, flow, more int, prepare func(w *slotRun)) *slotRun {
	t.Helper()

	tt := slotFlows[flow]
	w := &slotRun{bundle: &bundle{world.New(t, world.Options{
		Function: world.Breaker, Delays: slices.Repeat([]time.Duration{10 * time.Second}, 20), Circuits: true, Unproven: true, InTurn: true,
	})}}
	w.endpoint = w.Endpoint(tt.endpoint)
	ids := w.park(w.endpoint, ages(tt.parked)...)
	w.record(w.endpoint, tt.record)
	w.Answer = func(send.Request) hook.Outcome {
		defer w.requests.Begin()()
		w.look(w.requests.Now())
		w.InvokeAll()
		w.Clock.Pass(50 * time.Millisecond)
		w.InvokeAll()
		return hook.Outcome{Class: hook.ClassDelivered, Status: 200}
	}
	prepare(w)
	w.EnqueueCheck(hook.CircuitCheck{Tenant: w.endpoint.Tenant, Endpoint: w.endpoint.ID}, 0)
	w.Now()
	w.RunFor(20 * time.Minute)

	if got, want := w.States(ids), fmt.Sprintf("%d delivered", tt.parked); got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	if extra := len(w.Posts) - tt.parked; extra < 0 || extra > more {
		t.Errorf("%d POSTs; want %d and at most %d more", len(w.Posts), tt.parked, more)
	}
	if got := w.requests.Most(); got > tt.most {
		t.Errorf("%d requests at once; want at most %d", got, tt.most)
	}
	limits, err := w.Store.Limits(t.Context(), w.endpoint.ID)
	if n := limits.InFlight(w.Clock.Now()); n > 0 || err != nil {
		t.Errorf("%d slots are in use, %v; want none", n, err)
	}
	if r := w.Circuit(w.endpoint); r.Waiting || !r.AttendAt.IsZero() {
		t.Errorf("record = %+v; want the endpoint forgotten", r)
	}
	return w
}

// TestFillSlots_SurvivesACrash kills the breaker before and after each effect of every
// flow: the record, the claims and the tasks. The claims end after two minutes.
func TestFillSlots_SurvivesACrash(t *testing.T) {
	t.Parallel()

	for flow, tt := range slotFlows {
		for _, twice := range []bool{false, true} {
			run := func(t *testing.T, at int, after bool) (effects int) {
				t.Helper()

				synctest.Test(t, func(t *testing.T) {
					effects = runSlots(t, flow, min(at, 1), func(w *slotRun) {
						if w.Calls.Twice = twice && !tt.probes; twice && at == 0 {
							w.Receipts = 3
						}
						w.Crash.Arm(at, after)
					}).Crash.Effects()
				})
				return effects
			}
			t.Run(fmt.Sprintf("%s, all messages twice: %t", tt.name, twice), func(t *testing.T) {
				t.Parallel()

				effects := run(t, 0, false)
				if effects < 4 {
					t.Fatalf("the undisturbed flow has %d effects; want some", effects)
				}
				for at := 1; at <= effects; at += world.Stride() {
					for _, after := range []bool{false, true} {
						t.Run(fmt.Sprintf("effect %d, after it: %t", at, after), func(t *testing.T) {
							t.Parallel()

							run(t, at, after)
						})
					}
				}
			})
		}
	}
}

// TestFillSlots_OthersAtAnyCall disturbs the breaker at each call of every flow: other processes
// run, the breaker pauses for most of its time, or the response to a write is lost.
func TestFillSlots_OthersAtAnyCall(t *testing.T) {
	t.Parallel()

	disturbances := []struct {
		name    string
		disturb func(w *slotRun, call string)
		more    int
	}{
		{name: "others run", disturb: func(w *slotRun, _ string) { w.InvokeAll() }},
		{
			name: "others run for 55 s",
			disturb: func(w *slotRun, _ string) {
				w.Clock.Pass(55 * time.Second)
				w.CheckCircuits()
				w.InvokeAll()
			},
		},
		{name: "the answer is lost", disturb: func(w *slotRun, call string) { w.Calls.Lose(call) }, more: 1},
	}
	for _, d := range disturbances {
		for flow, tt := range slotFlows {
			run := func(t *testing.T, at int) (calls int) {
				t.Helper()

				synctest.Test(t, func(t *testing.T) {
					var made func() int
					runSlots(t, flow, d.more, func(w *slotRun) {
						made = w.Calls.Disturb(at, func(call string) { d.disturb(w, call) })
					})
					calls = made()
				})
				return calls
			}
			t.Run(d.name+", "+tt.name, func(t *testing.T) {
				t.Parallel()

				calls := run(t, 0)
				for at := 0; at < calls; at += world.Stride() {
					t.Run(fmt.Sprintf("call %d", at+1), func(t *testing.T) {
						t.Parallel()

						run(t, at+1)
					})
				}
			})
		}
	}
}
