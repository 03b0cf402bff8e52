package gate

import (
	"time"

	"surehook/internal/hook"
)

// Delays reports whether the gate may have sent tokens of the endpoint on to a later
// time, without a change of their deliveries: a throttle lasted beyond since, rate slots
// after now are reserved, or all in-flight slots are taken. r and l are the endpoint's
// records. Tokens for slots before now may still be on their way.
func Delays(e hook.Endpoint, r Record, l Limits, since, now time.Time) bool {
	most := (Query{Endpoint: &e, Record: r}).maxInFlight()
	return r.ThrottledUntil.After(since) || l.Reserved(e.RatePerSecond, now) > 0 || most > 0 && l.InFlight(now) >= most
}
