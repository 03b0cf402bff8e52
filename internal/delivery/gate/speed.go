package gate

import (
	"context"
	"fmt"
	"math"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/speed"
)

// The parked deliveries of a fast endpoint with a rate are sent in as many slots as the
// rate has deliveries a second: a token waits for its rate slot for up to a second, the
// unit of the queue, and holds an in-flight slot meanwhile. The limits hold each lease in
// about 70 bytes, so the slots are at most 50.
const (
	minDrainSlots = 20
	maxDrainSlots = 50
)

// SpeedAtNow returns the class in force: slow if the review found so, and unproven
// after a long silence.
func (r *Record) SpeedAtNow(now time.Time) speed.Class {
	switch {
	case r.Review.Slow:
		return speed.Slow
	case r.Speed == speed.Fast && r.silent(now):
		return speed.Unproven
	}
	return r.Speed
}

func (r *Record) silent(now time.Time) bool { return now.Sub(r.SeenAt) > speed.Silence+speed.SeenEvery }

// Slots returns the number of in-flight slots of the endpoint; 0: an attempt needs no
// slot. A recovering endpoint has fewer.
func (r *Record) Slots(e *hook.Endpoint, now time.Time) int {
	slots := 0
	switch {
	case e.MaxInFlight > 0:
		slots = e.MaxInFlight
	case r.SpeedAtNow(now) != speed.Fast:
		slots = speed.Slots
	}
	if r.AtOnce > 0 && (slots == 0 || r.AtOnce < slots) {
		return r.AtOnce
	}
	return slots
}

// Width returns the number of slots in which parked deliveries are sent; 0: in waves. The
// deliveries of a coalescing endpoint have no slot each, and are sent in waves.
func (r *Record) Width(e *hook.Endpoint, now time.Time) int {
	if e.Coalesce.On() {
		return 0
	}
	slots := r.Slots(e, now)
	if slots == 0 && e.RatePerSecond > 0 {
		return int(min(max(math.Ceil(e.RatePerSecond), minDrainSlots), maxDrainSlots))
	}
	return slots
}

// Backlog reports whether parked deliveries are known to wait for a closed circuit.
func (r *Record) Backlog() bool { return r.Parks() && r.State == circuit.Closed }

// Promoted returns the record of a fast endpoint, if the score proves the speed.
func (r Record) Promoted(l Limits, now time.Time) Record {
	rested := r.Speed != speed.Slow || now.Sub(r.SpeedAt) >= speed.SlowRest
	if r.Speed != speed.Fast && rested && l.Score.Proven() && l.ScoreAt.Equal(r.SpeedAt) {
		return r.as(speed.Fast, now)
	}
	return r
}

// as returns the record with the class.
func (r Record) as(c speed.Class, now time.Time) Record {
	now = now.UTC().Truncate(time.Millisecond)
	r.Speed, r.SpeedAt, r.SeenAt = c, now, time.Time{}
	if c == speed.Fast {
		r.SeenAt = now
	}
	return r
}

// seen returns the record with attempts now.
func (r Record) seen(now time.Time) Record {
	switch {
	case r.Speed != speed.Fast:
		return r
	case r.silent(now):
		return r.as(speed.Unproven, now)
	case now.Sub(r.SeenAt) > speed.SeenEvery:
		r.SeenAt = now.UTC().Truncate(time.Millisecond)
	}
	return r
}

// Late counts n late attempts of a fast endpoint that may still be in flight. The
// speed.MaxLate-th in a minute makes the endpoint slow.
func (g *Gate) Late(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, n int) error {
	var late Limits
	err := hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		before, err := g.Store.Limits(ctx, id)
		if err != nil {
			return fmt.Errorf("read limits of %s: %w", id, err)
		}
		late = before.CountLate(n, g.Now())
		return g.changeLimits(ctx, id, before, late, 0)
	})
	if err != nil || late.Late < speed.MaxLate {
		return contentionOf(err, id)
	}
	return contentionOf(hook.OnConflict(ctx, g.Wait, maxSaveAttempts, func() error {
		record, err := g.Store.Circuit(ctx, tenant, id)
		if err != nil {
			return fmt.Errorf("read circuit of %s: %w", id, err)
		}
		if record.Speed != speed.Fast {
			return nil
		}
		return g.saveCircuit(ctx, record.as(speed.Slow, g.Now()))
	}), id)
}

func (g *Gate) changeLimits(ctx context.Context, id hook.EndpointID, before, after Limits, most int) error {
	if err := g.Store.ChangeLimits(ctx, id, before, after, most); err != nil {
		return fmt.Errorf("change limits of %s: %w", id, err)
	}
	return nil
}
