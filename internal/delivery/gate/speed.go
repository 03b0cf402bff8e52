package gate

import (
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/isolation"
)

// SpeedAtNow returns the speed class in force: slow if the review says so, and unproven after a
// week without an attempt.
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

// Slots returns the highest number of in-flight slots of the endpoint; 0: an attempt needs no
// slot.
func (r *Record) Slots(e *hook.Endpoint, now time.Time) int {
	return isolation.Slots(e, r.SpeedAtNow(now))
}

// Width returns the highest number of slots through which parked deliveries are sent; 0: they
// are sent in waves.
func (r *Record) Width(e *hook.Endpoint, now time.Time) int {
	return isolation.Width(e, r.SpeedAtNow(now))
}

// Open returns the slots that the endpoint has now, of the given highest number, by its limits.
// While it sheds, it has fewer.
func (r *Record) Open(l isolation.Limits, most int, now time.Time) int {
	most = max(min(most, 1), most*(100-r.Sheds(now))/100)
	if r.SpeedAtNow(now) == isolation.Fast {
		return most
	}
	return l.Open(most, r.FirstSlots(), r.SpeedAt, now)
}

// FirstSlots returns the number of slots before the first answer in the speed class: one if the
// class began with an outage.
func (r *Record) FirstSlots() int {
	if !r.ClosedAt.IsZero() && !r.ClosedAt.Before(r.SpeedAt) {
		return 1
	}
	return isolation.FirstSlots
}

// Backlog reports whether deliveries are known to be parked although the circuit is closed.
func (r *Record) Backlog() bool { return r.HasParked() && r.State == circuit.Closed }

// FullWave is the first wave of a release with as many deliveries as a wave can have.
const FullWave = 10

// Promoted returns the record with the class fast, if the score proves the speed. Then a full wave
// of its waiting deliveries is due.
func (r Record) Promoted(l isolation.Limits, now time.Time) Record {
	rested := r.Speed != isolation.Slow || now.Sub(r.SpeedAt) >= isolation.SlowRest
	if r.Speed == isolation.Fast || !rested || !l.Score.Proven() || !l.ScoreAt.Equal(r.SpeedAt) {
		return r
	}
	r = r.withClass(isolation.Fast, now)
	if r.Backlog() {
		r.Wave = FullWave
		r = r.planCheck(now)
	}
	return r
}

// seen returns the record after attempts that were made now.
func (r Record) seen(now time.Time) Record {
	switch {
	case r.Speed != isolation.Fast:
		return r
	case r.silent(now):
		return r.withClass(isolation.Unproven, now)
	case now.Sub(r.SeenAt) > isolation.SeenEvery:
		r.SeenAt = now.UTC().Truncate(time.Millisecond)
	}
	return r
}
