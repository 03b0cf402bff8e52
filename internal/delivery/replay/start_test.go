package replay_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

func TestStart_ChecksTheRequest(t *testing.T) {
	t.Parallel()

	e := setup(t).Endpoint(func(e *hook.Endpoint) { e.UID = "billing" })
	tests := []struct {
		name string
		q    replay.JobRequest
		want []string // fields
	}{
		{name: "only a rate", q: replay.JobRequest{Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "an endpoint by id", q: replay.JobRequest{Terms: replay.Terms{Rate: 50}, Endpoint: string(e.ID)}, want: nil},
		{name: "an endpoint by uid", q: replay.JobRequest{Terms: replay.Terms{Rate: 50}, Endpoint: "billing"}, want: nil},
		{name: "an unknown id", q: replay.JobRequest{Terms: replay.Terms{Rate: 50}, Endpoint: string(hook.NewEndpointID())}, want: []string{"filter.endpoint"}},
		{name: "an unknown uid", q: replay.JobRequest{Terms: replay.Terms{Rate: 50}, Endpoint: "sales"}, want: []string{"filter.endpoint"}},
		{name: "an invalid uid", q: replay.JobRequest{Terms: replay.Terms{Rate: 50}, Endpoint: "a b"}, want: []string{"filter.endpoint"}},
		{name: "parked", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateParked}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "delivered", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateDelivered}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "discarded", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateDiscarded}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "queued", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateQueued}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.state"}},
		{name: "retrying", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateRetrying}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.state"}},
		{name: "cancelled", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateCancelled}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.state"}},
		{name: "an unknown state", q: replay.JobRequest{Filter: replay.Filter{State: 99}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.state"}},
		{name: "patterns", q: replay.JobRequest{Filter: replay.Filter{Types: []string{"order.paid", "order.*", "*"}}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "invalid patterns", q: replay.JobRequest{Filter: replay.Filter{Types: []string{"order.paid", "or*er", ""}}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.event_types[1]", "filter.event_types[2]"}},
		{name: "MaxTypes types", q: replay.JobRequest{Filter: replay.Filter{Types: slices.Repeat([]string{"a"}, replay.MaxTypes)}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "one type too many", q: replay.JobRequest{Filter: replay.Filter{Types: slices.Repeat([]string{"a"}, replay.MaxTypes+1)}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.event_types"}},
		{name: "a range", q: replay.JobRequest{Filter: replay.Filter{From: start.Add(-2 * time.Hour), To: start.Add(-time.Hour)}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "a class and a status", q: replay.JobRequest{Filter: replay.Filter{Class: replay.Cause(hook.ClassRefused), Status: 599}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "a status too low", q: replay.JobRequest{Filter: replay.Filter{Status: 99}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.status"}},
		{name: "a status too high", q: replay.JobRequest{Filter: replay.Filter{Status: 600}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.status"}},
		{name: "a status without an attempt", q: replay.JobRequest{Filter: replay.Filter{Class: replay.NoAttempt, Status: 500}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.status"}},
		{name: "an empty range", q: replay.JobRequest{Filter: replay.Filter{From: start.Add(-time.Hour), To: start.Add(-time.Hour)}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.until"}},
		{name: "from now", q: replay.JobRequest{Filter: replay.Filter{From: start}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.since"}},
		{name: "a moment ago", q: replay.JobRequest{Filter: replay.Filter{From: start.Add(-time.Millisecond), To: start.Add(time.Hour)}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "the lowest rate", q: replay.JobRequest{Terms: replay.Terms{Rate: replay.MinRate}}, want: nil},
		{name: "the highest rate", q: replay.JobRequest{Terms: replay.Terms{Rate: replay.MaxRate}}, want: nil},
		{name: "no rate", q: replay.JobRequest{}, want: []string{"rate_per_second"}},
		{name: "a rate too low", q: replay.JobRequest{Terms: replay.Terms{Rate: 0.09}}, want: []string{"rate_per_second"}},
		{name: "a rate too high", q: replay.JobRequest{Terms: replay.Terms{Rate: 500.1}}, want: []string{"rate_per_second"}},
		{name: "not a number", q: replay.JobRequest{Terms: replay.Terms{Rate: math.NaN()}}, want: []string{"rate_per_second"}},
		{name: "a limit of 1", q: replay.JobRequest{Terms: replay.Terms{Rate: 50, Limit: 1}}, want: nil},
		{name: "the highest limit", q: replay.JobRequest{Terms: replay.Terms{Rate: 50, Limit: replay.MaxLimit}}, want: nil},
		{name: "a limit too high", q: replay.JobRequest{Terms: replay.Terms{Rate: 50, Limit: replay.MaxLimit + 1}}, want: []string{"limit"}},
		{name: "a limit too low", q: replay.JobRequest{Terms: replay.Terms{Rate: 50, Limit: -1}}, want: []string{"limit"}},
		{name: "dead a moment ago", q: replay.JobRequest{Filter: replay.Filter{DiedSince: start.Add(-time.Millisecond)}, Terms: replay.Terms{Rate: 50}}, want: nil},
		{name: "dead from now", q: replay.JobRequest{Filter: replay.Filter{DiedSince: start}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.died_since"}},
		{name: "parked and dead since", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateParked, DiedSince: start.Add(-time.Hour)}, Terms: replay.Terms{Rate: 50}}, want: []string{"filter.died_since"}},
		{name: "a discard", q: replay.JobRequest{Terms: replay.Terms{Rate: 50, Action: replay.ActionDiscard}}, want: nil},
		{name: "a discard of parked", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateParked}, Terms: replay.Terms{Rate: 50, Action: replay.ActionDiscard}}, want: []string{"action"}},
		{name: "a discard with an added endpoint", q: replay.JobRequest{Terms: replay.Terms{Rate: 50, Action: replay.ActionDiscard}, AddTo: "billing"}, want: []string{"action"}},
		{name: "everything", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateQueued}, Endpoint: "sales"}, want: []string{"filter.state", "rate_per_second", "filter.endpoint"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Endpoint(func(same *hook.Endpoint) { same.ID, same.UID = e.ID, e.UID })
			_, startErr := w.Replayer().Start(w.Context(), "acme", tt.q)
			_, dryErr := w.Replayer().DryRun(w.Context(), "acme", tt.q)
			for _, err := range []error{startErr, dryErr} {
				var got []string
				if fault, ok := errors.AsType[*hook.Error](err); ok {
					for _, f := range fault.Fields {
						got = append(got, f.Field)
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != (len(tt.want) > 0) {
					t.Errorf("%+v: %v (-want +got):\n%s", tt.q, err, diff)
				}
			}
		})
	}
}

func TestStart_MakesNoJobWithoutAQueue(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Crash.Arm(1, false)
	_, err := w.Replayer().Start(w.Context(), "acme", replay.JobRequest{Terms: replay.Terms{Rate: 1}})
	if hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Start() = %v; want unavailable", err)
	}
	if jobs, err := w.Replayer().Store.Jobs(w.Context(), "acme", "", 10); err != nil || len(jobs) > 0 {
		t.Errorf("List() = %d jobs, %v; want none", len(jobs), err)
	}
}

// TestStart_SlowSave delivers the first message before the job is saved.
func TestStart_SlowSave(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 3)
	w.Calls.Before("write replay", func() {
		for w.Clock.Now().Before(start.Add(30 * time.Second)) {
			w.Step()
		}
	})
	j := w.start(replay.JobRequest{})
	if took := w.Clock.Now().Sub(start); took < 30*time.Second {
		t.Fatalf("the save of the job took %s; want at least 30 s", took)
	}
	w.Run()
	if got := w.job(j.ID); got.State != replay.JobFinished || w.states(ids, 2) != "3 delivered" {
		t.Errorf("the job is %s, deliveries are %s; want finished and delivered", got.State, w.states(ids, 2))
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a, b := w.Endpoint(func(e *hook.Endpoint) { e.UID = "a" }), w.Endpoint(nil)
	w.Endpoint(nil) // without deliveries
	inA := w.past(a, hook.StateDead, 250)
	inB := w.past(b, hook.StateDead, 3)
	w.past(b, hook.StateDelivered, 2)
	odd := w.one(b, hook.StateDead, "user.left", start.Add(-2*time.Hour))
	refused := w.one(b, hook.StateDead, "order.lost", start.Add(-time.Minute))
	w.change(refused, func(d *hook.Delivery) { d.Last = hook.Outcome{Class: hook.ClassRefused, Status: 422} })
	never := w.one(b, hook.StateDead, "order.lost", start.Add(-time.Minute))
	w.change(never, func(d *hook.Delivery) { d.Attempts, d.Last = 0, hook.Outcome{} })
	tests := []struct {
		name   string
		q      replay.JobRequest
		a, b   int
		sample []hook.DeliveryRef
	}{
		{name: "all dead deliveries", q: replay.JobRequest{}, a: 250, b: 6, sample: append([]hook.DeliveryRef{odd}, inA[:9]...)},
		{name: "all delivered deliveries", q: replay.JobRequest{Filter: replay.Filter{State: hook.StateDelivered}}, a: 0, b: 2, sample: nil},
		{name: "of one endpoint", q: replay.JobRequest{Endpoint: "a"}, a: 250, b: 0, sample: inA[:10]},
		{name: "of one type", q: replay.JobRequest{Filter: replay.Filter{Types: []string{"user.*"}}}, a: 0, b: 1, sample: []hook.DeliveryRef{odd}},
		{name: "of another type", q: replay.JobRequest{Filter: replay.Filter{Types: []string{"order.paid", "none"}}}, a: 250, b: 3, sample: inA[:10]},
		{name: "of a class", q: replay.JobRequest{Filter: replay.Filter{Class: replay.Cause(hook.ClassRefused)}}, a: 0, b: 1, sample: []hook.DeliveryRef{refused}},
		{name: "of a status", q: replay.JobRequest{Filter: replay.Filter{Status: 503}}, a: 250, b: 4, sample: append([]hook.DeliveryRef{odd}, inA[:9]...)},
		{name: "of a class and another status", q: replay.JobRequest{Filter: replay.Filter{Class: replay.Cause(hook.ClassRefused), Status: 401}}},
		{name: "without an attempt", q: replay.JobRequest{Filter: replay.Filter{Class: replay.NoAttempt}}, a: 0, b: 1, sample: []hook.DeliveryRef{never}},
		{name: "of a time range", q: replay.JobRequest{Filter: replay.Filter{From: start.Add(-time.Hour - 2*time.Second), To: start.Add(-time.Hour - time.Second)}}, a: 1, b: 1, sample: []hook.DeliveryRef{inA[248], inB[1]}},
		{name: "of a time range and a type", q: replay.JobRequest{Filter: replay.Filter{From: start.Add(-3 * time.Hour), To: start.Add(-2*time.Hour + 1), Types: []string{"*"}}}, a: 0, b: 1, sample: []hook.DeliveryRef{odd}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tt.q.Rate = 1
			p, err := w.Replayer().DryRun(w.Context(), "acme", tt.q)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[hook.EndpointID]int)
			for _, c := range p.ByEndpoint {
				got[c.Endpoint] = c.Count
			}
			want := map[hook.EndpointID]int{}
			if tt.a > 0 {
				want[a.ID] = tt.a
			}
			if tt.b > 0 {
				want[b.ID] = tt.b
			}
			if diff := cmp.Diff(want, got); diff != "" || p.Total != tt.a+tt.b || !p.Complete {
				t.Errorf("DryRun(%+v) = %d, complete %t (-want +got):\n%s", tt.q, p.Total, p.Complete, diff)
			}
			var sample []hook.DeliveryRef
			for _, d := range p.Sample {
				sample = append(sample, d.Ref())
			}
			byID := cmpopts.SortSlices(func(a, b hook.DeliveryRef) bool { return a.String() < b.String() })
			if diff := cmp.Diff(tt.sample, sample, byID); diff != "" && tt.sample != nil {
				t.Errorf("sample (-want +got):\n%s", diff)
			}
		})
	}
	if jobs, err := w.Replayer().Store.Jobs(w.Context(), "acme", "", 10); err != nil || len(jobs) > 0 {
		t.Errorf("jobs after dry runs: %d, %v; want none", len(jobs), err)
	}
}

func TestDryRun_ReportsAnIncompleteResult(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.past(w.Endpoint(nil), hook.StateDead, 400)
	r := w.Replayer()
	reads := 0
	r.Now = func() time.Time { // every reading of the clock takes 6 s
		reads++
		return start.Add(time.Duration(reads) * 6 * time.Second)
	}
	p, err := r.DryRun(w.Context(), "acme", replay.JobRequest{Filter: replay.Filter{Types: []string{"order.*"}}, Terms: replay.Terms{Rate: 1}})
	if err != nil || p.Complete || p.Total == 0 || p.Total >= 400 || len(p.Sample) != replay.SampleSize {
		t.Errorf("DryRun() = %d, complete %t, %d shown, %v; want some, not complete", p.Total, p.Complete, len(p.Sample), err)
	}
}

func TestList_PagesOfJobs(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var want []hook.JobID
	for range 105 {
		j := w.start(replay.JobRequest{})
		if _, err := w.Replayer().CancelJob(w.Context(), "acme", j.ID); err != nil {
			t.Fatal(err)
		}
		want = append([]hook.JobID{j.ID}, want...)
	}
	slices.SortFunc(want, func(a, b hook.JobID) int { return strings.Compare(string(b), string(a)) })
	for _, limit := range []int{1, 100, replay.MaxListed} {
		var got []hook.JobID
		for before := hook.JobID(""); ; {
			page, err := w.Replayer().Store.Jobs(w.Context(), "acme", before, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("Jobs(%d) = %d jobs, %v", limit, len(page), err)
			}
			for _, j := range page {
				got = append(got, j.ID)
			}
			if len(page) < limit {
				break
			}
			before = got[len(got)-1]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("jobs in pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	if _, err := w.Replayer().Job(w.Context(), "other", want[0]); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Job() of another tenant = %v; want not found", err)
	}
}

func TestCancelJob(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.past(w.Endpoint(nil), hook.StateDead, 300)
	j := w.start(replay.JobRequest{})
	for range 2 {
		p, err := w.Replayer().CancelJob(w.Context(), "acme", j.ID)
		if err != nil || p.State != replay.JobCancelled || !p.EndedAt.Equal(start) || !p.ExpiresAt.Equal(start.Add(replay.KeepJobs)) {
			t.Errorf("CancelJob() = %+v, %v; want cancelled now, kept for %s", p, err, replay.KeepJobs)
		}
	}
	w.Run()
	if got := w.job(j.ID); got.Selected != 0 || len(w.PostsOf()) != 0 {
		t.Errorf("the cancelled job selected %d, with %d POSTs; want none", got.Selected, len(w.PostsOf()))
	}
	done := w.start(replay.JobRequest{Filter: replay.Filter{Types: []string{"none"}}})
	w.Run()
	if _, err := w.Replayer().CancelJob(w.Context(), "acme", done.ID); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("CancelJob() of a finished job = %v; want a conflict", err)
	}
	if _, err := w.Replayer().CancelJob(w.Context(), "other", j.ID); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("CancelJob() of another tenant = %v; want not found", err)
	}
}

// TestCancelJob_EndsWithThePage cancels during a page, with and without a crash of the
// worker.
func TestCancelJob_EndsWithThePage(t *testing.T) {
	t.Parallel()

	for _, effect := range []string{"send", "write delivery", "write replay"} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %s, the worker dies %t", effect, dies), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				ids := w.past(w.Endpoint(nil), hook.StateDead, 1000)
				j := w.start(replay.JobRequest{})
				for range 6 {
					w.Step()
				}
				before := w.job(j.ID)
				w.Calls.Before(effect, func() {
					if _, err := w.Replayer().CancelJob(w.Context(), "acme", j.ID); err != nil {
						t.Errorf("CancelJob() = %v", err)
					}
					if dies {
						w.Crash.Arm(1, false)
					}
				})
				w.Run()
				got := w.job(j.ID)
				if got.State != replay.JobCancelled || got.Selected > before.Selected+replay.PageSize || got.Selected >= 1000 {
					t.Errorf("the job is %s: %d selected, %d before; want at most one page more", got.State, got.Selected, before.Selected)
				}
				if got.Enqueued != got.Selected || len(got.Pending) > 0 || got.Delivered != got.Selected || len(w.PostsOf()) != got.Selected {
					t.Errorf("%d selected, %d enqueued, %d delivered with %d POSTs, %d pending; want them equal and none pending",
						got.Selected, got.Enqueued, got.Delivered, len(w.PostsOf()), len(got.Pending))
				}
				if want := fmt.Sprintf("%d delivered, %d none", got.Selected, 1000-got.Selected); w.states(ids, 2) != want {
					t.Errorf("new generations are %s; want %s", w.states(ids, 2), want)
				}
			})
		}
	}
}
