package latency_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/latency"
)

// TestHistogram_Percentile_withinFivePercent compares percentiles with the exact
// percentiles of a million samples. A sample out of range moves to the nearest bound,
// because the error bound applies to the range only.
func TestHistogram_Percentile_withinFivePercent(t *testing.T) {
	t.Parallel()

	const samples = 1_000_000
	tests := []struct {
		name string
		draw func(r *rand.Rand) float64 // in seconds
	}{
		{name: "uniform from 1 ms to 60 s", draw: func(r *rand.Rand) float64 { return 0.001 + 59.999*r.Float64() }},
		{name: "exponential with a mean of 300 ms", draw: func(r *rand.Rand) float64 { return 0.3 * r.ExpFloat64() }},
		{name: "lognormal around 120 ms", draw: func(r *rand.Rand) float64 { return 0.12 * math.Exp(r.NormFloat64()) }},
		{name: "bimodal, 50 ms and one in ten at 9 s", draw: func(r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 9 + 0.5*r.NormFloat64()
			}
			return 0.05 + 0.005*r.NormFloat64()
		}},
		{name: "Pareto from 2 ms with a heavy tail", draw: func(r *rand.Rand) float64 { return 0.002 * math.Pow(1-r.Float64(), -1/1.1) }},
		{name: "always 1.234 s", draw: func(*rand.Rand) float64 { return 1.234 }},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := rand.New(rand.NewPCG(1, uint64(i)))
			exact := make([]time.Duration, samples)
			var parts [24]latency.Histogram // one per hour, like the stored counts
			for n := range exact {
				d := min(max(time.Duration(tt.draw(r)*float64(time.Second)), latency.Shortest), latency.Longest)
				exact[n] = d
				parts[n%len(parts)].Add(d)
			}
			slices.Sort(exact)
			h := merged(parts[:]...)
			if got := h.Count(); got != samples {
				t.Fatalf("Count() = %d; want %d", got, samples)
			}
			for permille := range 1001 {
				want := exact[max(permille*samples/1000, 1)-1]
				if got := h.Percentile(float64(permille) / 10); off(got, want) > promised {
					t.Errorf("Percentile(%v) = %v; want %v, off by %.4f", float64(permille)/10, got, want, off(got, want))
				}
			}
		})
	}
}
