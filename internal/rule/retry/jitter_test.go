package retry_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

const deliveries = 10_000

// hourly returns a policy of two delays of an hour, spread by the jitter.
func hourly(j hook.Jitter) hook.RetryPolicy {
	return hook.RetryPolicy{Schedule: []time.Duration{time.Hour, time.Hour}, Jitter: j}
}

// TestNext_jitter draws the delays of many deliveries and checks, by Pearson's
// chi-square test, the uniform distribution over the exact interval.
func TestNext_jitter(t *testing.T) {
	t.Parallel()

	const d = time.Hour
	const buckets = 20
	const critical = 43.8 // chi-square, 19 degrees of freedom, probability 0.001
	tests := []struct {
		name      string
		jitter    hook.Jitter
		low, high time.Duration
	}{
		{name: "full is uniform from nothing to the delay", jitter: hook.JitterFull, low: 0, high: d},
		{name: "the zero jitter means full", jitter: 0, low: 0, high: d},
		{name: "equal is uniform over the upper half", jitter: hook.JitterEqual, low: d / 2, high: d},
		{name: "proportional is uniform a tenth around the delay", jitter: hook.JitterProportional, low: 54 * time.Minute, high: 66 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			for n := 1; n <= 2; n++ {
				var counts [buckets]int
				for i := range deliveries {
					delay, _ := retry.Next(hourly(tt.jitter), delivery(i), n, 0)
					if delay < tt.low || delay >= tt.high {
						t.Fatalf("Next(%d) of delivery %d = %v; want %v to %v", n, i, delay, tt.low, tt.high)
					}
					counts[int64(delay-tt.low)*buckets/int64(tt.high-tt.low)]++
				}
				chi2 := 0.0
				for _, c := range counts {
					const want = float64(deliveries) / buckets
					chi2 += (float64(c) - want) * (float64(c) - want) / want
				}
				if chi2 > critical {
					t.Errorf("chi-square of delays after attempt %d = %.1f; want at most %.1f; counts %v", n, chi2, critical, counts)
				}
			}
		})
	}
}

func TestNext_jitterNone(t *testing.T) {
	t.Parallel()

	for i := range 100 {
		if got, _ := retry.Next(hourly(hook.JitterNone), delivery(i), 1, 0); got != time.Hour {
			t.Errorf("Next(1) of delivery %d = %v; want 1h0m0s", i, got)
		}
	}
}

// Deliveries with simultaneous failures must not meet again at the next failure.
func TestNext_jitterOfAttemptsIsIndependent(t *testing.T) {
	t.Parallel()

	policy := hourly(hook.JitterFull)
	covariance := 0.0 // of two uniform draws on [0, 1)
	for i := range deliveries {
		first, _ := retry.Next(policy, delivery(i), 1, 0)
		second, _ := retry.Next(policy, delivery(i), 2, 0)
		covariance += (first.Hours() - 0.5) * (second.Hours() - 0.5) / deliveries
	}
	// Independent draws have covariance 0 and, over this many, a standard deviation of 1/12/100.
	if limit := 3.3 / 12 / 100; covariance > limit || covariance < -limit {
		t.Errorf("covariance of the delays after attempts 1 and 2 = %.5f; want within %.5f of 0", covariance, limit)
	}
}

func TestNext_jitterDiffersByGenerationAndEndpoint(t *testing.T) {
	t.Parallel()

	policy := hourly(hook.JitterFull)
	replayed, other := delivery(1), delivery(1)
	replayed.Generation = 2
	other.Endpoint = "ep_zzzzzzzzzzzzzzzz"

	got, _ := retry.Next(policy, delivery(1), 1, 0)
	for _, id := range []hook.DeliveryID{replayed, other} {
		if same, _ := retry.Next(policy, id, 1, 0); same == got {
			t.Errorf("Next(%v) = %v, as for %v; want another delay", id, same, delivery(1))
		}
	}
}

// The draws must not change between versions of Surehook: a new version may record
// again the retries planned by an old version.
// The expected values come from an independent computation:
// int(sha256("dlv_..._1#n").hexdigest()[:16], 16) >> 11 over 2^53.
func TestNext_jitterIsPinned(t *testing.T) {
	t.Parallel()

	id := hook.DeliveryID{Event: "evt_01jyf3k8z7e9rt3w5v8q2m4n6p", Endpoint: "ep_0123456789abcdef", Generation: 1}
	tests := []struct {
		name   string
		jitter hook.Jitter
		n      int
		want   time.Duration
	}{
		{name: "full, first failure", jitter: hook.JitterFull, n: 1, want: 3_244_186_181_016},
		{name: "full, second failure", jitter: hook.JitterFull, n: 2, want: 1_270_320_406_395},
		{name: "equal", jitter: hook.JitterEqual, n: 1, want: 3_422_093_090_508},
		{name: "proportional", jitter: hook.JitterProportional, n: 1, want: 3_888_837_236_203},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got, _ := retry.Next(hourly(tt.jitter), id, tt.n, 0); got != tt.want {
				t.Errorf("Next(%d) = %d; want %d", tt.n, got, tt.want)
			}
		})
	}
}
