// Package review is the rules by which an endpoint is judged every quarter of an
// hour: whether it is slow, whether its owner is to be warned, and whether it is
// disabled. It decides over counts and values; it has no clock, reads nothing and
// tells nobody.
//
//	p95 of two hours   > 2 s, 20 samples    slow: its attempts under way are capped, and end earlier
//	                   > 5 s, 20 samples    fragile: three failures in a row open its circuit, not five
//	dead rate of a day > 25 %, 20 settled   its owner is warned
//	                   > 40 %, 20 settled   its owner is warned again
//	                   > 50 %, 20 settled   it is disabled
//
// With fewer than 20 what was decided before stays. Percentiles are those of
// package latency, so a duration is told to 5 %.
package review

import "time"

// The limits. All are exceeded by what is more than they are, not by what is as much.
const (
	SlowOver    = 2 * time.Second // 95th percentile of a slow endpoint
	FragileOver = 5 * time.Second // 95th percentile of a fragile endpoint

	WarnOver      = 0.25 // dead rate of the first warning, Flags.Warned 25
	WarnAgainOver = 0.40 // dead rate of the second warning, Flags.Warned 40
	DisableOver   = 0.50 // dead rate of an endpoint that is disabled

	Enough = 20 // samples, or settled deliveries, without which nothing is decided

	MinTimeout = 2 * time.Second  // of an attempt at a slow endpoint
	Every      = 15 * time.Minute // from one review to the next
)

// The warnings, as Flags.Warned tells them.
const (
	WarnedNever = 0
	WarnedOnce  = 25 // the dead rate was over WarnOver
	WarnedTwice = 40 // the dead rate was over WarnAgainOver
)
