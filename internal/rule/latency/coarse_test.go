package latency_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/latency"
)

// promisedCoarse is the largest relative error of a percentile of a Coarse.
const promisedCoarse = 0.25

// FuzzCoarse_Percentile compares percentiles of both histograms with the sorted
// durations. Two halves, merged, are the whole.
func FuzzCoarse_Percentile(f *testing.F) {
	seed := func(durations ...time.Duration) []byte {
		var b []byte
		for _, d := range durations {
			b = binary.BigEndian.AppendUint64(b, uint64(d))
		}
		return b
	}
	f.Add(seed(time.Millisecond, time.Second, time.Minute), 50.0)
	f.Add(seed(1_648_721, 1_648_722, 2_718_281), 99.0)
	f.Add(seed(200*time.Millisecond), 0.0)
	f.Add([]byte{}, 95.0)
	f.Fuzz(func(t *testing.T, data []byte, p float64) {
		var all []time.Duration
		var fine latency.Histogram
		var halves [2]latency.Coarse
		for chunk := range slices.Chunk(data, 8) {
			if len(chunk) < 8 {
				break
			}
			d := latency.Shortest + time.Duration(binary.BigEndian.Uint64(chunk)%uint64(latency.Longest-latency.Shortest+1))
			halves[len(all)%2].Add(d)
			fine.Add(d)
			all = append(all, d)
		}
		coarse := halves[0]
		coarse.Merge(halves[1])
		var again latency.Coarse
		for bucket, n := range coarse.Buckets() {
			again.AddN(bucket, n)
		}
		if again != coarse || coarse.Count() != len(all) {
			t.Fatalf("%d durations = %d, again %d", len(all), coarse.Count(), again.Count())
		}
		if len(all) == 0 {
			if got := coarse.Percentile(p); got != 0 {
				t.Errorf("Percentile of nothing = %v; want 0", got)
			}
			return
		}
		slices.Sort(all)
		rank := 1
		if r := math.Ceil(p * float64(len(all)) / 100); r > 1 {
			rank = int(min(r, float64(len(all))))
		}
		want := all[rank-1]
		if got := coarse.Percentile(p); off(got, want) > promisedCoarse {
			t.Errorf("coarse Percentile(%v) = %v; want %v; off by %.4f", p, got, want, off(got, want))
		}
		if got := fine.Percentile(p); off(got, want) > promised {
			t.Errorf("Percentile(%v) = %v; want %v; off by %.4f", p, got, want, off(got, want))
		}
	})
}

// TestCoarse_boundIsTight meets the largest error at the first bound of the buckets.
func TestCoarse_boundIsTight(t *testing.T) {
	t.Parallel()

	largest := 0.0
	for d := latency.Shortest; d < latency.Longest; d += d / 1000 {
		var c latency.Coarse
		c.Add(d)
		largest = max(largest, off(c.Percentile(50), d))
	}
	if largest < 0.24 || largest > 0.246 {
		t.Errorf("largest error = %.4f; want 0.245, as the type says", largest)
	}
}

func TestCoarse_AddN_bounds(t *testing.T) {
	t.Parallel()

	var c, want latency.Coarse
	c.AddN(-1, 2)
	c.AddN(latency.CoarseCount, 3)
	c.AddN(4, -1)
	want.AddN(0, 2)
	want.AddN(latency.CoarseCount-1, 3)
	if c != want {
		t.Errorf("AddN out of range = %+v; want %+v", c, want)
	}
}
