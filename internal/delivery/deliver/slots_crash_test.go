package deliver_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// slotFlows are complete lives of deliveries to an endpoint with in-flight slots. While
// a request is in flight, everything else that is due happens.
var slotFlows = []struct {
	name     string
	endpoint func(e *hook.Endpoint)
	events   int
	answers  []int // of each delivery
	most     int   // requests at once, besides the slots that the answers opened
	posts    int   // of all deliveries
	state    hook.State
	probes   bool // a copy of the probe's message may make a second probe: see TestGate_CopiesOfATaskShareTheProbe
}{
	{name: "one event", events: 1, answers: []int{200}, most: 1, posts: 1, state: hook.StateDelivered},
	{name: "more events than slots", events: 8, answers: []int{200}, most: 8, posts: 8, state: hook.StateDelivered},
	{
		name: "one slot", endpoint: func(e *hook.Endpoint) { e.MaxInFlight = 1 }, events: 4,
		answers: []int{200}, most: 1, posts: 4, state: hook.StateDelivered,
	},
	{
		name: "two slots, and a retry of each delivery", endpoint: func(e *hook.Endpoint) { e.MaxInFlight, e.Circuit.Failures = 2, 100 }, events: 3,
		answers: []int{503, 200}, most: 2, posts: 6, state: hook.StateDelivered,
	},
	{
		name: "two slots, and the last answer rejects", endpoint: func(e *hook.Endpoint) { e.MaxInFlight = 2 }, events: 4,
		answers: []int{404}, most: 2, posts: 4, state: hook.StateDead,
	},
	{
		name: "two slots and a rate", endpoint: func(e *hook.Endpoint) { e.MaxInFlight, e.RatePerSecond = 2, 0.5 }, events: 5,
		answers: []int{200}, most: 2, posts: 5, state: hook.StateDelivered,
	},
	{
		name: "a rate with waits of more than a minute", endpoint: func(e *hook.Endpoint) { e.RatePerSecond = 0.02 }, events: 5,
		answers: []int{200}, most: 5, posts: 5, state: hook.StateDelivered,
	},
	{
		name: "a throttled endpoint", endpoint: func(e *hook.Endpoint) { e.MaxInFlight = 2 }, events: 3,
		answers: []int{429, 200}, most: 2, posts: 6, state: hook.StateDelivered,
	},
	{
		name: "an outage", endpoint: func(e *hook.Endpoint) { e.MaxInFlight, e.Circuit.Failures, e.Circuit.Cooldown = 2, 2, time.Minute }, events: 4,
		answers: []int{503, 200}, most: 2, posts: 8, state: hook.StateDelivered, probes: true,
	},
}

// slotRun is one run of a flow.
type slotRun struct {
	*bundle

	endpoint hook.Endpoint
	ids      []hook.DeliveryRef
	requests world.InFlight
	longest  time.Duration // of a lease, from now
	effects  int           // of the flow
}

// startSlots returns a run of the flow with its events in the queue live. Its goroutines run one at a
// time: otherwise the order of the calls would depend on the machine.
func startSlots(t *testing.T, flow int) *slotRun {
	t.Helper()

	tt := slotFlows[flow]
	w := &slotRun{bundle: &bundle{world.New(t, world.Options{
		Function: world.Deliver, Delays: []time.Duration{10 * time.Second, time.Minute, time.Minute, time.Minute}, Circuits: true, Unproven: true, InTurn: true,
	})}}
	w.endpoint = w.Endpoint(tt.endpoint)
	answer := world.InTurn(tt.answers...)
	w.Answer = func(r send.Request) hook.Outcome {
		defer w.requests.Begin()()
		w.look(w.requests.Now())
		w.InvokeAll()
		w.Clock.Pass(50 * time.Millisecond)
		w.InvokeAll()
		return answer(r)
	}
	w.ids = w.PostMany(w.endpoint, tt.events)
	return w
}

// look records the longest lease, and checks that the endpoint has no more requests than its
// answers allow.
func (w *slotRun) look(requests int) {
	limits, err := w.Store.Limits(w.T.Context(), w.endpoint.ID)
	if err != nil {
		w.T.Error(err)
	}
	for _, lease := range limits.Leases {
		w.longest = max(w.longest, lease.Until.Sub(w.Clock.Now()))
	}
	if open := max(admission.FirstSlots, limits.Slots); requests > open {
		w.T.Errorf("%d requests at once; want at most %d", requests, open)
	}
}

// finish runs the flow to its end, and checks that the deliveries end as they do undisturbed. more
// is the highest number of additional POSTs.
func (w *slotRun) finish(flow, more int) {
	w.T.Helper()

	tt := slotFlows[flow]
	w.Now()
	w.RunFor(40 * time.Minute)
	if got, want := w.States(w.ids), fmt.Sprintf("%d %s", tt.events, tt.state); len(got) < len(want) || got[:len(want)] != want {
		w.T.Errorf("deliveries are %s; want %s", got, want)
	}
	if extra := len(w.Posts) - tt.posts; extra < 0 || extra > more {
		w.T.Errorf("%d POSTs; want %d and at most %d more", len(w.Posts), tt.posts, more)
	}
	if got := w.requests.Most(); got > tt.most || got < min(admission.FirstSlots, tt.events) && more == 0 && tt.endpoint == nil {
		w.T.Errorf("%d requests at once; want at most %d, and the first slots in use", got, tt.most)
	}
	if most := admission.LeaseFor + 2*time.Second; w.longest > most {
		w.T.Errorf("a lease of %s; want at most %s", w.longest, most)
	}
	w.checkIdle()
	w.effects = w.Crash.Effects()
	w.Crash.Disarm()
	w.Calls.Fail = nil
	w.Answer = world.Always(200)
	next := w.Post(w.endpoint)
	if w.Now(); w.States(next) != "1 delivered" {
		w.T.Errorf("an event afterwards is %s; want it delivered at once", w.States(next))
	}
}

// checkIdle checks that no slot and no share is in use, and that no delivery is recorded as
// waiting.
func (w *slotRun) checkIdle() {
	w.T.Helper()

	limits, err := w.Store.Limits(w.T.Context(), w.endpoint.ID)
	if n := limits.InFlight(w.Clock.Now()); n > 0 || err != nil {
		w.T.Errorf("%d slots are in use, %v; want none", n, err)
	}
	shares, err := w.Store.Shares(w.T.Context(), world.Tenant)
	if n := shares.InFlight(w.Clock.Now()); n > 0 || err != nil {
		w.T.Errorf("%d shares are in use, %v; want none", n, err)
	}
	if r := w.Circuit(w.endpoint); r.Waiting || !r.AttendAt.IsZero() {
		w.T.Errorf("record = %+v; want the endpoint forgotten", r)
	}
}

// TestSlots_SurviveACrash kills the process before and after each effect of every flow: the
// lease, the move, the record of the attempt, the hand-over and its task. The message comes
// again after a minute. Nothing is lost, no slot stays in use, and the limit holds.
func TestSlots_SurviveACrash(t *testing.T) {
	t.Parallel()

	for flow, tt := range slotFlows {
		for _, twice := range []bool{false, true} {
			run := func(t *testing.T, at int, after bool) (effects int) {
				t.Helper()

				synctest.Test(t, func(t *testing.T) {
					w := startSlots(t, flow)
					w.Calls.Twice = twice
					w.Crash.Arm(at, after)
					more := min(at, 1)
					if twice && tt.probes {
						more = tt.posts
					}
					w.finish(flow, more)
					effects = w.effects
				})
				return effects
			}
			t.Run(fmt.Sprintf("%s, each task twice: %t", tt.name, twice), func(t *testing.T) {
				t.Parallel()

				effects := run(t, 0, false)
				if effects < 4 {
					t.Fatalf("the undisturbed flow has %d effects; want at least 4", effects)
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

// TestSlots_SurviveOthersAtAnyCall lets everything else that is due happen before each call of
// every flow, also while the process pauses for most of its time. So other processes settle, hand
// over, park and fill between any two steps of a process.
func TestSlots_SurviveOthersAtAnyCall(t *testing.T) {
	t.Parallel()

	for _, stall := range []time.Duration{0, 55 * time.Second} {
		t.Run(stall.String(), func(t *testing.T) {
			t.Parallel()

			eachCall(t, 0, func(w *slotRun, _ string) {
				w.Clock.Pass(stall)
				w.Now()
			})
		})
	}
}

// TestSlots_SurviveALostAnswer loses the response to each write and each message of every flow. A
// task may then be sent twice, and a claim may stay unused until its lease ends.
func TestSlots_SurviveALostAnswer(t *testing.T) {
	t.Parallel()

	eachCall(t, 1, func(w *slotRun, call string) { w.Calls.Lose(call) })
}

// eachCall runs every flow once for each of its calls, with a disturbance before that call. more
// is the highest number of additional POSTs.
func eachCall(t *testing.T, more int, disturb func(w *slotRun, call string)) {
	t.Helper()

	for flow, tt := range slotFlows {
		run := func(t *testing.T, at int) (calls int) {
			t.Helper()

			synctest.Test(t, func(t *testing.T) {
				w := startSlots(t, flow)
				made := w.Calls.Disturb(at, func(call string) { disturb(w, call) })
				w.finish(flow, more)
				calls = made()
			})
			return calls
		}
		t.Run(tt.name, func(t *testing.T) {
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
