package breaker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

func throttled(left time.Duration, then func(r admission.Record) admission.Record) func(r admission.Record) admission.Record {
	return func(r admission.Record) admission.Record {
		r = then(r)
		r.ThrottledUntil = start.Add(left)
		return r
	}
}

// Before the end of Retry-After, a check sends no task.
func TestReconcile_SendsNothingWithinRetryAfter(t *testing.T) {
	t.Parallel()

	const minute = time.Minute
	tests := []struct {
		name     string
		record   func(r admission.Record) admission.Record
		wave     int // of the check
		decision string
		checks   []int // their waves
		tasks    int
		attendIn time.Duration
	}{
		{name: "open, cooldown over", record: throttled(7*minute, open(0, 0)), decision: "await", checks: []int{0}, attendIn: 7 * minute},
		{name: "open, cooldown longer", record: throttled(7*minute, open(9*minute, 0)), decision: "await", checks: []int{0}, attendIn: 9 * minute},
		{name: "half-open, lease over", record: throttled(7*minute, halfOpen(0, 0)), decision: "await", checks: []int{0}, attendIn: 7 * minute},
		{name: "half-open, lease held", record: throttled(7*minute, halfOpen(minute, 0)), decision: "await", checks: []int{0}, attendIn: 7 * minute},
		{name: "closed, the first wave", record: throttled(7*minute, closed(1, -minute)), wave: 1, decision: "throttled", checks: []int{1}, attendIn: 7 * minute},
		{name: "closed, a later wave: from the first one on", record: throttled(7*minute, closed(3, -minute)), wave: 3, decision: "throttled", checks: []int{1}, attendIn: 7 * minute},
		{name: "closed, the tick", record: throttled(7*minute, closed(3, 0)), decision: "throttled", checks: []int{1}, attendIn: 7 * minute},
		{name: "closed, a stale check", record: throttled(7*minute, closed(3, minute)), wave: 2, decision: "stale", attendIn: minute},
		{name: "closed, a check beside the release", record: throttled(7*minute, closed(3, minute)), decision: "under_way", attendIn: minute},
		{name: "the throttle is over: open", record: throttled(0, open(0, 0)), decision: "probe", tasks: 1, attendIn: minute},
		{name: "the throttle is over: closed", record: throttled(0, closed(3, 0)), wave: 3, decision: "release", checks: []int{4}, tasks: 4, attendIn: minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			w.park(e, ages(9)...)
			w.record(e, tt.record)
			if err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: tt.wave}); err != nil {
				t.Fatalf("Reconcile() = %v", err)
			}
			if diff := cmp.Diff([]any{tt.decision}, w.attended("decision")); diff != "" {
				t.Errorf("decision differs (-want +got):\n%s", diff)
			}
			var checks []int
			for _, c := range w.Checks {
				checks = append(checks, c.Wave)
				if want := tt.attendIn; tt.decision != "release" && c.Delay != want {
					t.Errorf("the next check is due in %s; want %s", c.Delay, want)
				}
			}
			if diff := cmp.Diff(tt.checks, checks); diff != "" {
				t.Errorf("circuit checks differ (-want +got):\n%s", diff)
			}
			if got := len(w.Queue.Receive(hook.QueueRetry, 10)); got != tt.tasks {
				t.Errorf("%d tasks; want %d", got, tt.tasks)
			}
			if got := w.Circuit(e).AttendAt; !got.Equal(start.Add(tt.attendIn)) {
				t.Errorf("AttendAt is %s from now; want %s", got.Sub(start), tt.attendIn)
			}
		})
	}
}

// A probe is answered with 429 and a Retry-After of an hour. Until then the parked
// deliveries cost only a check every 15 minutes.
func TestRelease_WaitsForTheEndOfRetryAfter(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, ages(20)...)
	w.open(e)
	posts := 0
	w.Answer = func(send.Request) hook.Outcome {
		if posts++; posts == 1 {
			return hook.Outcome{Class: hook.ClassThrottled, Status: 429, RetryAfter: time.Hour}
		}
		return hook.Outcome{Class: hook.ClassDelivered, Status: 200}
	}
	w.RunFor(hook.DefaultCooldown + 59*time.Minute)
	if r := w.Circuit(e); r.State != circuit.Closed || posts != 1 {
		t.Fatalf("circuit is %s after %d attempts; want closed after 1", r.State, posts)
	}
	if got, want := w.States(ids), "19 parked circuit_open, 1 parked throttled"; got != want {
		t.Errorf("within Retry-After deliveries are %s; want %s", got, want)
	}
	if n := len(w.Checks); n > 8 {
		t.Errorf("%d circuit checks in an hour; want at most 8", n)
	}
	w.RunFor(3 * time.Minute)
	if got, want := w.States(ids), "20 delivered"; got != want {
		t.Errorf("after Retry-After deliveries are %s; want %s", got, want)
	}
}

// After a 429 the whole endpoint waits, and the delivery that got it with the others: it goes when
// the hold ends, and by its own schedule if the owner ends the hold at once.
func TestThrottle_HoldsTheDeliveryWithItsEndpoint(t *testing.T) {
	t.Parallel()

	for _, ends := range []time.Duration{time.Second, 20 * time.Minute, time.Hour} {
		t.Run("the hold ends after "+ends.String(), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = func(r send.Request) hook.Outcome {
				o := world.InTurn(429, 200)(r)
				o.RetryAfter = time.Hour
				return o
			}
			e := w.Endpoint(nil)
			id := w.Post(e)[0]
			w.RunFor(ends)
			if d := w.Delivery(id); d.State == hook.StateDelivered || d.Attempts != 1 {
				t.Fatalf("during the hold: %s after %d attempts", d.State, d.Attempts)
			}
			if ends < time.Hour {
				r := w.Circuit(e).Suspect(w.Clock.Now()).Reset(w.Clock.Now())
				if err := w.Store.SaveCircuit(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				if err := w.CircuitQueue.Enqueue(t.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: r.Wave}, 0); err != nil {
					t.Fatal(err)
				}
			}
			w.RunFor(15 * time.Second)
			if d := w.Delivery(id); d.State != hook.StateDelivered || d.Attempts != 2 {
				t.Errorf("15 s after the hold: %s after %d attempts; want delivered by the second", d.State, d.Attempts)
			}
		})
	}
}
