package gate

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/review"
)

// AttendAfter is how long the breaker is given to come by itself, because it
// was asked to, before its tick looks after the endpoint.
const AttendAfter = time.Minute

// Record is what is stored of an endpoint's circuit. Values compare with ==.
type Record struct {
	circuit.Circuit

	Endpoint       hook.EndpointID
	Tenant         hook.TenantID
	ThrottledUntil time.Time    // the endpoint answered 429: nothing is sent before this
	Waiting        bool         // deliveries are parked for the endpoint, or were about to be
	EmptySince     time.Time    // the breaker found none parked; zero when some were, or when one was about to be since
	Wave           int          // the wave of the release that comes next, from 1; 0 when none is going on
	Review         review.Flags // what the last review found
	AttendAt       time.Time    // when the tick looks after the endpoint at the latest; zero: never
}

// NewRecord returns the record of an endpoint about which nothing is stored.
func NewRecord(tenant hook.TenantID, endpoint hook.EndpointID) Record {
	return Record{Circuit: circuit.New(), Tenant: tenant, Endpoint: endpoint}
}

// CountOpen returns how many of the circuits are open or half-open.
func CountOpen(records []Record) int {
	open := 0
	for _, r := range records {
		if r.State != circuit.Closed {
			open++
		}
	}
	return open
}

// Wait returns the record with somebody waiting. It is the same if that was
// known, and if the breaker has not begun to think otherwise.
func (r Record) Wait(now time.Time) Record {
	if r.Waiting && r.EmptySince.IsZero() {
		return r
	}
	r.Waiting, r.EmptySince = true, time.Time{}
	return r.planAttention(now)
}

// Release returns the record with a release beginning, if somebody waits for
// an endpoint whose circuit is closed.
func (r Record) Release(now time.Time) Record {
	if r.Waiting && r.State == circuit.Closed {
		r.Wave = 1
	}
	return r.planAttention(now)
}

// Reset returns the record with its circuit closed, whatever it was, and a
// release beginning if somebody waits.
func (r Record) Reset(now time.Time) Record {
	r.Circuit = r.Circuit.Reset(now)
	return r.Release(now)
}

// Trip returns the record with its circuit open, whatever it was.
func (r Record) Trip(s circuit.Settings, now time.Time) Record {
	r.Circuit = r.Circuit.Trip(s, now)
	return r.planAttention(now)
}

// planAttention sets when the tick looks after the endpoint.
func (r Record) planAttention(now time.Time) Record {
	switch r.State {
	case circuit.Open:
		r.AttendAt = r.ProbeAt
	case circuit.HalfOpen:
		r.AttendAt = r.LeaseUntil
	case circuit.Closed:
		r.AttendAt = time.Time{}
		if r.Waiting {
			r.AttendAt = now.Add(AttendAfter)
		}
	}
	return r
}
