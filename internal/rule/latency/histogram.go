package latency

import (
	"iter"
	"math"
	"time"
)

// Histogram counts durations by bucket. The zero Histogram is empty and ready to
// use. A copy is independent of the original. Two histograms with equal counts are
// equal (==).
type Histogram struct {
	counts [BucketCount]int
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) { h.counts[Bucket(d)]++ }

// AddN counts n durations in a bucket, so it restores what Buckets returned. A bucket out of
// range means the nearest one; n below 1 adds nothing.
func (h *Histogram) AddN(bucket, n int) { h.counts[nearest(bucket)] += max(n, 0) }

// Merge adds the counts of another histogram. Merges in any order give the same result.
func (h *Histogram) Merge(other *Histogram) {
	AddEach(h.counts[:], other.counts[:])
}

// AddEach adds counts to those at the same places.
func AddEach(to, counts []int) {
	for i, n := range counts {
		to[i] += n
	}
}

// Count returns the number of counted durations.
func (h *Histogram) Count() int { return Total(h.counts[:]) }

// Mean returns the mean of the values of the buckets; 0 for an empty histogram.
func (h *Histogram) Mean() time.Duration {
	sum, n := 0.0, 0
	for bucket, count := range h.Buckets() {
		sum, n = sum+float64(count)*Value(bucket).Seconds(), n+count
	}
	if n == 0 {
		return 0
	}
	return time.Duration(sum / float64(n) * float64(time.Second))
}

// Total returns the sum of counts.
func Total(counts []int) int {
	count := 0
	for _, n := range counts {
		count += n
	}
	return count
}

// Percentile returns the percentile p (0 to 100) by nearest rank: the value of the
// bucket with the ceil(p/100 x Count)-th shortest duration. The relative error is at
// most 5 % for durations from Shortest to Longest. An empty histogram gives 0. p is
// clamped to 0 to 100.
func (h *Histogram) Percentile(p float64) time.Duration {
	return percentile(h.counts[:], p, Value)
}

// percentile returns the value of the bucket that holds the percentile p; 0 if nothing was counted.
func percentile(counts []int, p float64, value func(bucket int) time.Duration) time.Duration {
	count := float64(Total(counts))
	rank := 1
	if r := math.Ceil(p * count / 100); r > 1 { // multiplying first is exact for a whole p
		rank = int(min(r, count))
	}
	for bucket, n := range nonempty(counts) {
		if rank -= n; rank <= 0 {
			return value(bucket)
		}
	}
	return 0
}

// Buckets returns the buckets that are not empty, in ascending order, with their counts.
func (h *Histogram) Buckets() iter.Seq2[int, int] { return nonempty(h.counts[:]) }

func nonempty(counts []int) iter.Seq2[int, int] {
	return func(yield func(bucket, n int) bool) {
		for bucket, n := range counts {
			if n > 0 && !yield(bucket, n) {
				return
			}
		}
	}
}
