package admission

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
)

// SpeedAtNow returns the speed class in force: slow if the review says so, and unproven after a
// week without an attempt.
func (r *Record) SpeedAtNow(now time.Time) Class {
	switch {
	case r.Review.Slow:
		return Slow
	case r.Speed == Fast && r.silent(now):
		return Unproven
	}
	return r.Speed
}

func (r *Record) silent(now time.Time) bool {
	return now.Sub(r.SeenAt) > Silence+SeenEvery
}

// Slots returns the highest number of in-flight slots of the endpoint; 0: an attempt needs no
// slot.
func (r *Record) Slots(e *hook.Endpoint, now time.Time) int {
	return Slots(e, r.SpeedAtNow(now))
}

// Width returns the highest number of slots through which parked deliveries are sent; 0: they
// are sent in waves.
func (r *Record) Width(e *hook.Endpoint, now time.Time) int {
	return Width(e, r.SpeedAtNow(now))
}

// AdmitsNow returns the share of first attempts that may start now, 0 to 1: none while the endpoint
// is paused, disabled or throttled.
func (r *Record) AdmitsNow(e *hook.Endpoint, now time.Time) float64 {
	if e.Status != hook.StatusActive || now.Before(r.ThrottledUntil) {
		return 0
	}
	return r.Share(now)
}

// SlotsNow returns the slots that the endpoint has now, of the given highest number, by its limits.
// While it sheds, it has fewer.
func (r *Record) SlotsNow(l Limits, most int, now time.Time) int {
	most = max(min(most, 1), most*(100-r.Sheds(now))/100)
	if r.SpeedAtNow(now) == Fast {
		return most
	}
	return l.SlotsNow(most, r.FirstSlots(), r.SpeedAt, now)
}

// FirstSlots returns the number of slots before the first answer in the speed class: one if the
// class began with an outage.
func (r *Record) FirstSlots() int {
	if !r.ClosedAt.IsZero() && !r.ClosedAt.Before(r.SpeedAt) {
		return 1
	}
	return FirstSlots
}

// Backlog reports whether deliveries are known to be parked although the circuit is closed.
func (r *Record) Backlog() bool { return r.HasParked() && r.State == circuit.Closed }

// FullWave is the first wave of a release with as many deliveries as a wave can have.
const FullWave = 10

// Promoted returns the record with the class fast, if the score proves the speed. Then a full wave
// of its waiting deliveries is due.
func (r Record) Promoted(l Limits, now time.Time) Record {
	rested := r.Speed != Slow || now.Sub(r.SpeedAt) >= SlowRest
	if r.Speed == Fast || !rested || !l.Score.Proven() || !l.ScoreAt.Equal(r.SpeedAt) {
		return r
	}
	r = r.withClass(Fast, now)
	if r.Backlog() {
		r.Wave = FullWave
		r = r.planCheck(now)
	}
	return r
}

// seen returns the record after attempts that were made now.
func (r Record) seen(now time.Time) Record {
	switch {
	case r.Speed != Fast:
		return r
	case r.silent(now):
		return r.withClass(Unproven, now)
	case now.Sub(r.SeenAt) > SeenEvery:
		r.SeenAt = now.UTC().Truncate(time.Millisecond)
	}
	return r
}
