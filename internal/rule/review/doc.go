// Package review holds the rules of the periodic review of an endpoint, every
// quarter of an hour: flag slow endpoints, warn owners, disable failing endpoints.
// The rules are functions of counts and values. The package has no clock, store or
// messages.
//
// # Thresholds
//
//	p95 of two hours   > 2 s, 20 samples    slow: fewer concurrent attempts, and a shorter timeout until the circuit opens
//	                   > 5 s, 20 samples    fragile: the circuit opens at three failures in a row, not at five
//	dead rate of a day > 25 %, 20 settled   first warning to the owner
//	                   > 40 %, 20 settled   second warning to the owner
//	                   > 50 %, 20 settled   the endpoint is disabled, under the conditions below
//
// All thresholds are exclusive. With fewer than 20 samples the last decision stands. Percentiles come from package latency, with an error of at most 5 %.
//
// # Disabling
//
// The dead rate disables an endpoint only under all of these conditions:
//
//   - AutoDisable of the endpoint is set.
//   - A review of an earlier quarter of an hour gave the second warning, in the current
//     status. So the first review above 50 % only warns.
//   - The endpoint fails now: the current and the previous clock hour have a death or a
//     transient failure, and no success.
//
// A death does not count after a replay of the delivery is settled: the result of the
// replay counts in its place.
//
// # Deliveries at risk
//
// A warning comes before the first loss: Lead before the first waiting delivery passes max_age,
// however it is held back. The trouble ends when no review has found the loss near for
// half of that.
//
// # Notifications
//
// The owner is notified when the endpoint becomes slow, at each higher warning, when it is
// disabled, when it recovers, and once per trouble of deliveries at risk. The key of a notification
// contains the quarter of an hour, for a disabling the version of the endpoint, and for deliveries
// at risk the end of the trouble before. So a repeated review in the same quarter gives equal keys.
package review

import "time"

// The thresholds, all exclusive.
const (
	SlowOver    = 2 * time.Second // 95th percentile of a slow endpoint
	FragileOver = 5 * time.Second // 95th percentile of a fragile endpoint

	WarnOver      = 0.25 // dead rate of the first warning, Flags.Warned 25
	WarnAgainOver = 0.40 // dead rate of the second warning, Flags.Warned 40
	DisableOver   = 0.50 // dead rate for disabling the endpoint

	Enough = 20 // minimum of samples, or of settled deliveries, for a decision

	MinTimeout = 2 * time.Second  // shortest timeout of an attempt at a slow endpoint
	Every      = 15 * time.Minute // interval between reviews
	Span       = 25 * time.Hour   // age of the oldest counts: 24 hours to judge, and up to 1 hour more because counts begin on the hour
)

// The values of Flags.Warned, in percent.
const (
	WarnedNever = 0
	WarnedOnce  = 25 // the dead rate was over WarnOver
	WarnedTwice = 40 // the dead rate was over WarnAgainOver
)
