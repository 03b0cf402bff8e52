// Package latency stores durations of attempts as counts in logarithmic buckets and
// computes percentiles. A histogram is small enough to store one per hour. The
// package knows neither what the durations mean nor where they are stored.
//
// # Buckets
//
// The buckets follow DDSketch (Masson, Rim and Lee: DDSketch, a fast and
// fully-mergeable quantile sketch with relative-error guarantees, PVLDB 12(12),
// 2019, arXiv:1908.10693), over a fixed range. Bucket i holds the durations from
// Shortest x gamma^i to Shortest x gamma^(i+1). The value of a bucket is the
// harmonic mean of both bounds, Shortest x gamma^i x 2 gamma/(gamma+1).
//
// # Error
//
// The relative error of the value is a at both bounds and less between them,
// with gamma = (1+a)/(1-a). With 110 buckets from 1 ms to 60 s, gamma is
// 60000^(1/110) = 1.1052 and a is 4.997 %. The promised error is 5 %, so the
// difference covers the rounding to nanoseconds. With 109 buckets a is 5.043 %.
package latency

import (
	"math"
	"time"
)

// The range with an error of at most 5 %, and the number of buckets in the range.
const (
	Shortest    = time.Millisecond
	Longest     = 60 * time.Second
	BucketCount = 110
)

// Bucket returns the bucket of the duration, 0 to BucketCount-1:
// floor(log(d/Shortest) / log(gamma)). Durations below Shortest belong to the first
// bucket, durations above Longest to the last.
func Bucket(d time.Duration) int {
	d = min(max(d, Shortest), Longest)
	position := math.Log(float64(d)/float64(Shortest)) / math.Log(float64(Longest)/float64(Shortest))
	return min(int(position*BucketCount), BucketCount-1)
}

// Value returns the representative duration of a bucket, rounded to the nanosecond.
// For durations from Shortest to Longest the relative error is at most 5 %. A bucket
// out of range has the value of the nearest bucket.
func Value(bucket int) time.Duration {
	bucket = nearest(bucket)
	return middle(bucket, bucket+1)
}

// middle returns the harmonic mean of the lower bounds of two buckets.
func middle(from, to int) time.Duration {
	lower, upper := bound(from), bound(to)
	return time.Duration(math.Round(2 * lower * upper / (lower + upper)))
}

// bound returns the lower bound of a bucket in nanoseconds.
func bound(bucket int) float64 {
	return float64(Shortest) * math.Pow(float64(Longest)/float64(Shortest), float64(bucket)/BucketCount)
}

func nearest(bucket int) int { return min(max(bucket, 0), BucketCount-1) }
