package stats_test

import (
	"cmp"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
)

// successes returns the counts of n deliveries at the first attempt.
func successes(n int) stats.Counts {
	c := stats.Counts{OK: n}
	for range n {
		c.Count(stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Duration: time.Millisecond, Age: time.Second})
	}
	return c
}

func TestHeld_Hold(t *testing.T) {
	t.Parallel()

	hour := time.Date(2026, 3, 4, 6, 0, 0, 0, time.UTC)
	with := func(c stats.Counts, change func(c *stats.Counts)) stats.Counts {
		change(&c)
		return c
	}
	tests := []struct {
		name   string
		window int
		held   int
		add    stats.Counts
		early  time.Duration // of the last write, before the end of the hour; 0: 5 s
		after  time.Duration // since the last write
		ok     bool
	}{
		{name: "a busy endpoint", window: 1000, add: successes(10), ok: true},
		{name: "up to a hundredth of the window", window: 1000, held: 3, add: successes(7), ok: true},
		{name: "past a hundredth of the window", window: 1000, held: 3, add: successes(8), ok: false},
		{name: "a quiet endpoint", window: 99, add: successes(1), ok: false},
		{name: "no write so far", add: successes(1), ok: false},
		{name: "shortly before the time", window: 1000, add: successes(1), after: 4 * time.Second, ok: true},
		{name: "another hour", window: 1000, add: successes(1), after: 5 * time.Second, ok: false},
		{name: "the time is over", window: 1000, add: successes(1), early: time.Minute, after: stats.HoldFor, ok: false},
		{name: "a clock that goes back", window: 1000, add: successes(1), after: -time.Second, ok: true},
		{name: "a failure", window: 1000, add: with(successes(5), func(c *stats.Counts) { c.Failed = 1 }), ok: false},
		{name: "a 429", window: 1000, add: with(successes(5), func(c *stats.Counts) { c.Count(stats.Attempt{Class: hook.ClassThrottled, Number: 1}) }), ok: false},
		{name: "a death", window: 1000, add: with(successes(5), func(c *stats.Counts) { c.Dead = 1 }), ok: false},
		{name: "a death that another process recorded", window: 1000, add: with(successes(5), func(c *stats.Counts) { c.OK = 6 }), ok: false},
		{name: "nothing", window: 1000, ok: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			written := hour.Add(-cmp.Or(tt.early, 5*time.Second))
			held := stats.Unwritten{Counts: successes(tt.held), Window: tt.window}
			if tt.window > 0 {
				held.WrittenAt = written
			}
			now := written.Add(tt.after)
			want := held
			got, ok := &held, held.Hold(&tt.add, now)
			if tt.ok {
				want = stats.Unwritten{Counts: successes(tt.held + tt.add.OK), At: now, WrittenAt: written, Window: tt.window}
			}
			if ok != tt.ok || *got != want {
				t.Errorf("Hold() = %+v, %t; want %+v, %t", got, ok, want, tt.ok)
			}
		})
	}
}
