package hook

import (
	"cmp"
	"fmt"
	"time"
)

// Bounds of a tenant's limits.
const (
	// MaxEventsPerSecond is the largest limit. A tenant without a limit may exceed it.
	MaxEventsPerSecond    = 10000
	MaxDeliveriesPerEvent = MaxTargets
	MaxReplaysPerHour     = 1_000_000
	MaxChangesPerHour     = 100_000
	// MinRetention is the shortest retention of an event. No delivery outlives its event, and
	// at least half of the retention remains for replays.
	MinRetention = 2 * MaxMaxAge
)

// TenantLimits are the operator's limits of a tenant. The zero TenantLimits add nothing to the
// bounds that hold for every tenant.
type TenantLimits struct {
	EventsPerSecond    int `stored:"events_per_second"`    // posted events, repeats included, with a burst of one second; 0: no limit
	DeliveriesPerEvent int `stored:"deliveries_per_event"` // endpoints that one event may go to; 0: MaxDeliveriesPerEvent
	Endpoints          int `stored:"endpoints"`            // endpoints of the tenant; 0: DefaultEndpoints
	ReplaysPerHour     int `stored:"replays_per_hour"`     // deliveries sent again, by hand or by a job, with a burst of one hour; 0: no limit
	ChangesPerHour     int `stored:"changes_per_hour"`     // changes by the API, each of which leaves a record, with a burst of one hour; 0: no limit
	// RetainFor is the longest retention of events accepted from now on; 0: the environment's.
	RetainFor time.Duration `stored:"retain_for_ns"`
}

// ValidateTenantLimits checks the bounds of all limits. retention is the environment's.
func ValidateTenantLimits(l TenantLimits, retention time.Duration) []FieldError {
	var errs Fields
	NoneOrBetween(&errs, "events_per_second", l.EventsPerSecond, 1, MaxEventsPerSecond)
	NoneOrBetween(&errs, "deliveries_per_event", l.DeliveriesPerEvent, 1, MaxDeliveriesPerEvent)
	NoneOrBetween(&errs, "endpoints", l.Endpoints, 1, MaxEndpointsPerTenant)
	NoneOrBetween(&errs, "replays_per_hour", l.ReplaysPerHour, 1, MaxReplaysPerHour)
	NoneOrBetween(&errs, "changes_per_hour", l.ChangesPerHour, 1, MaxChangesPerHour)
	return append(errs, ValidateRetainFor(l.RetainFor, retention)...)
}

// ValidateRetainFor checks a retention shorter than the environment's. 0 means none.
func ValidateRetainFor(d, retention time.Duration) (errs Fields) {
	NoneOrBetween(&errs, "retain_for", d, MinRetention, retention)
	return errs
}

// Retention returns the retention of an event: the shortest of the environment's, the tenant's
// and asked, the one that the event asks for (0: none).
func (l TenantLimits) Retention(environment, asked time.Duration) time.Duration {
	for _, shorter := range []time.Duration{l.RetainFor, asked} {
		if shorter > 0 {
			environment = min(environment, shorter)
		}
	}
	return environment
}

// TooManyEvents returns the error for events past the limit EventsPerSecond. wait is how long
// until the limit has room for these events.
func (l TenantLimits) TooManyEvents(wait time.Duration) *Error {
	return tooMany("%d events per second (events_per_second)", l.EventsPerSecond, wait)
}

// TooManyReplays returns the error for replays past the limit ReplaysPerHour.
func (l TenantLimits) TooManyReplays(wait time.Duration) *Error {
	return tooMany("%d replays per hour (replays_per_hour)", l.ReplaysPerHour, wait)
}

// TooManyChanges returns the error for a change past the limit ChangesPerHour.
func (l TenantLimits) TooManyChanges(wait time.Duration) *Error {
	return tooMany("%d changes per hour (changes_per_hour)", l.ChangesPerHour, wait)
}

func tooMany(limit string, n int, wait time.Duration) *Error {
	return &Error{Code: CodeThrottled, Message: "the tenant is limited to " + fmt.Sprintf(limit, n), RetryAfter: wait}
}

// MostDeliveries returns how many endpoints one event may go to.
func (l TenantLimits) MostDeliveries() int {
	return cmp.Or(l.DeliveriesPerEvent, MaxDeliveriesPerEvent)
}

// TooManyDeliveries returns the error for an event that matches more endpoints than it may go to.
func TooManyDeliveries(matching, most int) *Error {
	return OverLimit(fmt.Sprintf(
		"the event matches %d endpoints, and the tenant is limited to %d deliveries per event (deliveries_per_event)", matching, most,
	))
}

// TooManyEndpoints returns the error for an endpoint past the limit Endpoints, or past the default
// without the limit.
func (l TenantLimits) TooManyEndpoints() *Error {
	if l.Endpoints == 0 {
		return Conflict(fmt.Sprintf("a tenant has at most %d endpoints", DefaultEndpoints))
	}
	return OverLimit(fmt.Sprintf("the tenant is limited to %d endpoints (endpoints)", l.Endpoints))
}

// Values of Spend.Of.
const (
	SpentEvents     = ""           // posted events
	SpentChallenges = "challenges" // challenges to receivers
	SpentTests      = "tests"      // test events
	SpentReplays    = "replays"    // deliveries sent again
	SpentChanges    = "changes"    // changes by the API
)

// Spend is a request to count things against a limit of so many in a period, such as events per
// second. It is the generic cell rate algorithm (ITU-T I.371) with a burst of one period. The only
// stored state is the tenant's next-free time: the time until which the limit is used up.
//
// A batch larger than one period's limit is accepted as soon as all earlier things are paid
// for, and then keeps the tenant waiting until its own are paid for. So every batch
// passes eventually, and the mean rate stays below the limit.
type Spend struct {
	Of     string // what is counted, each with a next-free time of its own
	Now    time.Time
	Latest time.Time     // the latest next-free time at which they are still accepted
	Cost   time.Duration // time that they use up at the limit
}

// NewSpend returns the request for n things of the kind, at the limit of most in the period.
func NewSpend(of string, n, most int, period time.Duration, now time.Time) Spend {
	cost := time.Duration(n) * period / time.Duration(most)
	return Spend{Of: of, Now: now, Latest: now.Add(period - min(cost, period)), Cost: cost}
}

// After returns the next-free time after the request, and how long to wait. A wait above 0
// means that they are refused and the next-free time stays the same.
func (s Spend) After(free time.Time) (next time.Time, wait time.Duration) {
	if free.After(s.Latest) {
		return free, free.Sub(s.Latest)
	}
	if free.Before(s.Now) {
		free = s.Now
	}
	return free.Add(s.Cost), 0
}
