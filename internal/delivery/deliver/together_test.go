package deliver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// windowed makes an endpoint with windows of 5 s.
func windowed(change func(e *hook.Endpoint)) func(e *hook.Endpoint) {
	return func(e *hook.Endpoint) {
		e.Coalesce = hook.Coalescing{Window: 5 * time.Second}.WithDefaults()
		e.Circuit.Failures = 100
		if change != nil {
			change(e)
		}
	}
}

// accept posts events with the payloads to function ingest, and returns their deliveries.
func accept(w *world.World, e hook.Endpoint, payloads ...string) (refs []hook.DeliveryRef) {
	w.T.Helper()

	a := w.Acceptor()
	for _, payload := range payloads {
		w.Clock.Pass(time.Millisecond)
		result, err := a.Accept(w.T.Context(), world.Tenant, ingest.Request{Type: "order.paid", Payload: []byte(payload)})
		if err != nil {
			w.T.Fatal(err)
		}
		event, err := w.Store.Event(w.T.Context(), result.ID)
		if err != nil {
			w.T.Fatal(err)
		}
		ref, _ := event.Ref(e.ID, 1)
		refs = append(refs, ref)
	}
	return refs
}

// numbered returns n payloads.
func numbered(n int) []string {
	payloads := make([]string, n)
	for i := range payloads {
		payloads[i] = fmt.Sprintf(`{ "n":%d, "html":"<&>" }`, i)
	}
	return payloads
}

// document is the body of a batch, as a receiver reads it.
type document struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Events []struct {
		ID       hook.EventID    `json:"id"`
		Type     string          `json:"type"`
		Delivery hook.DeliveryID `json:"delivery_id"`
		Attempt  int             `json:"attempt"`
		Payload  json.RawMessage `json:"payload"`
	} `json:"events"`
}

func parseDocument(t *testing.T, e *hook.Event) (d document) {
	t.Helper()

	if err := json.Unmarshal(e.Payload, &d); err != nil {
		t.Fatalf("the body %s: %v", e.Payload, err)
	}
	if d.ID != string(e.ID) || d.Type != "webhook.batch" || e.Type != d.Type {
		t.Errorf("request %s of type %s has the document %s of type %s", e.ID, e.Type, d.ID, d.Type)
	}
	return d
}

func TestCoalesce_EventsOfAWindowAreFewRequests(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(nil))
	payloads := numbered(250)
	refs := accept(w, e, payloads...)
	w.Run()

	if got := w.States(refs); got != "250 delivered" {
		t.Errorf("states = %s", got)
	}
	var sizes []int
	var got []string
	for _, p := range w.Posts {
		d := parseDocument(t, p.Event)
		sizes = append(sizes, len(d.Events))
		for _, one := range d.Events {
			got = append(got, string(one.Payload))
		}
		if end := e.Coalesce.End(world.Start()); p.At.Before(end) || p.At.After(end.Add(hook.CoalesceGather+time.Second)) {
			t.Errorf("a request at %s; want the end of the window, %s", p.At, end)
		}
	}
	if fmt.Sprint(sizes) != "[100 100 50]" {
		t.Errorf("requests with %v events; want 100, 100 and 50", sizes)
	}
	if strings.Join(got, "\n") != strings.Join(payloads, "\n") {
		t.Error("the payloads are not delivered byte for byte, in the order of acceptance")
	}
	leader := w.Delivery(refs[0]).Last.Batch
	if leader.Leader != refs[0].DeliveryID || len(leader.Members) != 100 || leader.Size != 100 {
		t.Errorf("the leader's batch = %+v", leader)
	}
	if member := w.Delivery(refs[7]).Last.Batch; member.ID != leader.ID || member.Leader != leader.Leader || member.Members != nil {
		t.Errorf("a member's batch = %+v; want %s of %s without members", member, leader.ID, leader.Leader)
	}
}

func TestCoalesce_BoundsCutARequest(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Coalesce.MaxEvents, e.Coalesce.MaxBytes = 3, 2000 }))
	large := `"` + strings.Repeat("x", 1500) + `"`
	accept(w, e, large, large, "1", "2", "3", `"`+strings.Repeat("x", 3000)+`"`)
	w.Run()

	var sizes []int
	for _, p := range w.Posts {
		sizes = append(sizes, len(parseDocument(t, p.Event).Events))
	}
	seen := make(map[int]int)
	for _, n := range sizes {
		seen[n]++
	}
	if len(sizes) != 4 || seen[1] != 3 || seen[3] != 1 {
		t.Errorf("requests with %v events; want one with 3 and three with 1", sizes)
	}
}

// rejectsPoison answers 400 to a request with an event that says poison, and 200 to others.
func rejectsPoison() func(send.Request) hook.Outcome {
	return world.Status(func(r send.Request) int {
		if strings.Contains(string(r.Event.Payload), "poison") {
			return 400
		}
		return 200
	})
}

func TestCoalesce_ARejectedEventDoesNotAffectTheOthers(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second, time.Second}})
	e := w.Endpoint(windowed(nil))
	refs := accept(w, e, "1", `"poison"`, "3")
	w.Answer = rejectsPoison()
	w.Run()

	if got := w.States(refs); got != "1 dead rejected, 2 delivered" || len(w.Posts) != 4 {
		t.Errorf("states = %s after %d requests; want the poison dead, after a request for all and one for each", got, len(w.Posts))
	}
	if got := w.Attempts(refs[1]); fmt.Sprint(got) != "[1 refused 2 refused]" {
		t.Errorf("attempts of the poison = %v", got)
	}
}

// If the rejected request was the last attempt of the policy, each event has one more, alone.
func TestCoalesce_ARejectedEventDoesNotAffectTheLastAttemptOfTheOthers(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second}})
	e := w.Endpoint(windowed(nil))
	refs := accept(w, e, "1", `"poison"`, "3")
	w.Answer = world.Always(503)
	w.Step()
	w.Answer = rejectsPoison()
	w.Run()

	if got := w.States(refs); got != "1 dead rejected, 2 delivered" || len(w.Posts) != 5 {
		t.Errorf("states = %s after %d requests; want the poison dead, after two requests for all and one for each", got, len(w.Posts))
	}
	if got := w.Attempts(refs[1]); fmt.Sprint(got) != "[1 unavailable 2 refused 3 refused]" {
		t.Errorf("attempts of the poison = %v", got)
	}
}

func TestCoalesce_EachMemberHasItsRetryPlan(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{7 * time.Second}})
	e := w.Endpoint(windowed(nil))
	first := accept(w, e, numbered(3)...)
	w.Answer = world.Always(503)
	w.Step()
	w.Answer = world.Always(200)
	w.Clock.Until(w.Delivery(first[0]).NextAttemptAt.Add(-time.Second))
	late := accept(w, e, numbered(2)...)
	w.Run()

	if got := w.States(append(first, late...)); got != "5 delivered" {
		t.Errorf("states = %s", got)
	}
	last := parseDocument(t, w.Posts[len(w.Posts)-1].Event)
	if len(w.Posts) != 2 || len(last.Events) != 5 {
		t.Errorf("%d requests, the last with %d events; want 2, and the 3 retries with the 2 events of their window", len(w.Posts), len(last.Events))
	}
}

// A task from another queue, such as one of a release or a schedule, joins the next window.
func TestCoalesce_ATaskOfAnotherQueueJoinsTheNextWindow(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(nil))
	refs := w.PostMany(e, 12)
	w.Run()

	if got := w.States(refs); got != "12 delivered" || len(w.Posts) != 1 {
		t.Errorf("states = %s after %d requests; want one request", got, len(w.Posts))
	}
}

func TestCoalesce_RateAndSlotsCountRequests(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Unproven: true, Delays: []time.Duration{time.Minute}})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.RatePerSecond, e.Coalesce.MaxEvents = 0.5, 10 }))
	refs := accept(w, e, numbered(1000)...)
	w.Run()

	if got := w.States(refs); got != "1000 delivered" {
		t.Errorf("states = %s", got)
	}
	if n := len(w.Posts); n < 100 || n > 110 {
		t.Errorf("%d requests; want about 100", n)
	}
	const span = 10
	for i := span; i < len(w.Posts); i++ { // gathering the tasks can delay a request by some seconds
		if took := w.Posts[i].At.Sub(w.Posts[i-span].At); took < 2*span*time.Second-2*hook.CoalesceGather {
			t.Errorf("requests %d to %d took %s; want about 2 s for each", i-span, i, took)
		}
	}
}

func TestCoalesce_AnOutageParksAndTheReleaseCoalesces(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Circuits: true, Delays: []time.Duration{time.Minute, time.Minute, time.Minute, time.Hour}})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Circuit.Failures, e.Circuit.Cooldown = 2, time.Minute }))
	down := true
	w.Answer = world.Status(func(send.Request) int {
		if down {
			return 503
		}
		return 200
	})
	var refs []hook.DeliveryRef
	for range 3 {
		refs = append(refs, accept(w, e, numbered(100)...)...)
		w.RunFor(6 * time.Second)
	}
	if got := w.States(refs); !strings.Contains(got, "parked circuit_open") {
		t.Fatalf("states in the outage = %s; want parked deliveries", got)
	}
	before := len(w.Posts)
	down = false
	w.RunFor(time.Hour)

	if got := w.States(refs); got != "300 delivered" {
		t.Errorf("states = %s", got)
	}
	if n := len(w.Posts) - before; n > 30 {
		t.Errorf("%d requests after the outage for 300 events; want few", n)
	}
	if probe := w.Posts[before]; len(parseDocument(t, probe.Event).Events) != 1 {
		t.Errorf("the probe has %d events; want 1", len(parseDocument(t, probe.Event).Events))
	}
}

// A crash repeats at most the request, and loses no event. The repeated request has the members
// without a record.
func TestCoalesce_NoCrashLosesAMember(t *testing.T) {
	t.Parallel()

	for _, flow := range []struct {
		name    string
		change  func(e *hook.Endpoint)
		answers []int
		state   string
	}{
		{name: "a success", answers: []int{200}, state: "4 delivered"},
		{name: "a retry", answers: []int{503, 200}, state: "4 delivered"},
		{name: "a rejection", answers: []int{404}, state: "4 dead rejected"},
		{name: "a death", answers: []int{503}, state: "4 dead exhausted"},
		{name: "slots", answers: []int{503, 200}, change: func(e *hook.Endpoint) { e.Coalesce.MaxEvents = 2 }, state: "4 delivered"},
	} {
		run := func(t *testing.T, n int, after bool) (w *world.World) {
			t.Helper()

			synctest.Test(t, func(t *testing.T) {
				w = world.New(t, world.Options{Function: world.Deliver, Unproven: flow.name == "slots", Delays: []time.Duration{time.Minute, time.Minute}, InTurn: true})
				e := w.Endpoint(windowed(flow.change))
				w.Answer = world.InTurn(flow.answers...)
				refs := accept(w, e, `{"k":1}`, `{"k":2}`, `{"k":1,"v":2}`, `{}`)
				w.Crash.Reset()
				if n > 0 {
					w.Crash.Arm(n, after)
				}
				w.Run()
				if got := w.States(refs); got != flow.state {
					t.Errorf("%s, dead at effect %d (after: %t): %s; want %s", flow.name, n, after, got, flow.state)
				}
			})
			return w
		}
		w := run(t, 0, false)
		effects, posts := w.Crash.Effects(), len(w.Posts)
		if effects < 4 {
			t.Fatalf("%s has %d effects", flow.name, effects)
		}
		for n := 1; n <= effects; n += world.Stride() {
			for _, after := range []bool{false, true} {
				if w := run(t, n, after); len(w.Posts) > posts+4 { // one more request, and its members are separate from then on
					t.Errorf("%s, dead at effect %d (after: %t): %d requests; want at most %d", flow.name, n, after, len(w.Posts), posts+4)
				}
			}
		}
	}
}

func TestCoalesce_APanicOfTheRequestFailsAllMembers(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(nil))
	refs := accept(w, e, numbered(3)...)
	w.Answer = func(send.Request) hook.Outcome { panic("broken") }
	w.Step()
	w.Answer = world.Always(200)
	w.Run()

	if got := w.States(refs); got != "3 delivered" {
		t.Errorf("states = %s", got)
	}
}

// A storm of 10,000 events in one second at one endpoint, with and without coalescing.
func TestCoalesce_AStormIsAHundredRequests(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("10,000 events")
	}

	const events, posts = 10_000, 100
	storm := func(change func(e *hook.Endpoint)) *world.World {
		w := world.New(t, world.Options{Function: world.Deliver})
		e := w.Endpoint(change)
		a := w.Acceptor()
		var refs []hook.DeliveryRef
		for i := range posts {
			batch := make([]ingest.Request, events/posts)
			for n := range batch {
				batch[n] = ingest.Request{Type: "order.paid", Payload: fmt.Appendf(nil, `{"n":%d}`, i*len(batch)+n)}
			}
			for _, result := range a.AcceptBatch(t.Context(), world.Tenant, batch) {
				event, err := w.Store.Event(t.Context(), result.ID)
				if err != nil || result.Err != nil {
					t.Fatal(err, result.Err)
				}
				ref, _ := event.Ref(e.ID, 1)
				refs = append(refs, ref)
			}
			w.Clock.Pass(time.Second / posts)
		}
		w.Run()
		if got := w.States(refs); got != "10000 delivered" {
			t.Errorf("states = %s", got)
		}
		return w
	}
	with, without := storm(windowed(nil)), storm(nil)
	if n := len(with.Posts); n < events/hook.MaxCoalesceEvents || n > 110 {
		t.Errorf("%d requests; want about %d", n, events/hook.MaxCoalesceEvents)
	}
	if n := len(without.Posts); n != events {
		t.Errorf("%d requests without coalescing; want %d", n, events)
	}
	// Without crashes, a storm costs no more writes per event than without coalescing.
	if a, b := with.Crash.Effects(), without.Crash.Effects(); a > b {
		t.Errorf("%d effects of function deliver, and %d without coalescing", a, b)
	}
}

// With the shortest max_age that the API accepts for a window, every event is still delivered.
func TestCoalesce_TheShortestMaxAgeOutlivesTheWindow(t *testing.T) {
	t.Parallel()

	for _, window := range []time.Duration{hook.MinCoalesceWindow, hook.MaxCoalesceWindow} {
		w := world.New(t, world.Options{Function: world.Deliver})
		e := w.Endpoint(func(e *hook.Endpoint) {
			e.Coalesce = hook.Coalescing{Window: window}.WithDefaults()
			e.MaxAge = window + hook.MinMaxAgeAfterWindow
		})
		refs := accept(w, e, numbered(10)...)
		w.Run()
		if got := w.States(refs); got != "10 delivered" {
			t.Errorf("window %s, max_age %s: %s; want 10 delivered", window, e.MaxAge, got)
		}
	}
}
