// Package latency keeps durations of attempts as counts in logarithmic buckets,
// small enough to store by the hour, and tells their percentiles. It knows
// neither what was measured nor where counts are kept.
//
// The buckets are those of DDSketch (Masson, Rim and Lee: DDSketch, a fast and
// fully-mergeable quantile sketch with relative-error guarantees, PVLDB 12(12),
// 2019, arXiv:1908.10693), over a fixed range. Bucket i holds the durations from
// Shortest x gamma^i up to Shortest x gamma^(i+1). The harmonic mean of the two,
// Shortest x gamma^i x 2 gamma/(gamma+1), is off by the same share a at both ends,
// where gamma = (1+a)/(1-a), and by less between them.
//
// With 110 buckets from 1 ms to 60 s gamma is 60000^(1/110) = 1.1052 and a is
// 4.997 %, which leaves room for rounding to nanoseconds below the 5 % that are
// promised. With 109 it would be 5.043 %.
package latency

import (
	"math"
	"time"
)

// The range in which values are told to 5 %, and how many buckets share it.
const (
	Shortest    = time.Millisecond
	Longest     = 60 * time.Second
	BucketCount = 110
)

// Bucket returns the bucket of the duration, 0 to BucketCount-1:
// floor(log(d/Shortest) / log(gamma)). What is shorter than Shortest counts in the first
// bucket, what is longer than Longest in the last.
func Bucket(d time.Duration) int {
	d = min(max(d, Shortest), Longest)
	position := math.Log(float64(d)/float64(Shortest)) / math.Log(float64(Longest)/float64(Shortest))
	return min(int(position*BucketCount), BucketCount-1)
}

// Value returns the duration that stands for all of a bucket, to the
// nanosecond: no duration from Shortest to Longest differs from its bucket's value by
// more than 5 % of itself. A bucket that does not exist has the value of the
// nearest one.
func Value(bucket int) time.Duration {
	bucket = nearest(bucket)
	lower, upper := bound(bucket), bound(bucket+1)
	return time.Duration(math.Round(2 * lower * upper / (lower + upper)))
}

// bound returns where a bucket begins, in nanoseconds.
func bound(bucket int) float64 {
	return float64(Shortest) * math.Pow(float64(Longest)/float64(Shortest), float64(bucket)/BucketCount)
}

func nearest(bucket int) int { return min(max(bucket, 0), BucketCount-1) }
