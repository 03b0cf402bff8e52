package breaker_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/internal/store"
	"surehook.example/surehook/proof/world"
)

// slowly returns the counts of 20 attempts of 3 s.
func slowly() stats.Counts {
	var c stats.Counts
	c.Latency.AddN(latency.Bucket(3*time.Second), 20)
	return c
}

// dying returns the counts of 20 settled deliveries, the given number of them dead.
func dying(dead int) stats.Counts { return stats.Counts{Dead: dead, Delivered: 20 - dead} }

// longAgo makes the endpoint nine days old.
func longAgo(e *hook.Endpoint) {
	e.StatusSince, e.CreatedAt = start.AddDate(0, 0, -9), start.AddDate(0, 0, -9)
}

// warned returns the flags after a warning an hour ago.
func warned(level int) review.Flags {
	return review.Flags{Warned: level, WarnedAt: start.Add(-time.Hour)}
}

// warnedNow returns the flags after a warning in the quarter of an hour of the start.
func warnedNow(level int) review.Flags {
	return review.Flags{Warned: level, WarnedAt: start.Truncate(review.Every)}
}

// warn stores the second warning of an hour ago.
func (w *bundle) warn(e hook.Endpoint) {
	w.T.Helper()
	w.record(e, func(r admission.Record) admission.Record { r.Review = warned(review.WarnedTwice); return r })
}

// count adds counts for the endpoint at the time ago before now.
func (w *bundle) count(e hook.Endpoint, ago time.Duration, all ...stats.Counts) {
	w.T.Helper()

	for _, c := range all {
		if _, err := w.Store.Count(w.T.Context(), e.Tenant, e.ID, &c, w.Clock.Now().Add(-ago)); err != nil {
			w.T.Fatal(err)
		}
	}
}

func (w *bundle) review() {
	w.T.Helper()

	if err := w.Breaker().Review(w.Context()); err != nil {
		w.T.Errorf("Review() = %v; want nil", err)
	}
}

// pages gives each page of the review to a new process of the breaker.
func (w *bundle) pages() {
	w.T.Helper()

	for received := w.CircuitQueue.Receive(10); len(received) > 0; received = w.CircuitQueue.Receive(10) {
		for _, m := range received {
			if err := w.Breaker().ReviewPage(w.Context(), *m.Review); err != nil {
				w.T.Errorf("ReviewPage() = %v; want nil", err)
			}
			w.CircuitQueue.Delete(m.ID)
		}
	}
}

// stored returns the stored endpoint.
func (w *bundle) stored(e hook.Endpoint) hook.Endpoint {
	w.T.Helper()

	e, err := w.Store.Endpoint(w.T.Context(), e.Tenant, e.ID)
	if err != nil {
		w.T.Fatal(err)
	}
	return e
}

// notified returns the types of the notifications about the endpoint, once per key.
func (w *bundle) notified(e hook.Endpoint) []string {
	var types []string
	keys := map[string]bool{}
	for _, n := range w.Notifications.Sent() {
		if n.Endpoint == e.ID && !keys[n.Key] {
			keys[n.Key] = true
			types = append(types, strings.TrimPrefix(n.Type, hook.SystemPrefix))
		}
	}
	return types
}

// effectCount returns the number of effects.
func (w *bundle) effectCount() int {
	n := 0
	for _, verb := range []string{"notify", "write circuit", "write endpoint"} {
		n += w.Calls.Of(verb)
	}
	return n
}

func TestReview_AppliesTheVerdict(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		before   review.Flags
		counts   []stats.Counts
		status   hook.Status // before the review; 0 means active
		flags    review.Flags
		notified []string
		off      bool // the review disables the endpoint
		writes   int
	}{
		{name: "nothing is wrong", counts: []stats.Counts{dying(5)}},
		{name: "nothing is new", before: warned(25), counts: []stats.Counts{dying(6)}, flags: warned(25)},
		{
			name: "slow", counts: []stats.Counts{slowly()}, writes: 2,
			flags: review.Flags{Slow: true, Timeout: 9395 * time.Millisecond}, notified: []string{"endpoint.slow"},
		},
		{
			name: "more dead than the warning limit", counts: []stats.Counts{dying(6)}, writes: 2,
			flags: warnedNow(25), notified: []string{"endpoint.failing"},
		},
		{
			name: "as many dead as the limit", before: warned(40), counts: []stats.Counts{dying(10)}, flags: warned(40),
		},
		{
			name: "more dead than the limit: disabled", before: warned(40), counts: []stats.Counts{dying(20)}, writes: 3,
			notified: []string{"endpoint.disabled"}, off: true,
		},
		{
			name: "more dead than the limit, without a warning before", counts: []stats.Counts{dying(20)}, writes: 2,
			flags: warnedNow(40), notified: []string{"endpoint.failing"},
		},
		{
			name: "recovered", before: warned(25), counts: []stats.Counts{dying(0)}, writes: 2,
			notified: []string{"endpoint.recovered"},
		},
		{
			name: "a paused endpoint only loses its flags", before: warned(25), counts: []stats.Counts{dying(20)}, status: hook.StatusPaused, writes: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(func(e *hook.Endpoint) {
				longAgo(e)
				e.Status = max(tt.status, hook.StatusActive)
			})
			w.count(e, 0, tt.counts...)
			if tt.before != (review.Flags{}) {
				w.record(e, func(r admission.Record) admission.Record { r.Review = tt.before; return r })
			}
			w.Clock.Pass(time.Minute)
			w.review()

			got := w.Circuit(e).Review
			got.Timeout = got.Timeout.Truncate(time.Second)
			want := tt.flags
			want.Timeout = want.Timeout.Truncate(time.Second)
			if got != want {
				t.Errorf("flags = %+v; want %+v", got, want)
			}
			if diff := cmp.Diff(tt.notified, w.notified(e)); diff != "" {
				t.Errorf("notifications (-want +got):\n%s", diff)
			}
			if w.effectCount() != tt.writes {
				t.Errorf("%v; want %d effects", w.Calls.All(), tt.writes)
			}
			stored, changed := w.stored(e), e
			if tt.off {
				changed.Status, changed.Reason, changed.Version = hook.StatusDisabled, "failing", 2
				changed.StatusSince, changed.UpdatedAt = w.Clock.Now(), w.Clock.Now()
			}
			if diff := cmp.Diff(changed, stored); diff != "" {
				t.Errorf("endpoint (-want +got):\n%s", diff)
			}
			records, _, err := w.Store.AuditRecords(t.Context(), e.Tenant, hook.AuditSpan{}, "", 100)
			if err != nil || (len(records) == 1) != tt.off || len(records) > 1 || tt.off && (records[0].Key != "" || records[0].Target != string(e.ID)) {
				t.Errorf("records of changes = %+v, %v; want one by Surehook: %t", records, err, tt.off)
			}
			lines := w.lines("endpoint.reviewed")
			if (len(lines) == 1) != (tt.writes > 0) || len(lines) == 1 && (lines[0]["endpoint_id"] != string(e.ID) || lines[0]["disabled"] != tt.off) {
				t.Errorf("endpoint.reviewed = %v; want one line after a change", lines)
			}

			effects := w.effectCount()
			w.review() // changes nothing
			if w.effectCount() != effects {
				t.Errorf("%v after a second review; want no other effects", w.Calls.All())
			}
		})
	}
}

func TestReview_ReviewsActiveEndpoints(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		ago  []time.Duration // start is 05:06:07
		read int
	}{
		{name: "in the current hour", ago: []time.Duration{6*time.Minute + 7*time.Second}, read: 1},
		{name: "in the previous hour", ago: []time.Duration{66*time.Minute + 7*time.Second}, read: 1},
		{name: "in both hours", ago: []time.Duration{0, time.Hour}, read: 1},
		{name: "before the previous hour", ago: []time.Duration{66*time.Minute + 8*time.Second}, read: 0},
		{name: "never", ago: nil, read: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			for _, ago := range tt.ago {
				w.count(e, ago, slowly())
			}
			w.review()
			if got := w.Calls.Of("list stats"); got != tt.read || w.Circuit(e).Review.Slow != (tt.read > 0) {
				t.Errorf("%d endpoints were read, flags = %+v; want %d", got, w.Circuit(e).Review, tt.read)
			}
		})
	}
}

func TestReview_JudgesAWholeDay(t *testing.T) {
	t.Parallel()

	w := setup(t)
	within, before := w.Endpoint(longAgo), w.Endpoint(longAgo)
	const intoIt = 6*time.Minute + 7*time.Second
	w.count(within, 23*time.Hour+intoIt, dying(20)) // the oldest hour that began within the last 24 hours
	w.count(before, 23*time.Hour+intoIt+1, dying(20))
	for _, e := range []hook.Endpoint{within, before} {
		w.warn(e)
		w.count(e, 0, stats.Counts{Failed: 1})
	}
	w.review()
	if w.stored(within).Status != hook.StatusDisabled || w.stored(before).Status != hook.StatusActive {
		t.Errorf("statuses = %s and %s; want only deaths of the last day to count", w.stored(within).Status, w.stored(before).Status)
	}
}

func TestReview_SkipsDeletedEndpoints(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var all []hook.Endpoint
	for i := range 1001 { // more than one page
		e := hook.Endpoint{Tenant: "acme", ID: hook.EndpointID(fmt.Sprintf("ep_%016d", i))}
		w.count(e, 0, slowly())
		w.count(e, time.Hour, slowly())
		all = append(all, e)
	}
	last := w.Endpoint(nil)
	w.count(last, 0, slowly())
	w.review()
	w.pages()
	if got := w.Calls.Of("read endpoint"); got != len(all)+1 || !w.Circuit(last).Review.Slow || w.effectCount() != 2 {
		t.Errorf("%d endpoints were read, and %v; want %d, each once, and a review of the existing endpoint", got, w.Calls.All(), len(all)+1)
	}
	summary := w.lines("endpoints.reviewed")
	sums := map[string]float64{"active": 0, "changed": 0, "skipped": 0}
	for _, line := range summary {
		for name := range sums {
			n, _ := line[name].(float64)
			sums[name] += n
		}
	}
	if len(summary) != 11 || summary[0]["shared"] != 902.0 || sums["active"] != 1002 || sums["changed"] != 1 || sums["skipped"] != 0 || summary[0]["level"] != "INFO" {
		t.Errorf("endpoints.reviewed = %v; want 1002 active in 11 lines, 1 changed", summary)
	}
}

// TestReview_LosesNothingInACrash kills the process before and after each effect. The
// next review is in the same quarter of an hour, so repeated notifications have the
// same keys.
func TestReview_LosesNothingInACrash(t *testing.T) {
	t.Parallel()

	for at := 1; at <= 4; at++ { // two notifications, the status, the flags
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				e := w.Endpoint(longAgo)
				w.warn(e)
				w.count(e, 0, slowly(), dying(20))
				w.Crash.Arm(at, after)
				if err := w.Breaker().Review(w.Context()); err == nil || !w.Crash.Restart() {
					t.Fatalf("Review() = %v; want a crash", err)
				}
				if at <= 2 && w.stored(e).Status != hook.StatusActive || at <= 3 && w.Circuit(e).Review.Slow {
					t.Errorf("the endpoint is %s with flags %+v; want notifications first, then disabled, then flags", w.stored(e).Status, w.Circuit(e).Review)
				}
				w.Clock.Pass(time.Minute)
				w.review()
				if w.stored(e).Status != hook.StatusDisabled || !w.Circuit(e).Review.Slow || w.Circuit(e).Review.Warned != review.WarnedNever {
					t.Errorf("at last the endpoint is %s with flags %+v; want disabled, slow, without a warning", w.stored(e).Status, w.Circuit(e).Review)
				}
				if diff := cmp.Diff([]string{"endpoint.slow", "endpoint.disabled"}, w.notified(e)); diff != "" {
					t.Errorf("notifications by key (-want +got):\n%s", diff)
				}
				effects := w.effectCount()
				w.review()
				if w.effectCount() != effects {
					t.Errorf("%v after a third review; want no other effects", w.Calls.All())
				}
			})
		}
	}
}

func TestReview_RepeatsAfterAConflict(t *testing.T) {
	t.Parallel()

	for _, verb := range []string{"write circuit", "write endpoint"} {
		tests := []struct {
			name   string
			writes int
			ok     bool
		}{
			{name: "once", writes: 1, ok: true},
			{name: "at all tries but the last", writes: store.Tries - 1, ok: true},
			{name: "always", writes: 1000, ok: false},
		}
		for _, tt := range tests {
			t.Run(verb+" "+tt.name, func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				e := w.Endpoint(longAgo)
				w.warn(e)
				w.count(e, 0, slowly(), dying(20))
				writes := 0
				w.Calls.Fail = func(v string, _ hook.EndpointID) error {
					if v != verb || writes == tt.writes {
						return nil
					}
					writes++
					if verb == "write circuit" {
						w.record(e, func(r admission.Record) admission.Record { r.Failures++; return r })
						return nil
					}
					changed := w.stored(e)
					changed.Description = fmt.Sprint(writes)
					return w.Store.UpdateEndpoint(context.WithoutCancel(t.Context()), changed)
				}
				err := w.Breaker().Review(w.Context())
				if (err == nil) != tt.ok || writes != min(tt.writes, store.Tries) {
					t.Errorf("Review() = %v after %d concurrent writes; want ok: %t, and %d tries", err, writes, tt.ok, store.Tries)
				}
				stored, record := w.stored(e), w.Circuit(e)
				if disabled := stored.Status == hook.StatusDisabled; disabled != (tt.ok || verb == "write circuit") { // the status comes before the flags
					t.Errorf("the endpoint is %s after conflicts of %s", stored.Status, verb)
				}
				if verb == "write circuit" && record.Failures != writes || verb == "write endpoint" && stored.Description != fmt.Sprint(writes) {
					t.Errorf("record = %+v, endpoint = %+v; want the concurrent writes kept", record, stored)
				}
			})
		}
	}
}

func TestReview_UsesTheChangedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(longAgo)
	w.warn(e)
	w.count(e, 0, dying(20))
	w.Calls.Fail = func(verb string, _ hook.EndpointID) error {
		if paused := w.stored(e); verb == "write endpoint" && paused.Status == hook.StatusActive {
			paused.Status = hook.StatusPaused
			return w.Store.UpdateEndpoint(t.Context(), paused)
		}
		return nil
	}
	w.review()
	if got := w.stored(e).Status; got != hook.StatusPaused {
		t.Errorf("status after a concurrent pause = %s; want paused", got)
	}
}

func TestReview_ContinuesAfterABadEndpoint(t *testing.T) {
	t.Parallel()

	for name, fail := range map[string]func() error{
		"an error": func() error { return world.ErrDead },
		"a panic": func() error {
			panic("bad")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			var all []hook.Endpoint
			for range 30 {
				e := w.Endpoint(nil)
				w.count(e, 0, slowly())
				all = append(all, e)
			}
			bad := all[7].ID
			w.Calls.Fail = func(verb string, id hook.EndpointID) error {
				if verb == "list stats" && id == bad {
					return fail()
				}
				return nil
			}
			err := w.Breaker().Review(w.Context())
			if err == nil || !strings.Contains(err.Error(), string(bad)) {
				t.Errorf("Review() = %v; want an error with %s", err, bad)
			}
			for _, e := range all {
				if got := w.Circuit(e).Review.Slow; got != (e.ID != bad) {
					t.Errorf("endpoint %s is slow: %t; want all judged but %s", e.ID, got, bad)
				}
			}
			if summary := w.lines("endpoints.reviewed"); len(summary) != 1 || summary[0]["changed"] != 29.0 || summary[0]["level"] != "ERROR" {
				t.Errorf("endpoints.reviewed = %v; want 29 changed, and the error", summary)
			}
		})
	}
}

func TestReview_ReviewsTheListedEndpoints(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	w.count(e, 0, slowly())
	var lists atomic.Int32
	w.Calls.Fail = func(verb string, _ hook.EndpointID) error {
		if verb == "list active" && lists.Add(1) > 2*16 { // 16 shards: a page of this hour, the end, and the previous hour
			return world.ErrDead
		}
		return nil
	}
	if err := w.Breaker().Review(w.Context()); err == nil || !w.Circuit(e).Review.Slow {
		t.Errorf("Review() = %v, flags = %+v; want the error, and a review of the listed endpoint", err, w.Circuit(e).Review)
	}
}

func TestReview_StopsInTime(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e, other := w.Endpoint(nil), w.Endpoint(nil)
	w.count(e, 0, slowly())
	w.count(other, 0, slowly())
	ctx, cancel := context.WithDeadline(w.Context(), time.Now().Add(time.Hour))
	defer cancel()
	deadline, _ := ctx.Deadline()

	b := w.Breaker()
	var asked atomic.Bool
	b.Now = func() time.Time {
		if asked.Swap(true) {
			return deadline.Add(-10*time.Second + 1)
		}
		return start
	}
	err := b.Review(ctx)
	if err == nil || !strings.Contains(err.Error(), "2 endpoints were not reviewed") || w.effectCount() > 0 || w.Calls.Of("read endpoint") > 0 {
		t.Errorf("Review() with too little time = %v, %v; want both skipped", err, w.Calls.All())
	}
	b.Now = func() time.Time { return start }
	if err := b.Review(ctx); err != nil || !w.Circuit(e).Review.Slow || !w.Circuit(other).Review.Slow {
		t.Errorf("Review() with enough time = %v; want both judged", err)
	}
}

func TestReview_ReachesEveryEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var all []hook.Endpoint
	for range 40 {
		e := w.Endpoint(nil)
		w.count(e, 0, slowly())
		all = append(all, e)
	}
	ctx, cancel := context.WithDeadline(w.Context(), time.Now().Add(time.Hour))
	defer cancel()
	deadline, _ := ctx.Deadline()
	for i := range 80 { // each review has time for 8 endpoints
		var asked atomic.Int64
		b := w.Breaker()
		b.Now = func() time.Time {
			if asked.Add(1) > 1+8 {
				return deadline
			}
			return start.Add(time.Duration(i) * time.Millisecond)
		}
		if err := b.Review(ctx); err == nil {
			t.Fatal("Review() = nil; want an error for lack of time")
		}
	}
	for i, e := range all {
		if !w.Circuit(e).Review.Slow {
			t.Errorf("endpoint %d was not reviewed in 80 short reviews", i)
		}
	}
}
