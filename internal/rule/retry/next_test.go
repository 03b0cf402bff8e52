package retry_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

const h = time.Hour

// delivery returns the i-th of many distinct deliveries. Equal i give equal deliveries.
func delivery(i int) hook.DeliveryID {
	return hook.DeliveryID{
		Event:      hook.KeyedEventID("acme", fmt.Sprint("order-", i)),
		Endpoint:   "ep_0123456789abcdef",
		Generation: 1,
	}
}

func TestNext_presets(t *testing.T) {
	t.Parallel()

	const s, m = time.Second, time.Minute
	tests := []struct {
		name      string
		policy    hook.RetryPolicy
		delays    []time.Duration
		low, high float64 // bounds of the jitter, as shares of the delay
	}{
		{name: "standard", policy: hook.RetryPolicy{Preset: "standard"}, delays: []time.Duration{30 * s, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h}, low: 0, high: 1},
		{name: "the zero policy is standard", policy: hook.RetryPolicy{}, delays: []time.Duration{30 * s, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h}, low: 0, high: 1},
		{name: "an unknown preset is standard", policy: hook.RetryPolicy{Preset: "weekly"}, delays: []time.Duration{30 * s, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h}, low: 0, high: 1},
		{name: "minute", policy: hook.RetryPolicy{Preset: "minute"}, delays: []time.Duration{m, 5 * m, 30 * m, 2 * h, 8 * h, 24 * h}, low: 0.9, high: 1.1},
		{name: "exponential", policy: hook.RetryPolicy{Preset: "exponential"}, delays: []time.Duration{30 * s, m, 2 * m, 4 * m, 8 * m, 16 * m, 32 * m}, low: 0, high: 1},
		{name: "day", policy: hook.RetryPolicy{Preset: "day"}, delays: []time.Duration{30 * s, 2 * m, 10 * m, 30 * m, h, 4 * h, 8 * h}, low: 0.9, high: 1.1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got, want := retry.Attempts(tt.policy), len(tt.delays)+1; got != want {
				t.Errorf("Attempts(%+v) = %d; want %d", tt.policy, got, want)
			}
			for i, d := range tt.delays {
				shortest, longest := extremes(t, tt.policy, i+1)
				low, high := tt.low*d.Seconds(), tt.high*d.Seconds()
				slack := 0.01 * (high - low) // 2,000 draws come this close to both bounds
				if shortest < low || shortest > low+slack {
					t.Errorf("shortest delay after attempt %d = %.3fs; want %.3fs to %.3fs", i+1, shortest, low, low+slack)
				}
				if longest > high || longest < high-slack {
					t.Errorf("longest delay after attempt %d = %.3fs; want %.3fs to %.3fs", i+1, longest, high-slack, high)
				}
			}
			last := len(tt.delays) + 1
			if got, ok := retry.Next(tt.policy, delivery(0), last, time.Hour); got != 0 || ok {
				t.Errorf("Next(%d) = %v, %t; want 0s, false", last, got, ok)
			}
		})
	}
}

// extremes returns the shortest and the longest delay in seconds after attempt n, over 2,000 deliveries.
func extremes(t *testing.T, p hook.RetryPolicy, n int) (shortest, longest float64) {
	t.Helper()

	shortest = math.Inf(1)
	for i := range 2000 {
		delay, ok := retry.Next(p, delivery(i), n, 0)
		if !ok {
			t.Fatalf("Next(%d) = %v, false; want true", n, delay)
		}
		shortest, longest = min(shortest, delay.Seconds()), max(longest, delay.Seconds())
	}
	return shortest, longest
}

func TestNext(t *testing.T) {
	t.Parallel()

	schedule := hook.RetryPolicy{Schedule: []time.Duration{time.Second, time.Minute}, Jitter: hook.JitterNone}
	exponential := func(base time.Duration, factor float64, ceiling time.Duration) hook.RetryPolicy {
		return hook.RetryPolicy{
			Exponential: hook.Exponential{Base: base, Factor: factor, Cap: ceiling, Attempts: 21},
			Jitter:      hook.JitterNone,
		}
	}
	growing := exponential(10*time.Second, 1.5, time.Minute)
	tests := []struct {
		name       string
		policy     hook.RetryPolicy
		n          int
		retryAfter time.Duration
		want       time.Duration
		wantOK     bool
	}{
		{name: "before the first attempt there is nothing to wait for", policy: schedule, n: 0, wantOK: true},
		{name: "a number below zero is before the first attempt", policy: schedule, n: -5, wantOK: true},
		{name: "and a Retry-After below zero still asks for nothing", policy: schedule, n: 0, retryAfter: -h, wantOK: true},
		{name: "the first failure waits the first delay", policy: schedule, n: 1, want: time.Second, wantOK: true},
		{name: "the last delay leads to the last attempt", policy: schedule, n: 2, want: time.Minute, wantOK: true},
		{name: "the last attempt has no next", policy: schedule, n: 3, retryAfter: time.Second},
		{name: "an attempt beyond the last has no next", policy: schedule, n: math.MaxInt},
		{name: "a longer Retry-After wins", policy: schedule, n: 1, retryAfter: 2 * time.Second, want: 2 * time.Second, wantOK: true},
		{name: "a shorter Retry-After does not", policy: schedule, n: 2, retryAfter: 59 * time.Second, want: time.Minute, wantOK: true},
		{name: "a Retry-After below zero asks for nothing", policy: schedule, n: 1, retryAfter: math.MinInt64, want: time.Second, wantOK: true},
		{name: "a Retry-After of a day counts in full", policy: schedule, n: 1, retryAfter: 24 * h, want: 24 * h, wantOK: true},
		{name: "a longer Retry-After counts as a day", policy: schedule, n: 1, retryAfter: 24*h + 1, want: 24 * h, wantOK: true},
		{name: "the first exponential delay is the base", policy: growing, n: 1, want: 10 * time.Second, wantOK: true},
		{name: "each failure multiplies it", policy: growing, n: 3, want: 22500 * time.Millisecond, wantOK: true},
		{name: "below the cap it still grows", policy: growing, n: 5, want: 50625 * time.Millisecond, wantOK: true},
		{name: "the cap holds", policy: growing, n: 6, want: time.Minute, wantOK: true},
		{name: "the cap holds where the power overflows", policy: exponential(h, 1e300, 2*h), n: 20, want: 2 * h, wantOK: true},
		{name: "a factor of 1 repeats the base", policy: exponential(h, 1, 2*h), n: 20, want: h, wantOK: true},
		{name: "a factor of NaN gives the cap", policy: exponential(h, math.NaN(), 2*h), n: 2, want: 2 * h, wantOK: true},
		{name: "a negative factor gives the cap", policy: exponential(h, -2, 2*h), n: 2, want: 2 * h, wantOK: true},
		{name: "a delay past 7 d counts as 7 d", policy: hook.RetryPolicy{Schedule: []time.Duration{math.MaxInt64}, Jitter: hook.JitterNone}, n: 1, want: hook.MaxDelay, wantOK: true},
		{name: "a cap past 7 d counts as 7 d", policy: exponential(h, 10, math.MaxInt64), n: 20, want: hook.MaxDelay, wantOK: true},
		{name: "a negative delay counts as none", policy: hook.RetryPolicy{Schedule: []time.Duration{-h}, Jitter: hook.JitterNone}, n: 1, wantOK: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, ok := retry.Next(tt.policy, delivery(1), tt.n, tt.retryAfter)
			if got != tt.want || ok != tt.wantOK {
				t.Errorf("Next(%d, %v) = %v, %t; want %v, %t", tt.n, tt.retryAfter, got, ok, tt.want, tt.wantOK)
			}
		})
	}
}

func TestAttempts(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		policy hook.RetryPolicy
		want   int
	}{
		{name: "one more than delays", policy: hook.RetryPolicy{Schedule: make([]time.Duration, 20)}, want: 21},
		{name: "as many as an exponential policy says", policy: hook.RetryPolicy{Exponential: hook.Exponential{Base: h, Attempts: 5}}, want: 5},
		{name: "an empty schedule counts as no schedule", policy: hook.RetryPolicy{Schedule: []time.Duration{}}, want: 7},
		{name: "a preset ignores an invalid schedule beside the preset", policy: hook.RetryPolicy{Preset: "day", Schedule: []time.Duration{h}}, want: 8},
		{name: "never more than the bound", policy: hook.RetryPolicy{Schedule: make([]time.Duration, 100)}, want: hook.MaxAttempts},
		{name: "never less than one", policy: hook.RetryPolicy{Exponential: hook.Exponential{Base: h, Attempts: -1}}, want: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := retry.Attempts(tt.policy); got != tt.want {
				t.Errorf("Attempts(%+v) = %d; want %d", tt.policy, got, tt.want)
			}
		})
	}
}

func TestPlanned(t *testing.T) {
	t.Parallel()

	start := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	policy := hook.RetryPolicy{Schedule: []time.Duration{time.Minute, h, 2 * h}, Jitter: hook.JitterNone}
	tests := []struct {
		name string
		n    int
		want []time.Time
	}{
		{name: "a queued delivery has all attempts ahead, the first at once", n: 0, want: []time.Time{start, start.Add(time.Minute), start.Add(h + time.Minute), start.Add(3*h + time.Minute)}},
		{name: "a number below zero is a queued delivery", n: -1 << 40, want: []time.Time{start, start.Add(time.Minute), start.Add(h + time.Minute), start.Add(3*h + time.Minute)}},
		{name: "each attempt counts from the one before", n: 1, want: []time.Time{start.Add(time.Minute), start.Add(h + time.Minute), start.Add(3*h + time.Minute)}},
		{name: "one attempt is left", n: 3, want: []time.Time{start.Add(2 * h)}},
		{name: "no attempt is left", n: 4, want: nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tt.want, retry.Planned(policy, delivery(1), tt.n, start)); diff != "" {
				t.Errorf("Planned(%d, %v) differs (-want +got):\n%s", tt.n, start, diff)
			}
		})
	}
}

func TestPlanned_agreesWithNext(t *testing.T) {
	t.Parallel()

	last := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for i, planned := range retry.Planned(hook.RetryPolicy{}, delivery(7), 1, last) {
		delay, ok := retry.Next(hook.RetryPolicy{}, delivery(7), i+1, 0)
		if last = last.Add(delay); !ok || !planned.Equal(last) {
			t.Errorf("Planned()[%d] = %v; Next gives %v, %t", i, planned, last, ok)
		}
	}
}

func TestExpired(t *testing.T) {
	t.Parallel()

	created := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name    string
		now     time.Time
		deleted time.Time
		want    bool
	}{
		{name: "an hour before the deletion is not expired", now: created.Add(h), deleted: created.Add(2 * h), want: false},
		{name: "within the last hour before the deletion is", now: created.Add(h + 1), deleted: created.Add(2 * h), want: true},
		{name: "exactly as old as allowed is not expired", now: created.Add(72 * h), want: false},
		{name: "a moment older is", now: created.Add(72*h + 1), want: true},
		{name: "a moment younger is not", now: created.Add(72*h - 1), want: false},
		{name: "a clock that runs behind expires nothing", now: created.Add(-h), want: false},
		{name: "centuries later is expired", now: created.AddDate(1000, 0, 0), want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := retry.Expired(hook.Delivery{CreatedAt: created, ExpiresAt: tt.deleted}, tt.now, 72*h); got != tt.want {
				t.Errorf("Expired(%v, %v, 72h) = %t; want %t", created, tt.now, got, tt.want)
			}
		})
	}
}

func FuzzNext(f *testing.F) {
	f.Add("evt_1", 1, 1, int64(30*time.Second), 2.0, int64(time.Hour), 8, uint8(hook.JitterFull), int64(0))
	f.Add("evt_2", 9999, 20, int64(hook.MaxDelay), 10.0, int64(hook.MaxDelay), 21, uint8(hook.JitterProportional), int64(24*time.Hour))
	f.Add("", 0, -1, int64(math.MaxInt64), math.Inf(1), int64(math.MaxInt64), math.MaxInt, uint8(0), int64(math.MaxInt64))
	f.Add("evt_3", 1, 2, int64(math.MinInt64), math.NaN(), int64(math.MinInt64), math.MinInt, uint8(255), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, event string, generation, n int, base int64, factor float64, ceiling int64, attempts int, jitter uint8, retryAfter int64) {
		id := hook.DeliveryID{Event: hook.EventID(event), Generation: generation}
		exponential := hook.Exponential{Base: time.Duration(base), Factor: factor, Cap: time.Duration(ceiling), Attempts: attempts}
		schedule := []time.Duration{time.Duration(base), time.Duration(ceiling)}
		for _, p := range []hook.RetryPolicy{
			{Preset: event},
			{Schedule: schedule, Jitter: hook.Jitter(jitter)},
			{Exponential: exponential, Jitter: hook.Jitter(jitter)},
		} {
			all := retry.Attempts(p)
			if all < 1 || all > hook.MaxAttempts {
				t.Fatalf("Attempts(%+v) = %d; want 1 to %d", p, all, hook.MaxAttempts)
			}
			delay, ok := retry.Next(p, id, n, time.Duration(retryAfter))
			if ok != (n < all) {
				t.Errorf("Next(%+v, %d) is ok: %t; want %t of %d attempts", p, n, ok, !ok, all)
			}
			if longest := hook.MaxDelay + hook.MaxDelay/10; delay < 0 || delay > longest {
				t.Errorf("Next(%+v, %d) = %v; want 0s to %v", p, n, delay, longest)
			}
			if floor := min(time.Duration(retryAfter), hook.MaxMaxRetryAfter); ok && delay < floor {
				t.Errorf("Next(%+v, %d, %d) = %v; want at least %v", p, n, retryAfter, delay, floor)
			}
			if again, _ := retry.Next(p, id, n, time.Duration(retryAfter)); again != delay {
				t.Errorf("Next(%+v, %d) = %v, then %v; want the same twice", p, n, delay, again)
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	id := delivery(1)
	policy := hook.RetryPolicy{Preset: "exponential"}
	b.ReportAllocs()
	for b.Loop() {
		retry.Next(policy, id, 7, 0)
	}
}

func ExampleNext() {
	policy := hook.RetryPolicy{Schedule: []time.Duration{30 * time.Second, 5 * time.Minute}, Jitter: hook.JitterNone}
	id := hook.DeliveryID{Event: "evt_01jyf3k8z7e9rt3w5v8q2m4n6p", Endpoint: "ep_0123456789abcdef", Generation: 1}

	for n := 1; ; n++ {
		delay, ok := retry.Next(policy, id, n, time.Minute) // the endpoint said Retry-After: 60
		if !ok {
			fmt.Println("attempt", n, "was the last")
			return
		}
		fmt.Println("attempt", n+1, "after", delay)
	}
	// Output:
	// attempt 2 after 1m0s
	// attempt 3 after 5m0s
	// attempt 3 was the last
}
