package retry

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	"surehook/internal/hook"
)

// Attempts returns how many attempts the policy makes in all, the first
// included: 1 to hook.MaxAttempts, and at least 2 for a policy that is valid.
func Attempts(p hook.RetryPolicy) int { return attempts(resolve(p)) }

// Next returns the delay before attempt n+1 of the delivery, after attempt n,
// counted from 1, has failed. ok is false when n was the last attempt.
//
// The delay is never shorter than retryAfter, the wait that the endpoint asked
// for (0 or less for none), of which at most MaxRetryAfter counts. It is at
// most 1.1 x hook.MaxDelay, even for a policy that was never validated, and
// the same whenever it is asked for. Before the first attempt (n = 0) there is
// nothing to wait for but retryAfter.
func Next(p hook.RetryPolicy, d hook.DeliveryID, n int, retryAfter time.Duration) (delay time.Duration, ok bool) {
	p = resolve(p)
	if n >= attempts(p) {
		return 0, false
	}
	floor := min(max(retryAfter, 0), MaxRetryAfter)
	if n < 1 {
		return floor, true
	}
	low, high := spread(p.Jitter, base(p, n))
	delay = low + time.Duration(unit(d, n)*float64(high-low))
	return max(delay, floor), true
}

// Planned returns when the attempts after attempt n will be made if attempt n
// failed at last and each later one fails at once, without asking for a wait.
// It is empty when n was the last attempt. For a delivery whose attempt n+1 has
// a planned time already, ask for those after it: Planned(p, d, n+1, planned).
func Planned(p hook.RetryPolicy, d hook.DeliveryID, n int, last time.Time) []time.Time {
	var times []time.Time
	for n = max(n, 0); ; n++ {
		delay, ok := Next(p, d, n, 0)
		if !ok {
			return times
		}
		last = last.Add(delay)
		times = append(times, last)
	}
}

// Expired reports whether a delivery created at createdAt has run out of time:
// it is older than maxAge. One that is exactly maxAge old has not.
func Expired(createdAt, now time.Time, maxAge time.Duration) bool {
	return now.Sub(createdAt) > maxAge
}

// spread returns the ends of the interval that a delay is drawn from. A policy
// that names no jitter has full jitter.
func spread(j hook.Jitter, d time.Duration) (low, high time.Duration) {
	switch j {
	case hook.JitterEqual:
		return d / 2, d
	case hook.JitterProportional:
		return d - d/10, d + d/10
	case hook.JitterNone:
		return d, d
	case hook.JitterFull:
		return 0, d
	}
	return 0, d
}

// unit returns a number in [0, 1) that depends on the delivery and the attempt
// only: the first 53 bits, as many as a float64 holds, of a SHA-256.
func unit(d hook.DeliveryID, n int) float64 {
	sum := sha256.Sum256([]byte(d.String() + "#" + strconv.Itoa(n)))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
