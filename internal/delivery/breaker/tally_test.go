package breaker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/stats"
)

// counter counts the looks and the counts of reviews.
type counter struct {
	breaker.Store

	looks, counts int
	slow          bool         // a count ends when its time does
	before        func() error // the first write
}

func (c *counter) Oldest(ctx context.Context, s replay.Selection) ([]backlog.Row, bool, error) {
	if s.State == hook.StateDead {
		c.looks++
	}
	return c.Store.Oldest(ctx, s)
}

func (c *counter) CountSelected(ctx context.Context, s replay.Selection) (int, error) {
	if s.State == hook.StateDead {
		c.counts++
	}
	if c.slow {
		<-ctx.Done()
		return 107, ctx.Err()
	}
	return c.Store.CountSelected(ctx, s)
}

func (c *counter) SaveCircuit(ctx context.Context, r admission.Record) error {
	if do := c.before; do != nil {
		c.before = nil
		if err := do(); err != nil {
			return err
		}
	}
	return c.Store.SaveCircuit(ctx, r)
}

func (w *bundle) reviewOver(c *counter) {
	w.T.Helper()

	b := w.Breaker()
	c.Store = b.Store
	b.Store = c
	if err := b.Review(w.Context()); err != nil {
		w.T.Errorf("Review() = %v", err)
	}
}

// crowded stores an endpoint with parked and dead deliveries, and an attempt of the class.
func (w *bundle) crowded(parked, dead int, class hook.Class) hook.Endpoint {
	w.T.Helper()

	e := w.Endpoint(longAgo)
	w.park(e, ages(parked)...)
	for range dead {
		d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now(), e), e.Target())
		d.State, d.Reason = hook.StateDead, hook.ReasonExhausted
		w.Save(d)
	}
	var attempt stats.Counts
	attempt.Count(stats.Attempt{Class: class, Number: 1, State: hook.StateRetrying})
	w.count(e, 0, attempt)
	return e
}

func TestReview_keepsATally(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.crowded(250, 120, hook.ClassTimeout)
	now := w.Clock.Now()
	w.reviewOver(&counter{})
	got := w.Circuit(e).Tally
	if got.Parked.Sum() != 250 || got.Dead != 120 || got.Retrying != 0 || got.Partial || !got.At.Equal(now) ||
		!got.Oldest.Equal(now.Add(-250*time.Second)) || !got.Newest.Equal(now.Add(-time.Second)) || got.Parked[0] < 30 || got.Parked[7] < 30 {
		t.Errorf("Tally = %+v; want 250 parked by age, and 120 dead", got)
	}
}

// A conflict of writes counts no second time, and keeps what the other process wrote.
func TestReview_countsOnceInAConflict(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.crowded(0, 120, hook.ClassTimeout)
	c := &counter{}
	c.before = func() error {
		r := w.Circuit(e)
		r.ProbeType = "order.made"
		return w.Store.SaveCircuit(w.T.Context(), r)
	}
	w.reviewOver(c)
	if r := w.Circuit(e); c.counts != 1 || r.Tally.Dead != 120 || r.ProbeType != "order.made" {
		t.Errorf("%d counts, %+v, %q; want one", c.counts, r.Tally, r.ProbeType)
	}
}

func TestReview_countsWhenItIsTime(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name          string
		dead          int
		quiet         bool // no failure
		kept          int  // dead deliveries of a tally
		age           time.Duration
		looks, counts int
		want          int // dead deliveries of the tally then
	}{
		{name: "nothing failed, nothing is parked", quiet: true},
		{name: "a failure", looks: 1},
		{name: "few, and a tally of before", dead: 3, quiet: true, kept: 500, age: time.Hour, looks: 1},
		{name: "the review of a moment ago counted", dead: 101, kept: 500, age: time.Minute, looks: 1, want: 500},
		{name: "the review before counted", dead: 101, kept: 500, age: 14 * time.Minute, looks: 1, counts: 1, want: 101},
		{name: "more than 100,000 half an hour ago", dead: 101, kept: 100_001, age: 30 * time.Minute, looks: 1, want: 100_001},
		{name: "more than 100,000 an hour ago", dead: 101, kept: 100_001, age: time.Hour, looks: 1, counts: 1, want: 101},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			class := hook.ClassTimeout
			if tt.quiet {
				class = hook.ClassDelivered
			}
			e := w.crowded(0, tt.dead, class)
			if tt.kept > 0 {
				w.record(e, func(r admission.Record) admission.Record {
					r.Tally = drain.Tally{At: w.Clock.Now().Add(-tt.age), Dead: tt.kept}
					return r
				})
			}
			c := &counter{}
			w.reviewOver(c)
			if got := w.Circuit(e).Tally.Dead; c.looks != tt.looks || c.counts != tt.counts || got != tt.want {
				t.Errorf("%d looks, %d counts, %d dead; want %d, %d and %d", c.looks, c.counts, got, tt.looks, tt.counts, tt.want)
			}
		})
	}
}

// A count that takes too long leaves a lower bound.
func TestReview_cutsACount(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		e := w.crowded(0, 120, hook.ClassTimeout)
		w.reviewOver(&counter{slow: true})
		if got := w.Circuit(e).Tally; !got.Partial || got.Dead != 107 {
			t.Errorf("Tally = %+v; want 107 dead at least", got)
		}
	})
}
