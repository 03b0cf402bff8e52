package latency

import (
	"iter"
	"math"
	"time"
)

// Histogram counts durations by bucket. The zero Histogram is empty and ready
// to use, a copy shares nothing with its original, and two are equal (==) when
// they hold the same counts.
type Histogram struct {
	counts [BucketCount]int
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) { h.counts[Bucket(d)]++ }

// AddN counts n durations of a bucket, as Buckets told them. A bucket that does
// not exist is the nearest one; an n below 1 adds nothing.
func (h *Histogram) AddN(bucket, n int) { h.counts[nearest(bucket)] += max(n, 0) }

// Merge adds the counts of another histogram. The order in which histograms are
// merged makes no difference.
func (h *Histogram) Merge(other Histogram) {
	for bucket, n := range other.counts {
		h.counts[bucket] += n
	}
}

// Count returns how many durations were counted.
func (h *Histogram) Count() int {
	count := 0
	for _, n := range h.counts {
		count += n
	}
	return count
}

// Percentile returns the duration that p percent (0 to 100) of all durations do
// not exceed, by nearest rank: the value of the bucket that holds the
// ceil(p/100 x Count)-th shortest. It is within 5 % of that duration when that
// is from Shortest to Longest, and 0 when the histogram is empty. A p outside 0 to 100
// is the nearer of the two.
func (h *Histogram) Percentile(p float64) time.Duration {
	count := h.Count()
	if count == 0 {
		return 0
	}
	rank := 1
	if r := math.Ceil(p * float64(count) / 100); r > 1 { // first the product: it is exact for a whole p
		rank = int(min(r, float64(count)))
	}
	last := 0
	for bucket, n := range h.Buckets() {
		last = bucket
		if rank -= n; rank <= 0 {
			break
		}
	}
	return Value(last)
}

// Buckets returns the buckets that are not empty, in order, each with its count.
func (h *Histogram) Buckets() iter.Seq2[int, int] {
	return func(yield func(bucket, n int) bool) {
		for bucket, n := range h.counts {
			if n > 0 && !yield(bucket, n) {
				return
			}
		}
	}
}
