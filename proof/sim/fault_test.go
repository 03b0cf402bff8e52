package sim_test

import "surehook.example/surehook/internal/hook"

// judge returns the verdict on an effect.
func (w *simulation) judge(c *call) verdict {
	if w.now.After(c.p.deadline) || w.chance(w.rates.die/2) {
		return dead
	}
	switch {
	case c.kind != local && (w.dark() || w.chance(w.rates.refuse)), c.request != nil && c.kind != local && (w.contended(c) || w.throttled(c)):
		return refused
	case c.kind != read && w.chance(w.rates.die/2):
		return dying
	case c.kind == local:
		return granted
	case len(c.left) > 0:
		return unprocessed
	case c.kind == read:
		return granted
	case w.chance(w.rates.lose):
		return lost
	case c.request != nil && w.chance(w.rates.repeat):
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

// blame notes that the fault may give the deliveries one receipt more.
func (w *simulation) blame(fault string, all ...hook.DeliveryRef) {
	w.count("receipts by fault: " + fault)
	for _, d := range all {
		w.blamed[d] = append(w.blamed[d], fault)
		w.hit[d] = w.now
	}
}

// fault notes a fault of the process. A repeated write harms nothing, because its answer
// comes in the end.
func (p *process) fault(v verdict) {
	p.hurt = p.hurt || v != repeated
	p.faults++
	p.suffer(v.String())
	p.count("effects " + v.String())
}

// suffer notes a fault of the process. A message that its process does not delete comes
// once more, with one fault of the process or with many.
func (p *process) suffer(fault string) {
	p.disturb()
	for _, d := range p.about {
		p.hit[d] = p.now
	}
	if !p.suffered {
		p.suffered = true
		p.blame(fault, p.about...)
	}
}
