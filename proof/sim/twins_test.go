package sim_test

import "time"

// In one seed in eight, attempts often have two tasks: clients without an answer post again, answers
// to messages are lost, and processes die between the record and the next task. Few batches run at
// once, so both tasks often come in one. Operators redrive dead letters as soon as they are sent,
// often before the record of the death.

// drawTwins sets the rates of such a seed.
func (w *simulation) drawTwins() {
	if w.twins = w.seed%8 == 1; !w.twins {
		return
	}
	w.rates.die, w.rates.lose, w.rates.partial, w.rates.expire, w.rates.redrive = 0.06, 0.2, 0.3, 0.4, 0.2
	w.blackouts = nil
	w.mostBusy = 2
}

// redriveSoon redrives the letters some seconds after one was sent.
func (p *process) redriveSoon() {
	if p.chance(p.rates.redrive) {
		p.count("letters redriven soon")
		p.plan.add(p.now.Add(p.within(5*time.Second)), p.redriveLetters)
	}
}
