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

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

func TestStart_ChecksTheRequest(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	e := w.endpoint(func(e *hook.Endpoint) { e.UID = "billing" })
	tests := []struct {
		name string
		q    replay.JobRequest
		want []string // fields
	}{
		{"nothing but a rate", replay.JobRequest{Rate: 50}, nil},
		{"an endpoint by id", replay.JobRequest{Rate: 50, Endpoint: string(e.ID)}, nil},
		{"an endpoint by uid", replay.JobRequest{Rate: 50, Endpoint: "billing"}, nil},
		{"an unknown id", replay.JobRequest{Rate: 50, Endpoint: string(hook.NewEndpointID())}, []string{"filter.endpoint"}},
		{"an unknown uid", replay.JobRequest{Rate: 50, Endpoint: "sales"}, []string{"filter.endpoint"}},
		{"what is no uid", replay.JobRequest{Rate: 50, Endpoint: "a b"}, []string{"filter.endpoint"}},
		{"parked", replay.JobRequest{Rate: 50, State: hook.StateParked}, nil},
		{"delivered", replay.JobRequest{Rate: 50, State: hook.StateDelivered}, nil},
		{"discarded", replay.JobRequest{Rate: 50, State: hook.StateDiscarded}, nil},
		{"queued", replay.JobRequest{Rate: 50, State: hook.StateQueued}, []string{"filter.state"}},
		{"retrying", replay.JobRequest{Rate: 50, State: hook.StateRetrying}, []string{"filter.state"}},
		{"cancelled", replay.JobRequest{Rate: 50, State: hook.StateCancelled}, []string{"filter.state"}},
		{"no state that there is", replay.JobRequest{Rate: 50, State: 99}, []string{"filter.state"}},
		{"patterns", replay.JobRequest{Rate: 50, Types: []string{"order.paid", "order.*", "*"}}, nil},
		{"no patterns", replay.JobRequest{Rate: 50, Types: []string{"order.paid", "or*er", ""}}, []string{"filter.event_types[1]", "filter.event_types[2]"}},
		{"as many types as there may be", replay.JobRequest{Rate: 50, Types: slices.Repeat([]string{"a"}, replay.MaxTypes)}, nil},
		{"one type too many", replay.JobRequest{Rate: 50, Types: slices.Repeat([]string{"a"}, replay.MaxTypes+1)}, []string{"filter.event_types"}},
		{"a range", replay.JobRequest{Rate: 50, From: start.Add(-2 * time.Hour), To: start.Add(-time.Hour)}, nil},
		{"an empty range", replay.JobRequest{Rate: 50, From: start.Add(-time.Hour), To: start.Add(-time.Hour)}, []string{"filter.to"}},
		{"from now on", replay.JobRequest{Rate: 50, From: start}, []string{"filter.from"}},
		{"a moment ago", replay.JobRequest{Rate: 50, From: start.Add(-time.Millisecond), To: start.Add(time.Hour)}, nil},
		{"the lowest rate", replay.JobRequest{Rate: replay.MinRate}, nil},
		{"the highest rate", replay.JobRequest{Rate: replay.MaxRate}, nil},
		{"no rate", replay.JobRequest{}, []string{"rate_per_second"}},
		{"too low a rate", replay.JobRequest{Rate: 0.09}, []string{"rate_per_second"}},
		{"too high a rate", replay.JobRequest{Rate: 500.1}, []string{"rate_per_second"}},
		{"no number", replay.JobRequest{Rate: math.NaN()}, []string{"rate_per_second"}},
		{"everything", replay.JobRequest{Endpoint: "sales", State: hook.StateQueued}, []string{"filter.state", "rate_per_second", "filter.endpoint"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, startErr := w.replayer().Start(t.Context(), "acme", tt.q)
			_, dryErr := w.replayer().DryRun(t.Context(), "acme", tt.q)
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

func TestStart_WithoutAQueueMakesNoJob(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.crash.at = 1
	_, err := w.replayer().Start(t.Context(), "acme", replay.JobRequest{Rate: 1})
	if hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Start() = %v; want unavailable", err)
	}
	if jobs, err := w.replayer().List(t.Context(), "acme", "", 10); err != nil || len(jobs) > 0 {
		t.Errorf("List() = %d jobs, %v; want none", len(jobs), err)
	}
}

// TestStart_SlowlyWritten lets the first message come before its job is there.
func TestStart_SlowlyWritten(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	ids := w.past(w.endpoint(nil), hook.StateDead, 3)
	w.spy.between = map[string]func(){"save job": func() {
		for range 50 {
			w.step()
		}
	}}
	j := w.start(replay.JobRequest{})
	if took := w.clock().Sub(start); took < 30*time.Second {
		t.Fatalf("only %s went by before the job was written", took)
	}
	w.run()
	if got := w.job(j.ID); got.State != replay.JobFinished || w.states(ids, 2) != "3 delivered" {
		t.Errorf("the job is %s, deliveries are %s; want finished and delivered", got.State, w.states(ids, 2))
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	a, b := w.endpoint(func(e *hook.Endpoint) { e.UID = "a" }), w.endpoint(nil)
	w.endpoint(nil) // has nothing
	inA := w.past(a, hook.StateDead, 250)
	inB := w.past(b, hook.StateDead, 3)
	w.past(b, hook.StateDelivered, 2)
	odd := w.one(b, hook.StateDead, "user.left", start.Add(-2*time.Hour))
	tests := []struct {
		name   string
		q      replay.JobRequest
		a, b   int
		sample []hook.DeliveryID
	}{
		{"all that is dead", replay.JobRequest{}, 250, 4, append([]hook.DeliveryID{odd}, inA[:9]...)},
		{"all that was delivered", replay.JobRequest{State: hook.StateDelivered}, 0, 2, nil},
		{"of one endpoint", replay.JobRequest{Endpoint: "a"}, 250, 0, inA[:10]},
		{"of one type", replay.JobRequest{Types: []string{"user.*"}}, 0, 1, []hook.DeliveryID{odd}},
		{"of another type", replay.JobRequest{Types: []string{"order.paid", "none"}}, 250, 3, inA[:10]},
		{"of a time", replay.JobRequest{From: start.Add(-time.Hour - 2*time.Second), To: start.Add(-time.Hour - time.Second)}, 1, 1, []hook.DeliveryID{inA[248], inB[1]}},
		{"of a time and a type", replay.JobRequest{From: start.Add(-3 * time.Hour), To: start.Add(-2*time.Hour + 1), Types: []string{"*"}}, 0, 1, []hook.DeliveryID{odd}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tt.q.Rate = 1
			p, err := w.replayer().DryRun(t.Context(), "acme", tt.q)
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
			var sample []hook.DeliveryID
			for _, d := range p.Sample {
				sample = append(sample, d.ID)
			}
			byID := cmpopts.SortSlices(func(a, b hook.DeliveryID) bool { return a.String() < b.String() })
			if diff := cmp.Diff(tt.sample, sample, byID); diff != "" && tt.sample != nil {
				t.Errorf("sample (-want +got):\n%s", diff)
			}
		})
	}
	if jobs, err := w.replayer().List(t.Context(), "acme", "", 10); err != nil || len(jobs) > 0 {
		t.Errorf("after dry runs there are %d jobs, %v; want none", len(jobs), err)
	}
}

func TestDryRun_SaysWhatItCouldNotSee(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.past(w.endpoint(nil), hook.StateDead, 400)
	r := w.replayer()
	reads := 0
	r.Now = func() time.Time { // every look at the clock takes six seconds
		reads++
		return start.Add(time.Duration(reads) * 6 * time.Second)
	}
	p, err := r.DryRun(t.Context(), "acme", replay.JobRequest{Types: []string{"order.*"}, Rate: 1})
	if err != nil || p.Complete || p.Total == 0 || p.Total >= 400 || len(p.Sample) != replay.SampleSize {
		t.Errorf("DryRun() = %d, complete %t, %d shown, %v; want some, not complete", p.Total, p.Complete, len(p.Sample), err)
	}
}

func TestList_PagesOfJobs(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	var want []hook.JobID
	for range 105 {
		want = append([]hook.JobID{w.start(replay.JobRequest{}).ID}, want...)
	}
	slices.SortFunc(want, func(a, b hook.JobID) int { return strings.Compare(string(b), string(a)) })
	for _, limit := range []int{1, 100, 101, 200} {
		var got []hook.JobID
		for before := hook.JobID(""); ; {
			page, err := w.replayer().List(t.Context(), "acme", before, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("List(%d) = %d jobs, %v", limit, len(page), err)
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
	if _, err := w.replayer().Job(t.Context(), "other", want[0]); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Job() of another tenant = %v; want not found", err)
	}
}

func TestCancelJob(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.past(w.endpoint(nil), hook.StateDead, 300)
	j := w.start(replay.JobRequest{})
	for range 2 {
		p, err := w.replayer().CancelJob(t.Context(), "acme", j.ID)
		if err != nil || p.State != replay.JobCancelled || !p.EndedAt.Equal(start) || !p.ExpiresAt.Equal(start.Add(replay.KeepJobs)) {
			t.Errorf("CancelJob() = %+v, %v; want cancelled now, kept for %s", p, err, replay.KeepJobs)
		}
	}
	w.run()
	if got := w.job(j.ID); got.Selected != 0 || len(w.posts) != 0 {
		t.Errorf("the cancelled job selected %d, with %d POSTs; want none", got.Selected, len(w.posts))
	}
	done := w.start(replay.JobRequest{Types: []string{"none"}})
	w.run()
	if _, err := w.replayer().CancelJob(t.Context(), "acme", done.ID); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("CancelJob() of a finished job = %v; want a conflict", err)
	}
	if _, err := w.replayer().CancelJob(t.Context(), "other", j.ID); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("CancelJob() of another tenant = %v; want not found", err)
	}
}

// TestCancelJob_EndsWithThePage cancels in the midst of a page, also of one whose worker dies.
func TestCancelJob_EndsWithThePage(t *testing.T) {
	t.Parallel()

	for _, effect := range []string{"send", "save delivery", "save job"} {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %s, the worker dies %t", effect, dies), func(t *testing.T) {
				t.Parallel()

				w := newWorld(t)
				ids := w.past(w.endpoint(nil), hook.StateDead, 1000)
				j := w.start(replay.JobRequest{})
				for range 6 {
					w.step()
				}
				before := w.job(j.ID)
				w.spy.mu.Lock()
				w.spy.between = map[string]func(){effect: func() {
					if _, err := w.replayer().CancelJob(t.Context(), "acme", j.ID); err != nil {
						t.Errorf("CancelJob() = %v", err)
					}
					if dies {
						w.crash.mu.Lock()
						w.crash.at = w.crash.effect + 1
						w.crash.mu.Unlock()
					}
				}}
				w.spy.mu.Unlock()
				w.run()
				got := w.job(j.ID)
				if got.State != replay.JobCancelled || got.Selected > before.Selected+replay.PageSize || got.Selected >= 1000 {
					t.Errorf("the job is %s: %d selected, of them %d before; want a page more at most", got.State, got.Selected, before.Selected)
				}
				if got.Enqueued != got.Selected || len(got.Pending) > 0 || got.Delivered != got.Selected || len(w.posts) != got.Selected {
					t.Errorf("%d selected, %d enqueued, %d delivered with %d POSTs, %d pending; want them equal and none pending",
						got.Selected, got.Enqueued, got.Delivered, len(w.posts), len(got.Pending))
				}
				if want := fmt.Sprintf("%d delivered, %d none", got.Selected, 1000-got.Selected); w.states(ids, 2) != want {
					t.Errorf("new generations are %s; want %s", w.states(ids, 2), want)
				}
			})
		}
	}
}
