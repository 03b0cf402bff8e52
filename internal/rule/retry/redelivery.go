package retry

import "time"

const (
	firstRedelivery = 2 * time.Second
	maxRedelivery   = 10 * time.Minute
	// maxRedeliveryDoublings keeps the shift from overflowing: 2 s x 2^9 is 1,024 s, already
	// more than maxRedelivery.
	maxRedeliveryDoublings = 9
)

// Redelivery returns how long SQS hides a failed message until it is received again: min(2 s x
// 2^(receives-1), 10 min), with equal jitter, so uniform in [d/2, d). receives counts all
// receives of the message, including the failed one; a value below 1 counts as 1. unit is
// uniform in [0, 1).
//
// So a fault that lasts seconds delays a delivery by seconds, and a message that keeps failing
// costs six to twelve receives an hour.
func Redelivery(receives int, unit float64) time.Duration {
	d := min(firstRedelivery<<min(max(receives-1, 0), maxRedeliveryDoublings), maxRedelivery)
	return d/2 + time.Duration(unit*float64(d/2))
}
