package replay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestWork_KilledAtAnyEffect kills the worker of a job before and after each effect, once and
// twice in a row. A new process receives the same message. In every case each delivery gets one
// new generation and one POST, and the totals are exact.
func TestWork_KilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	for _, state := range []hook.State{hook.StateDead, hook.StateParked, hook.StateDelivered, hook.StateDiscarded} {
		for _, after := range []bool{false, true} {
			for _, twice := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, after the effect %t, twice %t", state, after, twice), func(t *testing.T) {
					t.Parallel()

					effects := 0
					for n := 1; ; n++ {
						if !killWorker(t, state, n, after, twice) {
							break
						}
						effects = n
					}
					// Two writes per page, a request per task, a write per record, a message per page.
					if want := 20; effects < want {
						t.Errorf("the job has %d effects; want at least %d", effects, want)
					}
				})
			}
		}
	}
}

func killWorker(t *testing.T, state hook.State, n int, after, twice bool) (died bool) {
	t.Helper()

	inTurn(t, func(w *bundle) {
		t := w.T
		good, bad := w.Endpoint(nil), w.Endpoint(nil)
		w.Answer = world.Status(func(r send.Request) int {
			if r.Endpoint.ID == bad.ID {
				return 400
			}
			return 200
		})
		ids := append(w.past(good, state, 4), w.past(bad, state, 3)...)
		j := w.start(replay.JobRequest{Filter: replay.Filter{State: state}, Terms: replay.Terms{Rate: 0.3}}) // pages of 3
		if twice {
			w.Crash.ArmTwice(n, after)
		} else {
			w.Crash.Arm(n, after)
		}
		w.Run()
		if w.Crash.Deaths() == 0 {
			return // the job has fewer than n effects
		}

		got := w.job(j.ID)
		want := replay.Progress{Job: got.Job, Outcomes: replay.Outcomes{Delivered: 4, Dead: 3}}
		want.State, want.Selected, want.Enqueued, want.Skipped, want.Pending = replay.JobFinished, 7, 7, 0, nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed at effect %d: job (-want +got):\n%s", n, diff)
		}
		if got, want := w.states(ids, 2), "3 dead rejected, 4 delivered"; got != want {
			t.Errorf("killed at effect %d: new generations are %s; want %s", n, got, want)
		}
		if got, want := w.states(ids, 3), "7 none"; got != want {
			t.Errorf("killed at effect %d: third generations are %s; want %s", n, got, want)
		}
		old := map[hook.State]string{
			hook.StateDead: "7 discarded replayed", hook.StateParked: "7 cancelled replayed",
			hook.StateDelivered: "7 delivered", hook.StateDiscarded: "7 discarded manual",
		}
		if got, want := w.states(ids, 1), old[state]; got != want {
			t.Errorf("killed at effect %d: old generations are %s; want %s", n, got, want)
		}
		for id, posts := range w.PostsOf() {
			if posts != 1 || id.Generation != 2 {
				t.Errorf("killed at effect %d: %s had %d POSTs; want one of each second generation", n, id, posts)
			}
		}
		if len(w.PostsOf()) != 7 {
			t.Errorf("killed at effect %d: %d deliveries had a POST; want 7", n, len(w.PostsOf()))
		}
		died = true
	})
	return died
}

// TestStart_KilledAtAnyEffect checks that after a crash a worker finishes a job that was saved,
// and drops the message of one that was not.
func TestStart_KilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		at   int
		after,
		wantJob bool
	}{
		{name: "before the message", at: 1, after: false, wantJob: false},
		{name: "after the message", at: 1, after: true, wantJob: false},
		{name: "before the job", at: 2, after: false, wantJob: false},
		{name: "after the job", at: 2, after: true, wantJob: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.past(w.Endpoint(nil), hook.StateDead, 3)
			w.Crash.Arm(tt.at, tt.after)
			if _, err := w.Replayer().Start(w.Context(), "acme", replay.JobRequest{Terms: replay.Terms{Rate: 1}}); err == nil {
				t.Fatal("Start() with a crash = nil; want an error")
			}
			w.Crash.Restart()
			w.Run()
			jobs, err := w.Replayer().Store.Jobs(w.Context(), "acme", "", 100)
			if err != nil {
				t.Fatal(err)
			}
			if tt.wantJob != (len(jobs) == 1) {
				t.Fatalf("%d jobs; want one: %t", len(jobs), tt.wantJob)
			}
			if tt.wantJob && (jobs[0].State != replay.JobFinished || jobs[0].Enqueued != 3) {
				t.Errorf("the job is %s with %d enqueued; want finished with 3", jobs[0].State, jobs[0].Enqueued)
			}
		})
	}
}

// TestDelivery_KilledAtAnyEffect repeats the request for a replay after a crash.
func TestDelivery_KilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		state hook.State
		force bool
		old   string // the state of the old generation in the end
		late  bool   // the repeated request comes after the task
	}{
		{name: "dead, repeated at once", state: hook.StateDead, force: false, old: "1 discarded replayed", late: false},
		{name: "dead, repeated later", state: hook.StateDead, force: false, old: "1 discarded replayed", late: true},
		{name: "parked, repeated at once", state: hook.StateParked, force: true, old: "1 cancelled replayed", late: false},
		{name: "parked, repeated later", state: hook.StateParked, force: true, old: "1 cancelled replayed", late: true},
		{name: "retrying, repeated at once", state: hook.StateRetrying, force: true, old: "1 cancelled replayed", late: false},
		{name: "delivered, repeated later", state: hook.StateDelivered, force: false, old: "1 delivered", late: true},
	}
	for _, tt := range tests {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after the effect %t", tt.name, after), func(t *testing.T) {
				t.Parallel()

				for n := 1; ; n++ {
					w := setup(t)
					ids := w.past(w.Endpoint(nil), tt.state, 1)
					w.Crash.Arm(n, after)
					ask := replay.Request{By: "key_0000000000000001", Force: tt.force}
					d, err := w.Replayer().Delivery(w.Context(), "acme", ids[0].DeliveryID, ask)
					if !w.Crash.Restart() {
						if n < 3 {
							t.Fatalf("the replay has %d effects; want at least 2", n-1)
						}
						break
					}
					if err == nil && d.ID.Generation != 2 {
						t.Errorf("Delivery() = generation %d; want 2", d.ID.Generation)
					}
					if tt.late {
						w.Run()
					}
					_, err = w.Replayer().Delivery(w.Context(), "acme", ids[0].DeliveryID, ask)
					if code := hook.CodeOf(err); err != nil && code != hook.CodeReplayed {
						t.Errorf("killed at effect %d, repeated: %v", n, err)
					}
					w.Run()
					if got := w.states(ids, 2); got != "1 delivered" {
						t.Errorf("killed at effect %d: the new generation is %s; want delivered", n, got)
					}
					if got := w.states(ids, 1); got != tt.old {
						t.Errorf("killed at effect %d: the old generation is %s; want %s", n, got, tt.old)
					}
					if second := ids[0].Successor(); len(w.PostsOf()) != 1 || w.PostsOf()[second] != 1 {
						t.Errorf("killed at effect %d: POSTs %v; want one of %s", n, w.PostsOf(), second)
					}
				}
			})
		}
	}
}

// TestEnd_KilledAtAnyEffect discards and cancels replays of a job. After a repeated request, the
// counts of the job and the state of the previous generation are right.
func TestEnd_KilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	for _, discard := range []bool{true, false} {
		effects := 4 // the delivery, the outcome of the job, the generation before, and its death
		if discard {
			effects = 2 // the dead generation before was retired by the replay's death
		}
		for _, after := range []bool{false, true} {
			for n := 1; n <= effects+1; n++ {
				t.Run(fmt.Sprintf("discard %t, effect %d, after it %t", discard, n, after), func(t *testing.T) {
					t.Parallel()

					w := setup(t)
					w.Answer = world.Always(400)
					ids := w.past(w.Endpoint(nil), hook.StateDead, 1)
					j := w.start(replay.JobRequest{})
					w.Clock.Until(start.Add(time.Second))
					w.Work()
					second := ids[0].Successor()
					end := w.Replayer().Cancel
					if discard {
						w.Run()
						end = w.Replayer().Discard
					}
					w.Crash.Arm(n, after)
					_, err := end(w.Context(), "acme", second.DeliveryID, "key_0000000000000001", "")
					w.Crash.Disarm()
					if died := w.Crash.Restart(); died != (n <= effects) || died == (err == nil && !w.missed()) {
						t.Fatalf("died %t, %v; want %d effects", died, err, effects)
					}
					d, err := end(w.Context(), "acme", second.DeliveryID, "key_0000000000000001", "")
					if err != nil || d.Reason != hook.ReasonManual {
						t.Fatalf("repeated: %s %s, %v; want manual", d.State, d.Reason, err)
					}
					w.Run()
					if got := w.states(ids, 1); got != "1 discarded replayed" {
						t.Errorf("the replayed delivery is %s; want discarded", got)
					}
					want := replay.Outcomes{Cancelled: 1}
					if discard {
						want = replay.Outcomes{Dead: 1}
					}
					if diff := cmp.Diff(want, w.job(j.ID).Outcomes); diff != "" {
						t.Errorf("counts (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}
