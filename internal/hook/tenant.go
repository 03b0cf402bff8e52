package hook

import (
	"fmt"
	"time"
)

// Bounds of a tenant's limits.
const (
	// MaxEventsPerSecond is the largest limit. A tenant without a limit may exceed it.
	MaxEventsPerSecond    = 10000
	MaxDeliveriesPerEvent = MaxEndpointsPerTenant
	// MinRetention is the shortest retention of an event. No delivery outlives its event, and
	// at least half of the retention remains for replays.
	MinRetention = 2 * MaxMaxAge
)

// TenantLimits are the operator's limits of a tenant. The zero TenantLimits add nothing to the
// bounds that hold for every tenant.
type TenantLimits struct {
	EventsPerSecond    int // posted events, repeats included, with a burst of one second; 0: no limit
	DeliveriesPerEvent int // endpoints that one event may go to; 0: no limit
	Endpoints          int // endpoints of the tenant; 0: MaxEndpointsPerTenant
	// RetainFor is the longest retention of events accepted from now on; 0: the environment's.
	RetainFor time.Duration
}

// ValidateTenantLimits checks the bounds of all limits. retention is the environment's.
func ValidateTenantLimits(l TenantLimits, retention time.Duration) []FieldError {
	var errs Fields
	check := func(field string, limit, most int) {
		errs.Refuse(limit < 0 || limit > most, field, "must be 1 to %d", most)
	}
	check("events_per_second", l.EventsPerSecond, MaxEventsPerSecond)
	check("deliveries_per_event", l.DeliveriesPerEvent, MaxDeliveriesPerEvent)
	check("endpoints", l.Endpoints, MaxEndpointsPerTenant)
	return append(errs, ValidateRetainFor(l.RetainFor, retention)...)
}

// ValidateRetainFor checks a retention shorter than the environment's. 0 means none.
func ValidateRetainFor(d, retention time.Duration) []FieldError {
	if d == 0 || d >= MinRetention && d <= retention {
		return nil
	}
	return []FieldError{{"retain_for", fmt.Sprintf("must be %s to %s", FormatDuration(MinRetention), FormatDuration(retention))}}
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
	return &Error{
		Code:       CodeThrottled,
		Message:    fmt.Sprintf("the tenant is limited to %d events per second (events_per_second)", l.EventsPerSecond),
		RetryAfter: wait,
	}
}

// TooManyDeliveries returns the error for an event past the limit DeliveriesPerEvent.
func (l TenantLimits) TooManyDeliveries(matching int) *Error {
	return OverLimit(fmt.Sprintf(
		"the event matches %d endpoints, and the tenant is limited to %d deliveries per event (deliveries_per_event)",
		matching, l.DeliveriesPerEvent,
	))
}

// TooManyEndpoints returns the error for an endpoint past the limit Endpoints, or
// past MaxEndpointsPerTenant without the limit.
func (l TenantLimits) TooManyEndpoints() *Error {
	if l.Endpoints == 0 {
		return Conflict(fmt.Sprintf("a tenant has at most %d endpoints", MaxEndpointsPerTenant))
	}
	return OverLimit(fmt.Sprintf("the tenant is limited to %d endpoints (endpoints)", l.Endpoints))
}

// Values of Spend.Of.
const (
	SpentChallenges = "challenges" // challenges to receivers
	SpentTests      = "tests"      // test events
)

// Spend is a request to count events against a limit of events per second. It is the generic
// cell rate algorithm (ITU-T I.371) with a burst of one second. The only stored state is the
// tenant's next-free time: the time until which the limit is used up.
//
// A batch larger than one second's limit is accepted as soon as all earlier events are paid
// for, and then keeps the tenant waiting until its own events are paid for. So every batch
// passes eventually, and the mean rate stays below the limit.
type Spend struct {
	Of     string // what is counted, each with a next-free time of its own; empty: posted events
	Now    time.Time
	Latest time.Time     // the latest next-free time at which the events are still accepted
	Cost   time.Duration // time that the events use up at the limit
}

// NewSpend returns the request for a number of events at the limit perSecond.
func NewSpend(events, perSecond int, now time.Time) Spend {
	cost := time.Duration(events) * time.Second / time.Duration(perSecond)
	return Spend{Now: now, Latest: now.Add(time.Second - min(cost, time.Second)), Cost: cost}
}

// SpendOne returns the request for one thing of the kind at the limit perMinute, with a burst of
// one minute.
func SpendOne(of string, perMinute int, now time.Time) Spend {
	cost := time.Minute / time.Duration(perMinute)
	return Spend{Of: of, Now: now, Latest: now.Add(time.Minute - cost), Cost: cost}
}

// After returns the next-free time after the request, and how long to wait. A wait above 0
// means that the events are refused and the next-free time stays the same.
func (s Spend) After(free time.Time) (next time.Time, wait time.Duration) {
	if free.After(s.Latest) {
		return free, free.Sub(s.Latest)
	}
	if free.Before(s.Now) {
		free = s.Now
	}
	return free.Add(s.Cost), 0
}
