package gate

import (
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/isolation"
)

// SpeedAtNow returns the class in force: slow if the review found so, and unproven
// after a long silence.
func (r *Record) SpeedAtNow(now time.Time) isolation.Class {
	switch {
	case r.Review.Slow:
		return isolation.Slow
	case r.Speed == isolation.Fast && r.silent(now):
		return isolation.Unproven
	}
	return r.Speed
}

func (r *Record) silent(now time.Time) bool {
	return now.Sub(r.SeenAt) > isolation.Silence+isolation.SeenEvery
}

// Slots returns the number of in-flight slots of the endpoint now; 0: an attempt needs no
// slot. A recovering endpoint has fewer.
func (r *Record) Slots(e *hook.Endpoint, now time.Time) int {
	return isolation.Slots(e, r.SpeedAtNow(now), r.AtOnce)
}

// Width returns the number of slots in which parked deliveries are sent now; 0: in waves.
func (r *Record) Width(e *hook.Endpoint, now time.Time) int {
	return isolation.Width(e, r.SpeedAtNow(now), r.AtOnce)
}

// Backlog reports whether parked deliveries are known to wait for a closed circuit.
func (r *Record) Backlog() bool { return r.HasParked() && r.State == circuit.Closed }

// Promoted returns the record of a fast endpoint, if the score proves the speed.
func (r Record) Promoted(l isolation.Limits, now time.Time) Record {
	rested := r.Speed != isolation.Slow || now.Sub(r.SpeedAt) >= isolation.SlowRest
	if r.Speed != isolation.Fast && rested && l.Score.Proven() && l.ScoreAt.Equal(r.SpeedAt) {
		return r.as(isolation.Fast, now)
	}
	return r
}

// as returns the record with the class.
func (r Record) as(c isolation.Class, now time.Time) Record {
	now = now.UTC().Truncate(time.Millisecond)
	r.Speed, r.SpeedAt, r.SeenAt = c, now, time.Time{}
	if c == isolation.Fast {
		r.SeenAt = now
	}
	return r
}

// seen returns the record with attempts now.
func (r Record) seen(now time.Time) Record {
	switch {
	case r.Speed != isolation.Fast:
		return r
	case r.silent(now):
		return r.as(isolation.Unproven, now)
	case now.Sub(r.SeenAt) > isolation.SeenEvery:
		r.SeenAt = now.UTC().Truncate(time.Millisecond)
	}
	return r
}
