package admission

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/drain"
	"surehook.example/surehook/internal/rule/review"
)

// AttendAfter is how long the breaker has to process a queued circuit check. After that its
// tick finds the endpoint without the check.
const AttendAfter = time.Minute

// Record is the stored circuit of an endpoint. Values compare with ==.
//
// Waiting and EmptySince say what is known about its parked deliveries:
//
//	Waiting  EmptySince
//	no       zero        none wait
//	yes      zero        some do, or one is about to be parked: [Record.HasParked], written by [Record.ExpectParked]
//	yes      set         none was found since then, but one may have been missed: [Record.Suspect] and the breaker write it
type Record struct {
	circuit.Circuit

	Endpoint       hook.EndpointID `stored:"id"`
	Tenant         hook.TenantID   `stored:"tenant"`
	ThrottledUntil time.Time       `stored:"throttled_until"` // the endpoint answered 429: no attempt starts before this time
	Pace           Pace            `stored:",inline"`         // what the endpoint gets after a 429
	Waiting        bool            `stored:"waiting"`         // deliveries are parked for the endpoint, or may be
	EmptySince     time.Time       `stored:"empty_since"`     // since when the breaker has found no parked delivery; zero: see above
	Wave           int             `stored:"wave"`            // of a release without slots: the number of the next wave, from 1, which also says how many deliveries it has; 0: no release
	Review         review.Flags    `stored:",inline"`         // findings of the last review
	Tally          drain.Tally     `stored:",inline"`         // what the last review counted, if much waits or is dead
	Speed          Class           `stored:"speed"`           // of the endpoint; see SpeedAt
	SpeedAt        time.Time       `stored:"speed_at"`        // the last change of Speed; zero: never
	SeenAt         time.Time       `stored:"seen_at"`         // about when the last attempt was made, up to SeenEvery earlier; only of fast endpoints
	ProbeType      string          `stored:"probe_type"`      // the event type of the last probe sent by the breaker in this outage
	ProbedFrom     time.Time       `stored:"probed_from"`     // the creation of the delivery of the last probe sent by the breaker; zero: none in this outage
	ProbeSentAt    time.Time       `stored:"probe_sent_at"`   // when the breaker sent the task of the next probe; zero: it did not, or the task has come, or another may go at once
	LookFrom       time.Time       `stored:"look_from"`       // when the breaker last forgot the endpoint; zero: no look is planned
	LookAt         time.Time       `stored:"look_at"`         // when the breaker next looks in the index for parked deliveries that it missed; zero: never
	Untold         Untold          `stored:",inline"`         // the last two openings and closings of which nobody was told yet; the next check tells
	AttendAt       time.Time       `stored:"attend_at"`       // from when the breaker's tick checks the endpoint if no message did; zero: never
}

// NewRecord returns the record of an endpoint without a stored record.
func NewRecord(tenant hook.TenantID, endpoint hook.EndpointID) Record {
	return Record{Circuit: circuit.New(), Tenant: tenant, Endpoint: endpoint, Speed: Unproven}
}

// CountOpen returns the number of open and half-open circuits.
func CountOpen(records []Record) int {
	open := 0
	for _, n := range OpenByTenant(records) {
		open += n
	}
	return open
}

// OpenByTenant returns the numbers of open and half-open circuits by tenant, without zeros.
func OpenByTenant(records []Record) map[hook.TenantID]int {
	open := make(map[hook.TenantID]int)
	for _, r := range records {
		if r.State != circuit.Closed {
			open[r.Tenant]++
		}
	}
	return open
}

// Check returns a check of the endpoint, for the wave that is due.
func (r *Record) Check() hook.CircuitCheck {
	return hook.CircuitCheck{Tenant: r.Tenant, Endpoint: r.Endpoint, Wave: r.Wave}
}

// HasParked reports whether parked deliveries are known to wait.
func (r *Record) HasParked() bool { return r.Waiting && r.EmptySince.IsZero() }

// Backlog reports whether deliveries are known to be parked although the circuit is closed.
func (r *Record) Backlog() bool { return r.HasParked() && r.State == circuit.Closed }

// ExpectParked returns the record for deliveries that are about to be parked: Waiting set, EmptySince
// zero and a check planned. If Waiting is set and EmptySince is zero already, nothing changes.
func (r Record) ExpectParked(now time.Time) Record {
	if r.HasParked() {
		return r
	}
	r.Waiting, r.EmptySince = true, time.Time{}
	return r.planCheck(now)
}

// Suspect returns the record for deliveries that may be parked: Waiting set and a check
// planned, in which the breaker asks the index.
func (r Record) Suspect(now time.Time) Record {
	if r.Waiting {
		return r
	}
	r.Waiting, r.EmptySince = true, now
	return r.planCheck(now)
}

// Release returns the record for deliveries that may start now, with a check planned. If the circuit is closed, the
// breaker's check fills the slots ([Record.Width]); after an outage every endpoint that does not coalesce has some. An
// endpoint without slots, because it coalesces or is fast, gets the first wave. If the circuit is open, the check sends a
// probe, even if another was sent and has not come.
func (r Record) Release(now time.Time) Record {
	if r.Waiting && r.State == circuit.Closed {
		r.Wave = 1
	}
	r.ProbeSentAt = time.Time{}
	return r.planCheck(now)
}

// Reset returns the record with a closed circuit and without the hold and the pace of a 429, and with the first
// wave of a release due if deliveries wait.
func (r Record) Reset(now time.Time) Record {
	if r.State != circuit.Closed {
		r = r.unproven(now)
	}
	r.Circuit, r.ThrottledUntil, r.Pace = r.Circuit.Reset(now), time.Time{}, Pace{}
	return r.Release(now)
}

// frees reports whether the change from before ends what deliveries to a closed circuit waited for: its
// strain, or the hold of a 429.
func (r *Record) frees(before Record, now time.Time) bool {
	return !before.StrainedAt.IsZero() && r.StrainedAt.IsZero() || now.Before(before.ThrottledUntil) && r.ThrottledUntil.IsZero()
}

// HeldAtMost returns the record whose hold of a 429, if any, ends after the wait at the latest.
func (r Record) HeldAtMost(wait time.Duration, now time.Time) Record {
	if end := now.Add(wait).Truncate(time.Millisecond); end.Before(r.ThrottledUntil) {
		return r.heldUntil(end)
	}
	return r
}

// Mended returns the record after its owner changed something that may end its trouble, such as the
// URL, or resumed or enabled it: the hold and the pace of a 429 are over, and a check sends a delivery at once, as
// the probe if the circuit is open. The endpoint's own timeout applies again. moved says that the requests go to
// another server now.
func (r Record) Mended(moved bool, now time.Time) Record {
	r.Circuit, r.ThrottledUntil, r.Pace = r.Circuit.Mended(moved, now), time.Time{}, Pace{}
	r.Review.Timeout = 0
	return r.Suspect(now).Release(now)
}

// Trip returns the record with an open circuit.
func (r Record) Trip(s circuit.Settings, now time.Time) Record {
	before := r
	r.Circuit = r.Circuit.Trip(s, now)
	return r.opened(before, now)
}

// opened returns the record whose circuit has opened. The endpoint must prove its speed again, within its own
// timeout: the one that a review shortened may be what it fails by. The first
// probe of a new outage is chosen among the oldest deliveries; if the outage before goes on, so does the choice among
// younger ones.
func (r Record) opened(before Record, now time.Time) Record {
	r.ProbeSentAt, r.Review.Timeout = time.Time{}, 0
	if !r.OpenedAt.Equal(before.OpenedAt) {
		r.ProbeType, r.ProbedFrom = "", time.Time{}
	}
	return r.unproven(now).planCheck(now)
}

// unproven returns the record of an endpoint that must prove its speed again: an outage began, or it
// ended, and the answers meanwhile say nothing about the slots that the endpoint can take now.
func (r Record) unproven(now time.Time) Record { return r.withClass(Unproven, now) }

// withClass returns the record with the speed class, which begins now.
func (r Record) withClass(c Class, now time.Time) Record {
	now = now.UTC().Truncate(time.Millisecond)
	r.Speed, r.SpeedAt, r.SeenAt = c, now, time.Time{}
	if c == Fast {
		r.SeenAt = now
	}
	return r
}

// NextProbe returns the earliest time of the next probe: the end of the cooldown of
// an open circuit or of the lease of a half-open circuit, but not before the end of
// a throttle. Zero for a closed circuit.
func (r *Record) NextProbe() time.Time {
	var at time.Time
	switch r.State {
	case circuit.Open:
		at = r.ProbeAt
	case circuit.HalfOpen:
		at = r.LeaseUntil
	case circuit.Closed:
		return time.Time{}
	}
	return circuit.Later(at, r.ThrottledUntil)
}

// AttendBy returns the record with AttendAt no later than at; a zero at changes nothing.
func (r Record) AttendBy(at time.Time) Record {
	if !at.IsZero() && (r.AttendAt.IsZero() || at.Before(r.AttendAt)) {
		r.AttendAt = at
	}
	return r
}

// planCheck sets AttendAt: for an open or half-open circuit to the time of the next probe, and
// for a closed circuit with waiting deliveries to AttendAfter from now or to the end of a
// throttle, whichever is later; but to AttendAfter from now at the latest if the owner is to be told.
func (r Record) planCheck(now time.Time) Record {
	switch r.State {
	case circuit.Open, circuit.HalfOpen:
		r.AttendAt = r.NextProbe()
	case circuit.Closed:
		r.AttendAt = time.Time{}
		if r.Waiting {
			r.AttendAt = circuit.Later(now.Add(AttendAfter), r.ThrottledUntil)
		}
	}
	if r.Untold != (Untold{}) {
		return r.AttendBy(now.Add(AttendAfter))
	}
	return r
}
