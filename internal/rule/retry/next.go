package retry

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Attempts returns the total number of attempts of the policy, including the
// first: 1 to hook.MaxAttempts, and at least 2 for a valid policy.
func Attempts(p hook.RetryPolicy) int { return attempts(resolve(p)) }

// Next returns the delay between the failure of attempt n (from 1) and attempt
// n+1 of the delivery. ok is false after the last attempt.
//
// retryAfter is the wait that the endpoint asked for, 0 or less for none. The delay is at least
// min(retryAfter, hook.MaxMaxRetryAfter), and at most 1.1 x hook.MaxDelay, even for an invalid policy.
// Equal arguments give equal delays. For n below 1, before the first attempt, the delay is the
// requested wait.
func Next(p hook.RetryPolicy, d hook.DeliveryID, n int, retryAfter time.Duration) (delay time.Duration, ok bool) {
	p = resolve(p)
	if n >= attempts(p) {
		return 0, false
	}
	floor := min(max(retryAfter, 0), hook.MaxMaxRetryAfter)
	if n < 1 {
		return floor, true
	}
	low, high := spread(p.Jitter, base(p, n))
	delay = low + time.Duration(unit(d, n)*float64(high-low))
	return max(delay, floor), true
}

// Planned returns the times of the attempts after attempt n, if attempt n fails at time last.
// It assumes that further attempts fail at once and that the endpoint asks for no wait. After
// the last attempt the result is nil. If attempt n+1 already has a planned time, Planned(p,
// d, n+1, planned) returns the times of the attempts after it.
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

// Deadline returns the latest time of an attempt: when the delivery reaches maxAge, or at
// ClosesAt if that is earlier, because the delivery must end before its records are deleted.
func Deadline(d hook.Delivery, maxAge time.Duration) time.Time {
	end := d.CreatedAt.Add(maxAge)
	if closes := d.ClosesAt(); !closes.IsZero() && closes.Before(end) {
		return closes
	}
	return end
}

// Expired reports whether now is after the Deadline.
func Expired(d hook.Delivery, now time.Time, maxAge time.Duration) bool {
	return now.After(Deadline(d, maxAge))
}

// spread returns the bounds between which a delay is drawn. The zero Jitter means full jitter.
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

// unit returns a number in [0, 1) that depends only on the delivery and the attempt: the first
// 53 bits, the precision of a float64, of a SHA-256.
func unit(d hook.DeliveryID, n int) float64 {
	sum := sha256.Sum256([]byte(d.String() + "#" + strconv.Itoa(n)))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}
