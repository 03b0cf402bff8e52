package latency_test

import (
	"math"
	"sort"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/latency"
)

// promised is the largest relative error, including the rounding to nanoseconds.
const promised = 0.05

// off returns the relative error of got.
func off(got, want time.Duration) float64 {
	return math.Abs(float64(got-want)) / float64(want)
}

func TestBucket(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		in   time.Duration
		want int
	}{
		{name: "a negative duration is in the first", in: math.MinInt64, want: 0},
		{name: "zero is in the first", in: 0, want: 0},
		{name: "a duration shorter than the range is in the first", in: time.Millisecond - 1, want: 0},
		{name: "the shortest of the range is in the first", in: time.Millisecond, want: 0},
		{name: "the end of the first", in: 1_105_192 * time.Nanosecond, want: 0},
		{name: "the beginning of the second", in: 1_105_193 * time.Nanosecond, want: 1},
		{name: "the middle of the range, by logarithm, is between two halves", in: 244_948_974 * time.Nanosecond, want: 54},
		{name: "and the next nanosecond behind it", in: 244_948_975 * time.Nanosecond, want: 55},
		{name: "the longest of the range is in the last", in: time.Minute, want: 109},
		{name: "a duration longer than the range is in the last", in: time.Minute + 1, want: 109},
		{name: "the longest duration is in the last", in: math.MaxInt64, want: 109},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := latency.Bucket(tt.in); got != tt.want {
				t.Errorf("Bucket(%v) = %d; want %d", tt.in, got, tt.want)
			}
		})
	}
}

// TestValue_atBothEndsOfEveryBucket proves the error bound for every duration of the
// range: within a bucket the error is largest at one of the two ends.
func TestValue_atBothEndsOfEveryBucket(t *testing.T) {
	t.Parallel()

	first, largest := latency.Shortest, 0.0
	for bucket := range latency.BucketCount {
		last := first + time.Duration(sort.Search(int(latency.Longest-first), func(n int) bool {
			return latency.Bucket(first+time.Duration(n)+1) > bucket
		}))
		for _, d := range []time.Duration{first, last} {
			if got := latency.Bucket(d); got != bucket {
				t.Fatalf("Bucket(%v) = %d; want %d", d, got, bucket)
			}
			if e := off(latency.Value(bucket), d); e > promised {
				t.Errorf("Value(%d) = %v stands for %v; off by %.4f", bucket, latency.Value(bucket), d, e)
			} else {
				largest = max(largest, e)
			}
		}
		first = last + 1
	}
	if first != latency.Longest+1 {
		t.Errorf("the buckets end before %v; want %v", first, latency.Longest+1)
	}
	if largest < 0.04996 || largest > 0.04998 {
		t.Errorf("largest error = %.5f; want 0.04997, as the package says", largest)
	}
}

// TestBucketCount_isTheSmallest computes a = (gamma-1)/(gamma+1) with one bucket fewer.
func TestBucketCount_isTheSmallest(t *testing.T) {
	t.Parallel()

	for count, enough := range map[float64]bool{latency.BucketCount: true, latency.BucketCount - 1: false} {
		gamma := math.Pow(float64(latency.Longest)/float64(latency.Shortest), 1/count)
		if a := (gamma - 1) / (gamma + 1); (a <= promised) != enough {
			t.Errorf("error with %v buckets = %.5f; at most %v: want %t", count, a, promised, enough)
		}
	}
}

func TestValue_ofNoBucketIsTheNearest(t *testing.T) {
	t.Parallel()

	for bucket, nearest := range map[int]int{-1: 0, math.MinInt: 0, latency.BucketCount: 109, math.MaxInt: 109} {
		if got, want := latency.Value(bucket), latency.Value(nearest); got != want {
			t.Errorf("Value(%d) = %v; want %v", bucket, got, want)
		}
	}
}

func FuzzBucket(f *testing.F) {
	for _, ns := range []int64{math.MinInt64, -1, 0, 1, 999_999, 1_000_000, 1_105_192, 1_105_193, 60_000_000_000, 60_000_000_001, math.MaxInt64} {
		f.Add(ns)
	}
	f.Fuzz(func(t *testing.T, ns int64) {
		d := time.Duration(ns)
		bucket := latency.Bucket(d)
		if bucket < 0 || bucket >= latency.BucketCount {
			t.Fatalf("Bucket(%v) = %d; want 0 to %d", d, bucket, latency.BucketCount-1)
		}
		if d < math.MaxInt64 {
			if next := latency.Bucket(d + 1); next < bucket || next > bucket+1 {
				t.Errorf("Bucket(%v) = %d, one nanosecond after %d", d+1, next, bucket)
			}
		}
		value := latency.Value(bucket)
		if got := latency.Bucket(value); got != bucket {
			t.Errorf("Bucket(Value(%d)) = %d; want %d", bucket, got, bucket)
		}
		if d >= latency.Shortest && d <= latency.Longest && off(value, d) > promised {
			t.Errorf("Value(%d) = %v stands for %v; off by %.4f", bucket, value, d, off(value, d))
		}
	})
}
