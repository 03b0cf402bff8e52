package sim_test

import (
	"math"
	"time"

	"surehook/internal/hook"
)

// rates are the probabilities of the faults, per opportunity.
type rates struct {
	die     float64 // a process, before or after an effect
	refuse  float64 // an effect
	lose    float64 // an answer
	repeat  float64 // a conditional write by the client, after a lost answer
	partial float64 // of a batch of messages
	stall   float64 // a process, before an effect, for up to 40 s

	duplicate float64 // a message
	reorder   float64 // a message comes up to 20 s late
	expire    float64 // a batch becomes visible during its processing
	undeleted float64 // a processed batch comes again

	lateSchedule  float64 // by up to 3 minutes
	twiceSchedule float64
	stale         float64 // an index lacks the changes of the last 5 s
	redeploy      float64 // all caches are dropped, at a post

	skew time.Duration // the maximum error of a process's clock, in both directions
}

// drawRates draws the rates of the seed: zero for some faults, high for others.
func (w *simulation) drawRates() {
	if w.calm = w.seed%8 == 0; w.calm {
		return
	}
	draw := func(most float64) float64 {
		if w.chance(0.35) {
			return 0
		}
		return most * math.Pow(10, -2*w.rng.Float64()) // mostly low
	}
	w.rates = rates{
		die: draw(0.05), refuse: draw(0.1), lose: draw(0.1), repeat: draw(0.1), partial: draw(0.3), stall: draw(0.05),
		duplicate: draw(0.2), reorder: draw(0.5), expire: draw(0.2), undeleted: draw(0.2),
		lateSchedule: draw(0.5), twiceSchedule: draw(0.3), stale: draw(0.7), redeploy: draw(0.3),
		skew: time.Duration(draw(450) * float64(time.Millisecond)),
	}
}

// judge returns the verdict on an effect.
func (w *simulation) judge(c *call) verdict {
	if w.now.After(c.p.deadline) || w.chance(w.rates.die/2) {
		return dead
	}
	switch {
	case w.chance(w.rates.die / 2):
		return dying
	case c.kind == local:
		return granted
	case w.chance(w.rates.refuse):
		return refused
	case c.kind == read:
		return granted
	case w.chance(w.rates.lose):
		return lost
	case c.kind == conditional && w.chance(w.rates.repeat):
		return repeated
	case c.kind == batch && w.chance(w.rates.partial):
		return partial
	}
	return granted
}

// calmDown stops the faults.
func (w *simulation) calmDown() {
	w.quiet = true
	w.rates = rates{}
	w.note("the faults stop")
}

// lag reports whether an index still lacks a change made at the time.
func (w *simulation) lag(changed time.Time) bool {
	return w.now.Sub(changed) < 5*time.Second && w.chance(w.rates.stale)
}

// blame notes that a fault may repeat attempts of the deliveries.
func (w *simulation) blame(all ...hook.DeliveryRef) {
	for _, d := range all {
		w.blamed[d] = true
	}
}
