package latency_test

import (
	"fmt"
	"maps"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/rule/latency"
)

// of returns a histogram of the durations.
func of(durations ...time.Duration) latency.Histogram {
	var h latency.Histogram
	for _, d := range durations {
		h.Add(d)
	}
	return h
}

func TestHistogram_Percentile(t *testing.T) {
	t.Parallel()

	ms := func(n int) time.Duration { return latency.Value(latency.Bucket(time.Duration(n) * time.Millisecond)) }
	hundred := latency.Histogram{}
	for n := range 100 {
		hundred.Add(latency.Value(n)) // each in a bucket of its own
	}
	tests := []struct {
		name string
		in   latency.Histogram
		p    float64
		want time.Duration
	}{
		{name: "an empty histogram gives 0", in: of(), p: 50, want: 0},
		{name: "p0 of one duration is that duration", in: of(time.Second), p: 0, want: ms(1000)},
		{name: "p100 of one duration is that duration", in: of(time.Second), p: 100, want: ms(1000)},
		{name: "p50 of two is the shorter one", in: of(time.Second, time.Minute), p: 50, want: ms(1000)},
		{name: "just above p50 of two is the longer one", in: of(time.Second, time.Minute), p: 50.001, want: ms(60_000)},
		{name: "p95 of twenty is the 19th", in: merged(of(time.Minute), times(19, time.Second)), p: 95, want: ms(1000)},
		{name: "just above p95 of twenty is the 20th", in: merged(of(time.Minute), times(19, time.Second)), p: 95.1, want: ms(60_000)},
		{name: "p7 of a hundred is the 7th", in: hundred, p: 7, want: latency.Value(6)},
		{name: "p99 of a hundred is the 99th", in: hundred, p: 99, want: latency.Value(98)},
		{name: "p below 0 is the shortest", in: hundred, p: -1, want: latency.Value(0)},
		{name: "p above 100 is the longest", in: hundred, p: 101, want: latency.Value(99)},
		{name: "an infinite p is the longest", in: hundred, p: math.Inf(1), want: latency.Value(99)},
		{name: "NaN is the shortest", in: hundred, p: math.NaN(), want: latency.Value(0)},
		{name: "a duration shorter than the range gives the first bucket", in: of(0), p: 50, want: ms(1)},
		{name: "a duration longer than the range gives the last bucket", in: of(time.Hour), p: 50, want: ms(60_000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.in.Percentile(tt.p); got != tt.want {
				t.Errorf("Percentile(%v) = %v; want %v", tt.p, got, tt.want)
			}
		})
	}
}

// times returns a histogram with n counts of the duration.
func times(n int, d time.Duration) latency.Histogram {
	var h latency.Histogram
	h.AddN(latency.Bucket(d), n)
	return h
}

// merged merges the histograms from left to right.
func merged(hs ...latency.Histogram) latency.Histogram {
	var all latency.Histogram
	for _, h := range hs {
		all.Merge(&h)
	}
	return all
}

func TestHistogram_AddN_clampsBucketsAndIgnoresCountsBelow1(t *testing.T) {
	t.Parallel()

	var h latency.Histogram
	h.AddN(3, 2)
	h.AddN(109, 1)
	h.AddN(3, 4)
	h.AddN(5, 0)
	h.AddN(3, -10)
	h.AddN(-1, 7)
	h.AddN(110, 8)
	if diff := cmp.Diff(map[int]int{0: 7, 3: 6, 109: 9}, maps.Collect(h.Buckets())); diff != "" {
		t.Errorf("Buckets() differs (-want +got):\n%s", diff)
	}
	if got := h.Count(); got != 22 {
		t.Errorf("Count() = %d; want 22", got)
	}
}

func TestHistogram_Buckets_areRestoredByAddN(t *testing.T) {
	t.Parallel()

	h := of(time.Minute, time.Second, 2*time.Millisecond, time.Second)
	var stored []int
	for bucket, n := range h.Buckets() {
		stored = append(stored, bucket, n)
	}
	if diff := cmp.Diff([]int{6, 1, 69, 2, 109, 1}, stored); diff != "" {
		t.Errorf("Buckets() differs (-want +got):\n%s", diff)
	}
	for bucket := range h.Buckets() {
		if bucket != 6 {
			t.Errorf("Buckets() goes on to %d after the break", bucket)
		}
		break
	}
	var read latency.Histogram
	for i := 0; i < len(stored); i += 2 {
		read.AddN(stored[i], stored[i+1])
	}
	if read != h {
		t.Errorf("histogram from Buckets = %v; want %v", read, h)
	}
}

func TestHistogram_copyIsIndependent(t *testing.T) {
	t.Parallel()

	h := of(time.Second)
	kept := h
	h.Add(time.Minute)
	if kept != of(time.Second) {
		t.Errorf("copy = %v after its original changed; want %v", kept, of(time.Second))
	}
}

// FuzzHistogram_Merge distributes durations over three histograms. Of three bytes, two give
// the duration and the third the histogram.
func FuzzHistogram_Merge(f *testing.F) {
	f.Add([]byte{}, 50.0)
	f.Add([]byte{0, 0, 0, 255, 255, 1, 3, 232, 2}, 95.0)
	f.Add([]byte("the quick brown fox jumps over the lazy dog"), 99.9)
	f.Fuzz(func(t *testing.T, data []byte, p float64) {
		var parts [3]latency.Histogram
		var whole latency.Histogram
		shortest, longest := latency.Longest, latency.Shortest
		for ; len(data) >= 3; data = data[3:] {
			d := min(latency.Shortest*time.Duration(1+int(data[0])<<8+int(data[1])), latency.Longest)
			shortest, longest = min(shortest, d), max(longest, d)
			parts[data[2]%3].Add(d)
			whole.Add(d)
		}
		a, b, c := parts[0], parts[1], parts[2]
		if merged(a, b) != merged(b, a) {
			t.Errorf("merging %v and %v depends on the order", a, b)
		}
		if left, right := merged(merged(a, b), c), merged(a, merged(b, c)); left != right || left != whole {
			t.Errorf("(a+b)+c = %v, a+(b+c) = %v; want %v", left, right, whole)
		}
		if sum := a.Count() + b.Count() + c.Count(); whole.Count() != sum {
			t.Errorf("Count() = %d; want %d", whole.Count(), sum)
		}
		got := whole.Percentile(p)
		if whole.Count() > 0 && (float64(got) < 0.95*float64(shortest) || float64(got) > 1.05*float64(longest)) {
			t.Errorf("Percentile(%v) = %v; want %v to %v, give or take 5 %%", p, got, shortest, longest)
		}
	})
}

func BenchmarkHistogram_Add(b *testing.B) {
	var h latency.Histogram
	b.ReportAllocs()
	for d := time.Duration(0); b.Loop(); d = (d + time.Millisecond) % latency.Longest {
		h.Add(d)
	}
}

func BenchmarkHistogram_Percentile(b *testing.B) {
	var h latency.Histogram
	for bucket := range latency.BucketCount {
		h.AddN(bucket, 1000)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Percentile(95)
	}
}

func ExampleHistogram() {
	var h latency.Histogram
	for n := range 100 {
		h.Add(time.Duration(n+1) * 10 * time.Millisecond) // 10 ms to 1 s
	}
	for _, p := range []float64{50, 95, 99} {
		fmt.Printf("p%v %v\n", p, h.Percentile(p).Round(time.Millisecond))
	}
	// Output:
	// p50 518ms
	// p95 944ms
	// p99 944ms
}

func TestHistogram_Mean(t *testing.T) {
	t.Parallel()

	h := of()
	if got := h.Mean(); got != 0 {
		t.Errorf("Mean of nothing = %v; want 0", got)
	}
	h = of(time.Second, time.Second, 4*time.Second)
	if got := h.Mean(); got < 1900*time.Millisecond || got > 2100*time.Millisecond {
		t.Errorf("Mean of 1s, 1s and 4s = %v; want 2s within 5%%", got)
	}
}
