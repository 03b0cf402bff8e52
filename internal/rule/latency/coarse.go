package latency

import (
	"iter"
	"time"
)

// coarseWidth is the number of buckets of a Histogram in a bucket of a Coarse.
const coarseWidth = 5

// CoarseCount is the number of buckets of a Coarse.
const CoarseCount = BucketCount / coarseWidth

// Coarse is a Histogram with a fifth of the buckets. A bucket spans the factor
// 1.1052^5 = 1.649, so the relative error of a percentile is at most
// 0.649/2.649 = 24.5 %; the promised error is 25 %. The durations of a service mostly
// fall into three to five buckets. The zero Coarse is empty and ready to use.
type Coarse struct {
	counts [CoarseCount]int
}

// Add counts one duration.
func (c *Coarse) Add(d time.Duration) { c.counts[Bucket(d)/coarseWidth]++ }

// AddN counts n durations in a bucket, so it restores what Buckets returned. A bucket out of
// range means the nearest one; n below 1 adds nothing.
func (c *Coarse) AddN(bucket, n int) {
	c.counts[min(max(bucket, 0), CoarseCount-1)] += max(n, 0)
}

// Merge adds the counts of another histogram. Merges in any order give the same result.
func (c *Coarse) Merge(other Coarse) {
	AddEach(c.counts[:], other.counts[:])
}

// Count returns the number of counted durations.
func (c *Coarse) Count() int { return Total(c.counts[:]) }

// Percentile is Histogram.Percentile with a relative error of at most 25 %.
func (c *Coarse) Percentile(p float64) time.Duration {
	return percentile(c.counts[:], p, func(bucket int) time.Duration { return middle(coarseWidth*bucket, coarseWidth*(bucket+1)) })
}

// Buckets returns the buckets that are not empty, in ascending order, with their counts.
func (c *Coarse) Buckets() iter.Seq2[int, int] { return nonempty(c.counts[:]) }
