package sim_test

import (
	"time"

	"surehook/internal/hook"
)

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
	case w.dark() || w.chance(w.rates.refuse):
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

// dark reports whether the table and the queues refuse every request now.
func (w *simulation) dark() bool {
	for _, b := range w.blackouts {
		if b.covers(w.now) {
			return true
		}
	}
	return false
}

// calmDown stops the faults.
func (w *simulation) calmDown() {
	w.quiet, w.quietAt = true, w.now
	w.rates = rates{}
	w.note("the faults stop")
}

// lag reports whether an index still lacks a change made at the time.
func (w *simulation) lag(changed time.Time) bool {
	return w.now.Sub(changed) < w.level.lag && w.chance(w.rates.stale)
}

// blame notes that a fault may repeat attempts of the deliveries.
func (w *simulation) blame(all ...hook.DeliveryRef) {
	for _, d := range all {
		w.blamed[d]++
	}
}
