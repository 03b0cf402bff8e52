package stats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/stats"
)

func wantSame(t *testing.T, call string, want, got stats.Counts) {
	t.Helper()

	if diff := cmp.Diff(want, got, cmp.AllowUnexported(latency.Histogram{}, latency.Coarse{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", call, diff)
	}
}

// took returns the histogram of one attempt that took d.
func took(d time.Duration) latency.Histogram {
	var h latency.Histogram
	h.Add(d)
	return h
}

func TestCounts_Count_countsByStateClassAndNumber(t *testing.T) {
	t.Parallel()

	const age, duration = 90 * time.Second, 250 * time.Millisecond
	unavailable := func(number int) stats.Counts {
		c := stats.Counts{Latency: took(duration)}
		c.Classes[hook.ClassUnavailable] = 1
		if number >= 0 {
			c.Numbers[number] = 1
		}
		return c
	}
	with := func(c stats.Counts, change func(c *stats.Counts)) stats.Counts {
		change(&c)
		return c
	}
	dead := with(unavailable(2), func(c *stats.Counts) { c.Dead = 1 })
	delivered := stats.Counts{Delivered: 1, Passed: 1, Waited: age, Latency: took(duration)}
	delivered.Classes[hook.ClassDelivered] = 1

	tests := []struct {
		name    string
		attempt stats.Attempt
		want    stats.Counts
	}{
		{
			name:    "delivered at the first attempt",
			attempt: stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered},
			want:    with(delivered, func(c *stats.Counts) { c.Numbers[1], c.First = 1, 1 }),
		},
		{
			name:    "delivered at the second attempt",
			attempt: stats.Attempt{Class: hook.ClassDelivered, Number: 2, State: hook.StateDelivered},
			want:    with(delivered, func(c *stats.Counts) { c.Numbers[2] = 1 }),
		},
		{
			name:    "delivered at the last possible attempt",
			attempt: stats.Attempt{Class: hook.ClassDelivered, Number: hook.MaxAttempts, State: hook.StateDelivered},
			want:    with(delivered, func(c *stats.Counts) { c.Numbers[hook.MaxAttempts] = 1 }),
		},
		{name: "died", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 2, State: hook.StateDead}, want: dead},
		{name: "will be tried again", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 1, State: hook.StateRetrying}, want: unavailable(1)},
		{name: "queued again", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 1, State: hook.StateQueued}, want: unavailable(1)},
		{name: "parked", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 1, State: hook.StateParked}, want: unavailable(1)},
		{name: "cancelled", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 1, State: hook.StateCancelled}, want: unavailable(1)},
		{name: "discarded", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: 1, State: hook.StateDiscarded}, want: unavailable(1)},
		{name: "a number past MaxRequests counts in no number", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: hook.MaxRequests + 1, State: hook.StateRetrying}, want: unavailable(-1)},
		{name: "a negative number counts in no number", attempt: stats.Attempt{Class: hook.ClassUnavailable, Number: -1, State: hook.StateRetrying}, want: unavailable(-1)},
		{
			name:    "an unknown class counts in no class",
			attempt: stats.Attempt{Class: hook.Class(hook.Classes), Number: 1, State: hook.StateRetrying},
			want:    with(stats.Counts{}, func(c *stats.Counts) { c.Numbers[1] = 1 }),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tt.attempt.Duration, tt.attempt.Age = duration, age
			var got stats.Counts
			got.Count(tt.attempt)
			got.Types = stats.Types{} // see TestCounts_Count_ByType
			wantSame(t, fmt.Sprintf("Count(%+v)", tt.attempt), tt.want, got)
		})
	}
}

// Successes count since the last failure, also in a sum.
func TestCounts_Passed(t *testing.T) {
	t.Parallel()

	counts := func(classes ...hook.Class) *stats.Counts {
		c := new(stats.Counts)
		for _, class := range classes {
			c.Count(stats.Attempt{Class: class, Number: 1})
		}
		return c
	}
	const ok, refused = hook.ClassDelivered, hook.ClassRefused
	tests := []struct {
		name  string
		parts []*stats.Counts
		want  int
	}{
		{"all without a failure", []*stats.Counts{counts(ok, ok)}, 2},
		{"those after the failure", []*stats.Counts{counts(ok, refused, ok)}, 1},
		{"those of a later part, too", []*stats.Counts{counts(refused, ok), counts(ok, ok)}, 3},
		{"none before a later failure", []*stats.Counts{counts(ok, ok), counts(refused, ok)}, 1},
		{"a death without an attempt is no failure", []*stats.Counts{counts(ok, ok), stats.Deaths("a", 1)}, 2},
	}
	for _, tt := range tests {
		var sum stats.Counts
		for _, part := range tt.parts {
			sum.Add(part)
		}
		if sum.Passed != tt.want {
			t.Errorf("%s: Passed = %d; want %d", tt.name, sum.Passed, tt.want)
		}
	}
}

// Only attempts with a response or a timeout measure the latency of the endpoint.
func TestCounts_Count_TimesResponsesAndTimeouts(t *testing.T) {
	t.Parallel()

	timed := map[hook.Class]int{
		hook.ClassDelivered: 1, hook.ClassUnavailable: 1, hook.ClassThrottled: 1, hook.ClassTimeout: 1,
		hook.ClassGone: 1, hook.ClassRefused: 1, hook.ClassRedirect: 1,
		hook.ClassDNS: 0, hook.ClassConnect: 0, hook.ClassReset: 0, hook.ClassTLS: 0, hook.ClassBlocked: 0, hook.ClassToken: 0, hook.ClassTransformation: 0,
	}
	for class := hook.ClassDelivered; int(class) < hook.Classes; class++ {
		t.Run(class.String(), func(t *testing.T) {
			t.Parallel()

			want, known := timed[class]
			if !known {
				t.Fatalf("the class %s is not in the table", class)
			}
			var got stats.Counts
			got.Count(stats.Attempt{Class: class, Number: 1, Duration: time.Second, State: hook.StateRetrying})
			if got.Latency.Count() != want || got.Classes[class] != 1 || got.Attempts() != 1 {
				t.Errorf("Count(%s) = %d timed, %d of the class, %d attempts; want %d, 1, 1",
					class, got.Latency.Count(), got.Classes[class], got.Attempts(), want)
			}
		})
	}
}

func TestFigures_rates(t *testing.T) {
	t.Parallel()

	type rates struct {
		Attempts, Settled           int
		Dead, Final, First, Success float64
		Age                         time.Duration
	}
	numbered := func(c stats.Counts, first, later, delivered int) stats.Counts {
		c.Numbers[1], c.Numbers[7], c.Classes[hook.ClassDelivered] = first, later, delivered
		return c
	}
	tests := []struct {
		name string
		in   stats.Counts
		want rates
	}{
		{name: "nothing", in: stats.Counts{}, want: rates{}},
		{
			name: "only failures, nothing settled",
			in:   numbered(stats.Counts{Failed: 4}, 3, 1, 0),
			want: rates{Attempts: 4},
		},
		{
			name: "only later attempts",
			in:   numbered(stats.Counts{Delivered: 2, Waited: 10 * time.Second}, 0, 2, 2),
			want: rates{Attempts: 2, Settled: 2, Final: 1, Success: 1, Age: 5 * time.Second},
		},
		{
			name: "only deaths without an attempt",
			in:   stats.Counts{Dead: 3},
			want: rates{Settled: 3, Dead: 1},
		},
		{
			name: "some of everything",
			in:   numbered(stats.Counts{Delivered: 6, First: 3, Dead: 2, Waited: 9 * time.Second}, 12, 12, 6),
			want: rates{Attempts: 24, Settled: 8, Dead: 0.25, Final: 0.75, First: 0.25, Success: 0.25, Age: 1500 * time.Millisecond},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			f := tt.in.Figures()
			got := rates{
				Attempts: f.Attempts, Settled: f.Settled(),
				Dead: f.DeadRate(), Final: f.FinalRate(), First: f.FirstRate(), Success: f.SuccessRate(), Age: f.MeanAge(),
			}
			if got != tt.want {
				t.Errorf("rates of %+v = %+v; want %+v", tt.in, got, tt.want)
			}
		})
	}
}

// filled returns counts with n in every counter, also of one event type and of the other types.
func filled(n int) stats.Counts {
	c := stats.Counts{OK: n, Failed: n, Delivered: n, First: n, Waited: time.Duration(n), Dead: n, Queued: time.Duration(n)}
	for i := range c.Classes {
		c.Classes[i] = n
	}
	for i := range c.Numbers {
		c.Numbers[i] = n
	}
	for bucket := range latency.BucketCount {
		c.Latency.AddN(bucket, n)
	}
	if n == 0 {
		return c // a type without counts has no entry
	}
	for _, one := range []*stats.TypeCounts{c.Types.Of("order.paid"), c.Types.Of("")} {
		one.Dead = n
		for i := range one.Succeeded {
			one.Succeeded[i], one.Failed[i] = n, n
		}
		for bucket := range latency.CoarseCount {
			one.Latency.AddN(bucket, n)
		}
	}
	return c
}

func TestCounts_Add_addsEverything(t *testing.T) {
	t.Parallel()

	sum, other := filled(3), filled(4)
	sum.Add(&other)
	wantSame(t, "Add()", filled(7), sum)
	wantSame(t, "Add()'s argument", filled(4), other)
	sum.Add(new(stats.Counts))
	wantSame(t, "Add(nothing)", filled(7), sum)
}

func TestSum_countsHoursThatBeganAtOrAfterSince(t *testing.T) {
	t.Parallel()

	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	hours := []stats.Hour{
		{Start: start, Counts: filled(1)}, {Start: start.Add(time.Hour), Counts: filled(2)}, {Start: start.Add(3 * time.Hour), Counts: filled(4)},
	}
	tests := []struct {
		name  string
		hours []stats.Hour
		since time.Time
		want  int
	}{
		{name: "no hours", hours: nil, since: time.Time{}, want: 0},
		{name: "from the beginning", hours: hours, since: time.Time{}, want: 7},
		{name: "from before the first", hours: hours, since: start.Add(-1), want: 7},
		{name: "from the first", hours: hours, since: start, want: 7},
		{name: "from after the first began", hours: hours, since: start.Add(1), want: 6},
		{name: "from the second", hours: hours, since: start.Add(time.Hour), want: 6},
		{name: "from an hour that is missing", hours: hours, since: start.Add(2 * time.Hour), want: 4},
		{name: "from the last, in another zone", hours: hours, since: start.Add(3 * time.Hour).In(time.FixedZone("", 3600)), want: 4},
		{name: "from after the last began", hours: hours, since: start.Add(3*time.Hour + 1), want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			wantSame(t, "Sum(since "+tt.since.String()+")", filled(tt.want), stats.Sum(tt.hours, tt.since))
		})
	}
}

func TestSum_hasNoNegativeDeaths(t *testing.T) {
	t.Parallel()

	first := time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)
	hours := []stats.Hour{{Start: first, Counts: stats.Counts{Dead: -2}}, {Start: first.Add(time.Hour), Counts: stats.Counts{Dead: 3}}}
	if got := stats.Sum(hours, first).Dead; got != 1 {
		t.Errorf("Sum() of -2 and 3 = %d dead; want 1", got)
	}
	typed := []stats.Hour{{Start: first, Counts: *stats.Deaths("a", -2)}, {Start: first, Counts: *stats.Deaths("", -1)}}
	if got := stats.Sum(typed, first).Types; got.Named[0].Dead != 0 || got.Other.Dead != 0 {
		t.Errorf("Sum() by type of -2 and -1 = %+v; want 0 and 0", got)
	}
	if got := stats.Sum(hours[:1], first).Dead; got != 0 {
		t.Errorf("Sum() of -2 = %d dead; want 0", got)
	}
}
