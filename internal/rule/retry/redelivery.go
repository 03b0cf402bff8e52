package retry

import "time"

const (
	firstRedelivery = 2 * time.Second
	maxRedelivery   = 10 * time.Minute
	// maxRedeliveryDoublings keeps the shift below the overflow: 2 s x 2^9 is
	// 1,024 s, already more than maxRedelivery.
	maxRedeliveryDoublings = 9
)

// Redelivery returns the time until SQS delivers a failed message again:
// min(2 s x 2^(receives-1), 10 min), with equal jitter. The result is uniform in
// [d/2, d). receives counts all receives of the message, the failed one included;
// a value below 1 counts as 1. unit is uniform in [0, 1).
//
// A fault of seconds then costs the delivery seconds, and a message that keeps
// failing costs six receives an hour.
func Redelivery(receives int, unit float64) time.Duration {
	d := min(firstRedelivery<<min(max(receives-1, 0), maxRedeliveryDoublings), maxRedelivery)
	return d/2 + time.Duration(unit*float64(d/2))
}
