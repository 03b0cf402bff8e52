package breaker_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// TestOutage_EndsWithFewAttemptsAtATime parks 41 deliveries. The first probe fails, the second
// closes the circuit, and the other 40 deliveries go out, the oldest first, as each answer allows
// more concurrent attempts.
func TestOutage_EndsWithFewAttemptsAtATime(t *testing.T) {
	t.Parallel()

	for _, each := range []int{1, 3} {
		t.Run(fmt.Sprintf("each check is received %d times", each), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Receipts = each
			w.NoTicks = true // ticks matter only after a lost message
			e := w.Endpoint(nil)
			w.open(e)
			var posts atomic.Int32
			w.Answer = world.Status(func(send.Request) int {
				if posts.Add(1) == 1 {
					return 503
				}
				return 200
			})
			ids := w.PostMany(e, 41)
			w.RunFor(hook.DefaultCooldown - time.Second)
			if got, want := w.States(ids), "41 parked circuit_open"; got != want || len(w.Posts) > 0 {
				t.Fatalf("while the circuit is open deliveries are %s after %d POSTs; want %s after none", got, len(w.Posts), want)
			}
			w.RunFor(10 * time.Second)
			if r := w.Circuit(e); r.State != circuit.Open || r.Cooldown != 15*time.Second || len(w.Posts) != 1 {
				t.Fatalf("after the first probe the circuit is %s for %s after %d POSTs; want open for 15 s after 1", r.State, r.Cooldown, len(w.Posts))
			}
			w.RunFor(20 * time.Minute)

			if got, want := w.States(ids), "41 delivered"; got != want {
				t.Errorf("deliveries are %s; want %s", got, want)
			}
			var order []hook.DeliveryRef
			for _, p := range w.Posts[1:] {
				order = append(order, p.Ref())
			}
			// The failed probe made one attempt more than the others in the list.
			if at := slices.Index(order, ids[0]); at < len(order)/2 {
				t.Errorf("the delivery with a failure came as number %d; want it behind the others", at)
			}
			others := slices.DeleteFunc(order, func(id hook.DeliveryRef) bool { return id == ids[0] })
			if diff := cmp.Diff(ids[1:6], others[:5]); diff != "" {
				t.Errorf("the first deliveries; want the oldest (-want +got):\n%s", diff)
			}
			for i, id := range ids {
				d, err := w.Store.Delivery(t.Context(), id)
				if want := 1 + max(0, 1-i); err != nil || d.Attempts != want {
					t.Errorf("delivery %d made %d attempts, %v; want %d", i, d.Attempts, err, want)
				}
			}
		})
	}
}

func TestRelease_StopsWhenTheCircuitOpensAgain(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown = 10 * time.Minute })
	ids := w.park(e, ages(30)...)
	w.record(e, func(r admission.Record) admission.Record { return r.ExpectParked(w.Clock.Now()).Release(w.Clock.Now()) })
	w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: 1}, 0)
	w.Answer = world.Always(503)
	w.RunFor(5 * time.Minute)
	if diff := cmp.Diff([]int{1, 2, 4}, sizes(w.waves(ids))); diff != "" {
		t.Errorf("POSTs at a time until the fifth failure (-want +got):\n%s", diff)
	}
	if got, want := w.States(ids), "30 parked circuit_open"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	w.Answer = world.Always(200)
	w.RunFor(20 * time.Minute)
	if got, want := w.States(ids), "30 delivered"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
}

func TestProbe_TickRepeatsALostProbe(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, ages(3)...)
	w.record(e, open(0, 0))
	for range 3 {
		if err := w.Breaker().Tick(w.Context()); err != nil {
			t.Fatalf("Tick() = %v", err)
		}
		lost := w.Queue.Receive(hook.QueueRetry, 10)
		if len(lost) != 1 || lost[0].Task.Delivery != ids[0] {
			t.Fatalf("tasks = %v; want one task of the oldest delivery", lost)
		}
		w.Queue.Delete(lost[0].ID)
		w.Clock.Pass(59 * time.Second)
		if err := w.Breaker().Tick(w.Context()); err != nil || len(w.Queue.Receive(hook.QueueRetry, 10)) > 0 {
			t.Errorf("Tick() within the minute = %v, or sent another probe", err)
		}
		w.Clock.Pass(time.Second)
	}
	w.RunFor(time.Hour)
	if got, want := w.States(ids), "3 delivered"; got != want || len(w.Posts) != 3 {
		t.Errorf("deliveries are %s after %d POSTs; want %s after 3", got, len(w.Posts), want)
	}
}

// TestOutage_CostsTheSameForAnyBacklog counts the requests of deliver, gate and breaker to the
// store and the queues during an outage of 80 minutes.
func TestOutage_CostsTheSameForAnyBacklog(t *testing.T) {
	t.Parallel()

	var want map[string]int
	for _, n := range []int{1, 100, 10_000} {
		w := setup(t)
		e := w.Endpoint(nil)
		w.park(e, ages(n)...)
		w.open(e)
		w.Answer = world.Always(503)
		w.RunFor(80 * time.Minute)

		got := w.Calls.All()
		delete(got, "deliver: write attempt") // if the same delivery is probed again, its attempt before moves
		t.Logf("%5d wait: %d probes, %d requests", n, len(w.Posts), w.Calls.Total())
		if len(w.Posts) != 13 { // 12 in the first hour
			t.Errorf("%d POSTs with %d waiting; want 13", len(w.Posts), n)
		}
		if want == nil {
			want = got
		}
		// Each probe after the first reads at most 10 pages to find younger deliveries.
		const most = 12 * 10
		for _, call := range []string{"list parked", "read batch of delivery"} {
			if more := got[call] - want[call]; more < 0 || more > most {
				t.Errorf("%d requests %q more with %d waiting; want at most %d", more, call, n, most)
			}
			got[call] = want[call]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests with %d waiting and with 1 waiting (-1 +%d):\n%s", n, n, diff)
		}
	}
}

func TestDisabled_ExpiresInTimeWithFewChecks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(status(hook.StatusDisabled, 5*time.Hour))
	ids := w.PostMany(e, 2)
	w.Now()
	w.RunFor(5*time.Hour - time.Second)
	if got, want := w.States(ids), "2 parked disabled"; got != want {
		t.Fatalf("before max_age deliveries are %s; want %s", got, want)
	}
	w.RunFor(2 * time.Minute)
	if got, want := w.States(ids), "2 dead expired"; got != want || len(w.DeadLetters.Letters()) != 2 {
		t.Errorf("after max_age deliveries are %s with %d dead letters; want %s with 2", got, len(w.DeadLetters.Letters()), want)
	}
	w.RunFor(24 * time.Hour)
	if got := w.attended("decision"); len(got) > 10 || got[len(got)-1] != "forget" {
		t.Errorf("checks in 29 hours: %v; want at most 10, the last with decision forget", got)
	}
	if r := w.Circuit(e); r.Waiting || !r.AttendAt.IsZero() {
		t.Errorf("record = %+v; want a forgotten endpoint", r)
	}
}

// TestReconcile_SurvivesACrash kills the breaker before and after each of the
// effects, in every flow. The check comes again after a minute, and Tick runs every
// minute. The end is the same, with at most one more POST and one more letter.
func TestReconcile_SurvivesACrash(t *testing.T) {
	t.Parallel()

	flows := []struct {
		name     string
		record   func(r admission.Record) admission.Record
		endpoint func(e *hook.Endpoint)
		deleted  bool
		parked   []time.Duration
		states   string
		posts    int
		letters  int
		replays  *replay.Outcomes // non-nil: replays of a job, with the outcomes of the job
	}{
		{name: "release", record: closed(1, time.Minute), parked: ages(9), states: "9 delivered", posts: 9},
		{name: "probe and release", record: open(0, 0), parked: ages(4), states: "4 delivered", posts: 4},
		{
			name: "expiry", record: closed(0, 0), endpoint: status(hook.StatusPaused, time.Hour), parked: []time.Duration{3 * time.Hour, 2 * time.Hour},
			states: "2 dead expired", letters: 2,
		},
		{
			name: "expiry, probe and release", record: open(0, 0), parked: []time.Duration{90 * time.Hour, time.Minute, time.Second},
			states: "1 dead expired, 2 delivered", posts: 2, letters: 1,
		},
		{name: "deleted", record: open(0, 0), deleted: true, parked: ages(3), states: "3 cancelled endpoint_deleted"},
		{
			name: "expiry of replays", record: closed(0, 0), endpoint: status(hook.StatusPaused, time.Hour), parked: []time.Duration{3 * time.Hour, 2 * time.Hour},
			states: "2 dead expired", letters: 2, replays: &replay.Outcomes{Dead: 2},
		},
		{
			name: "deleted under replays", record: open(0, 0), deleted: true, parked: ages(2),
			states: "2 cancelled endpoint_deleted", replays: &replay.Outcomes{Cancelled: 2},
		},
	}
	for _, tt := range flows {
		run := func(t *testing.T, at int, after bool) (effects int) {
			t.Helper()

			inTurn(t, func(w *bundle) {
				t := w.T
				defer func() { effects = w.Crash.Effects() }()
				e := w.Endpoint(tt.endpoint)
				ids := w.park(e, tt.parked...)
				var replayed []hook.DeliveryRef
				if tt.replays != nil {
					replayed = w.replays(ids)
				}
				w.record(e, tt.record)
				if tt.deleted {
					if err := w.Store.DeleteEndpoint(t.Context(), e); err != nil {
						t.Fatal(err)
					}
				}
				w.Crash.Arm(at, after)
				w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: w.Circuit(e).Wave}, 0)
				w.Now()
				w.RunFor(30 * time.Minute)

				if got := w.States(ids); got != tt.states {
					t.Errorf("deliveries are %s; want %s", got, tt.states)
				}
				if extra := len(w.Posts) - tt.posts; extra < 0 || extra > min(at, 1) {
					t.Errorf("%d POSTs; want %d and at most one more after a crash", len(w.Posts), tt.posts)
				}
				if extra := len(w.DeadLetters.Letters()) - tt.letters; extra < 0 || extra > min(at, 1) {
					t.Errorf("%d dead letters; want %d and at most one more after a crash", len(w.DeadLetters.Letters()), tt.letters)
				}
				if r := w.Circuit(e); r.Waiting || !r.AttendAt.IsZero() {
					t.Errorf("record = %+v; want the endpoint forgotten", r)
				}
				if tt.replays == nil {
					return
				}
				outcomes, err := w.Store.JobOutcomes(t.Context(), someJob)
				if got, want := w.States(replayed), fmt.Sprintf("%d discarded replayed", len(ids)); got != want || err != nil || outcomes != *tt.replays {
					t.Errorf("previous generations are %s, and the job counted %+v, %v; want %s and %+v", got, outcomes, err, want, *tt.replays)
				}
			})
			return effects
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			effects := run(t, 0, false)
			if effects < 4 {
				t.Fatalf("the undisturbed flow has %d effects; want some", effects)
			}
			for at := 1; at <= effects; at++ {
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

// replays turns the parked deliveries into replays by someJob, and returns the
// replayed dead deliveries.
func (w *bundle) replays(ids []hook.DeliveryRef) []hook.DeliveryRef {
	w.T.Helper()

	var dead []hook.DeliveryRef
	for index, id := range ids {
		d, err := w.Store.Delivery(w.T.Context(), id)
		if err != nil {
			w.T.Fatal(err)
		}
		old, replay := d, d
		old.State, old.Reason, old.Replayed = hook.StateDead, hook.ReasonExhausted, hook.Replayed{Generation: 2, At: d.CreatedAt}
		replay.ID, replay.Version, replay.Job, replay.JobIndex = old.Successor().DeliveryID, 0, someJob, index
		for _, d := range []hook.Delivery{old, replay} {
			if err := w.Store.SaveDelivery(w.T.Context(), d, nil); err != nil {
				w.T.Fatal(err)
			}
		}
		ids[index], dead = replay.Ref(), append(dead, id)
	}
	return dead
}

const someJob hook.JobID = "rpl_01jd3m5k8zf4v9q2w7x6y5t4r3"
