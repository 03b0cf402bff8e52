package replay_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestWork_StopsAtTheLimit checks that a job replays the oldest deliveries up to its limit,
// across pages and endpoints, and that a second job that starts at that time takes the rest.
func TestWork_StopsAtTheLimit(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		limit int
		rate  float64
		want  int
	}{
		{limit: 1, rate: 50, want: 1},
		{limit: 10, rate: 50, want: 10},
		{limit: 10, rate: 0.3, want: 10}, // pages of 3
		{limit: 12, rate: 50, want: 12},
		{limit: 13, rate: 50, want: 12},
	} {
		t.Run(fmt.Sprintf("%d of 12 at %g a second", tt.limit, tt.rate), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(400)
			ids := append(w.past(w.Endpoint(nil), hook.StateDead, 5), w.past(w.Endpoint(nil), hook.StateDead, 7)...)
			j := w.start(replay.JobRequest{Terms: replay.Terms{Limit: tt.limit, Rate: tt.rate}})
			w.Run()
			got := w.job(j.ID)
			if got.State != replay.JobFinished || got.Enqueued != tt.want || got.Dead != tt.want || got.Skipped != 0 || got.Selected != tt.want {
				t.Errorf("the job is %s: %d selected, %d enqueued, %d skipped, %d dead; want finished with %d", got.State, got.Selected, got.Enqueued, got.Skipped, got.Dead, tt.want)
			}
			rest := w.start(replay.JobRequest{Filter: replay.Filter{To: got.Filter.To}})
			w.Run()
			if got := w.job(rest.ID); got.Enqueued != 12-tt.want || w.states(ids, 3) != "12 none" {
				t.Errorf("the rest are %d, third generations %s; want %d and none", got.Enqueued, w.states(ids, 3), 12-tt.want)
			}
		})
	}
}

// A skipped delivery does not count towards the limit.
func TestWork_LimitCountsReplays(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(503) // the replays wait for a retry
	ids := w.past(w.Endpoint(nil), hook.StateDead, 6)
	for _, id := range ids[:2] {
		if _, err := w.Replayer().Delivery(w.Context(), "acme", id.DeliveryID, asked); err != nil {
			t.Fatal(err)
		}
	}
	j := w.start(replay.JobRequest{Terms: replay.Terms{Limit: 3}})
	w.Clock.Until(start.Add(2 * time.Second))
	w.Work()
	got := w.job(j.ID)
	if diff := cmp.Diff(map[replay.Skip]int{replay.SkipReplayed: 2}, got.SkippedBy); diff != "" || got.Enqueued != 3 || got.Skipped != 2 || got.State != replay.JobFinished {
		t.Errorf("the job is %s: %d enqueued, %d skipped; want 3 and 2 already replayed (-want +got):\n%s", got.State, got.Enqueued, got.Skipped, diff)
	}
	if replayed := w.Delivery(ids[5]).Replayed.Generation; replayed != 0 {
		t.Errorf("the sixth delivery is replayed as %d; want no replay", replayed)
	}
}

// TestWork_CountsSkippedByReason changes deliveries between the selection and the page.
func TestWork_CountsSkippedByReason(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		want     replay.Skip
		discards bool
		change   func(w *bundle, d *hook.Delivery)
	}{
		{want: replay.SkipReplayed, change: func(_ *bundle, d *hook.Delivery) { d.Replayed = hook.Replayed{Generation: 2, At: start} }},
		{want: replay.SkipReplayed, discards: true, change: func(_ *bundle, d *hook.Delivery) { d.Replayed = hook.Replayed{Generation: 2, At: start} }},
		{want: replay.SkipExpires, change: func(_ *bundle, d *hook.Delivery) { d.ExpiresAt = start.Add(hook.MaxMaxAge) }},
		{want: "", discards: true, change: func(_ *bundle, d *hook.Delivery) { d.ExpiresAt = start.Add(hook.MaxMaxAge) }},
		{want: replay.SkipErased, change: func(_ *bundle, d *hook.Delivery) { d.Erased = true }},
		{want: "", discards: true, change: func(_ *bundle, d *hook.Delivery) { d.Erased = true }},
		{want: "", change: func(*bundle, *hook.Delivery) {}},
	} {
		t.Run(fmt.Sprintf("%q, discards %t", tt.want, tt.discards), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.past(w.Endpoint(nil), hook.StateDead, 1)[0]
			w.change(id, func(d *hook.Delivery) { tt.change(w, d) })
			j := w.start(replay.JobRequest{Terms: replay.Terms{Action: replay.Action(tt.discards)}})
			w.Clock.Until(start.Add(2 * time.Second))
			w.Work()
			var want map[replay.Skip]int
			if tt.want != "" {
				want = map[replay.Skip]int{tt.want: 1}
			}
			got := w.job(j.ID)
			if diff := cmp.Diff(want, got.SkippedBy); diff != "" || got.Selected != 1 || got.Enqueued+got.Skipped != 1 || got.Skipped != len(want) {
				t.Errorf("%d selected, %d enqueued, %d skipped (-want +got):\n%s", got.Selected, got.Enqueued, got.Skipped, diff)
			}
		})
	}
}

// TestWork_SelectsByTimeOfDeath selects a delivery that was created long before, but died within
// the period.
func TestWork_SelectsByTimeOfDeath(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	since := start.Add(-24 * time.Hour)
	at := func(created, died time.Time) hook.DeliveryRef {
		id := w.one(e, hook.StateDead, "order.paid", created)
		w.change(id, func(d *hook.Delivery) { d.UpdatedAt = died })
		return id
	}
	late, exact := at(start.Add(-13*24*time.Hour), start.Add(-time.Hour)), at(since.Add(-time.Hour), since)
	early := at(since.Add(-time.Hour), since.Add(-time.Millisecond))
	p, err := w.Replayer().DryRun(w.Context(), "acme", replay.JobRequest{Filter: replay.Filter{DiedSince: since}, Terms: replay.Terms{Rate: 1}})
	if err != nil || p.Total != 2 || !p.Complete {
		t.Errorf("DryRun = %d, complete %t, %v; want 2", p.Total, p.Complete, err)
	}
	a, err := w.Replayer().Analyse(w.Context(), "acme", 24*time.Hour)
	if err != nil || a.Total != p.Total {
		t.Errorf("Analyse = %d, %v; want %d as the dry run", a.Total, err, p.Total)
	}
	w.start(replay.JobRequest{Filter: replay.Filter{DiedSince: since}})
	w.Run()
	for id, want := range map[hook.DeliveryRef]string{late: "1 delivered", exact: "1 delivered", early: "1 none"} {
		if got := w.states([]hook.DeliveryRef{id}, 2); got != want {
			t.Errorf("the new generation of the delivery dead since %s is %s; want %s", w.Delivery(id).UpdatedAt, got, want)
		}
	}
}

// TestWork_Discards checks that a job discards the selected dead deliveries, sends nothing, and
// counts exactly, also if the worker dies before or after any effect.
func TestWork_Discards(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for n, ended := 0, false; !ended; n++ {
			inTurn(t, func(w *bundle) {
				t := w.T
				ids := append(w.past(w.Endpoint(nil), hook.StateDead, 4), w.past(w.Endpoint(nil), hook.StateDead, 3)...)
				other := w.past(w.Endpoint(nil), hook.StateDelivered, 1)
				j := w.start(replay.JobRequest{Terms: replay.Terms{Action: replay.ActionDiscard, Rate: 0.3}}) // pages of 3
				if n > 0 {
					w.Crash.Arm(n, after)
				}
				w.Run()
				if n > 0 && w.Crash.Deaths() == 0 {
					if n < 12 {
						t.Errorf("the job has %d effects; want at least 12: a write per delivery and two per page", n-1)
					}
					ended = true
					return
				}
				name := fmt.Sprintf("killed at effect %d (after: %t)", n, after)
				got := w.job(j.ID)
				if got.State != replay.JobFinished || got.Selected != 7 || got.Enqueued != 7 || got.Skipped != 0 || got.Outcomes != (replay.Outcomes{}) {
					t.Errorf("%s: job = %+v; want 7 discarded", name, got)
				}
				if states := w.states(ids, 1); states != "7 discarded manual" || w.states(ids, 2) != "7 none" || len(w.PostsOf()) != 0 {
					t.Errorf("%s: %s, second generations %s, %d posts; want them discarded, and no post", name, states, w.states(ids, 2), len(w.PostsOf()))
				}
				if d := w.Delivery(ids[0]); d.By != j.By || d.Note != "by job "+string(j.ID) {
					t.Errorf("%s: discarded by %s, %q; want the key and the job", name, d.By, d.Note)
				}
				if states := w.states(other, 1); states != "1 delivered" {
					t.Errorf("%s: the delivered delivery is %s", name, states)
				}
			})
		}
	}
}

// After an event expires, a later event with the same idempotency key gets the same id, while the
// dead delivery of the first is not removed yet. A job that selects the old delivery discards that,
// and leaves the new one alone.
func TestWork_DiscardsNothingOfALaterEvent(t *testing.T) {
	t.Parallel()

	w := setup(t)
	later := w.past(w.Endpoint(nil), hook.StateDead, 1)[0]
	earlier := w.Delivery(later)
	at := start.Add(-2 * time.Hour)
	place := later
	place.AcceptedAt = at.UnixMilli()
	earlier = earlier.At(place)
	earlier.CreatedAt, earlier.Version = at, 0
	w.Save(earlier)
	j := w.start(replay.JobRequest{Filter: replay.Filter{To: start.Add(-90 * time.Minute)}, Terms: replay.Terms{Action: replay.ActionDiscard}})
	w.Run()
	if got := w.job(j.ID); got.Selected != 1 || got.Enqueued != 1 || w.Delivery(place).State != hook.StateDiscarded {
		t.Errorf("job = %+v, the old delivery is %s; want it discarded", got, w.Delivery(place).State)
	}
	if d := w.Delivery(later); d.State != hook.StateDead {
		t.Errorf("the delivery of the later event is %s; want dead", d.State)
	}
}

// A delivery that someone discards between the selection and the page is not counted as
// discarded by the job.
func TestWork_DiscardsOnlyItsOwn(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	id := w.past(e, hook.StateDead, 1)[0]
	w.past(w.Endpoint(nil), hook.StateDead, 2)
	j := w.start(replay.JobRequest{Terms: replay.Terms{Action: replay.ActionDiscard}})
	var discarded atomic.Bool
	w.Calls.Fail = func(call string, of hook.EndpointID) error {
		if call == "write delivery" && of == e.ID && !discarded.Swap(true) { // the job is about to write this one
			if _, err := w.Replayer().Discard(w.Context(), "acme", id.DeliveryID, "key_other", "by hand"); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	w.Run()
	got := w.job(j.ID)
	if diff := cmp.Diff(map[replay.Skip]int{replay.SkipChanged: 1}, got.SkippedBy); diff != "" || got.Enqueued != 2 || got.Skipped != 1 {
		t.Errorf("%d discarded, %d skipped; want 2 and 1 (-want +got):\n%s", got.Enqueued, got.Skipped, diff)
	}
	if d := w.Delivery(id); d.Note != "by hand" {
		t.Errorf("the note is %q; want the first one", d.Note)
	}
}
