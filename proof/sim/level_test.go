package sim_test

import (
	"math"
	"time"
)

// level is a named harshness of the world.
type level struct {
	name string

	faults    float64       // factor of the probabilities of faults
	skew      time.Duration // largest error of a clock, in both directions
	lag       time.Duration // longest lag of an index
	functions int           // processes of function deliver at once, at most
	tenants   int
	receives  int           // maxReceiveCount of the queues
	blackouts time.Duration // longest time without the table and the queues; 0: none
	herds     time.Duration // longest Retry-After of an answer 429
	oldest    time.Duration // longest max_age
	crowds    uint64        // one seed in so many has 50 endpoints, or full waves; 0: none
	operators int           // operations, at most
}

// levels returns the levels. The seeds of a run without -level take turns.
func levels() []level {
	return []level{
		{
			name: "mild", faults: 1, skew: 450 * time.Millisecond, lag: 5 * time.Second, functions: 10, tenants: 1,
			receives: 1000, herds: 2 * time.Minute, oldest: 40 * time.Minute, operators: 16,
		},
		{
			name: "rough", faults: 1.5, skew: 1500 * time.Millisecond, lag: 30 * time.Second, functions: 24, tenants: 2,
			receives: 8, blackouts: time.Minute, herds: 30 * time.Minute, oldest: 2 * time.Hour, crowds: 200, operators: 24,
		},
		{
			name: "brutal", faults: 3, skew: 3 * time.Second, lag: 5 * time.Minute, functions: 48, tenants: 3,
			receives: 4, blackouts: 8 * time.Minute, herds: 2 * time.Hour, oldest: 3 * time.Hour, crowds: 100, operators: 40,
		},
	}
}

// rates are the probabilities of the faults, per opportunity.
type rates struct {
	die      float64 // a process, before or after an effect
	refuse   float64 // an effect: a throttled key, a transaction conflict
	lose     float64 // an answer
	repeat   float64 // a write by the client, after a lost answer
	partial  float64 // of a batch of messages
	hot      bool    // partitions of the table take few requests a second
	contend  float64 // a request beside another of the same item, if one of them is a transaction
	tear     float64 // a transaction, whose items others see one by one
	stall    float64 // a process, before an effect, for up to 40 s
	hesitate float64 // a process with a batch that comes again soon, before its first effect, for up to 20 s

	duplicate float64 // a message
	reorder   float64 // a message comes up to 20 s late
	expire    float64 // a batch becomes visible during its processing
	undeleted float64 // a processed batch comes again

	lateSchedule  float64 // by up to 3 minutes
	twiceSchedule float64
	stale         float64 // an index lacks a change for a while
	lateTick      float64 // a schedule of a function does not run
	twiceTick     float64
	redrive       float64 // an operator redrives the letters soon after one was sent
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
		return min(0.7, most*w.level.faults) * math.Pow(10, -2*w.rng.Float64()) // mostly low
	}
	w.rates = rates{
		die: draw(0.05), refuse: draw(0.1), lose: draw(0.1), repeat: draw(0.1), partial: draw(0.3), stall: draw(0.05),
		duplicate: draw(0.2), reorder: draw(0.5), expire: draw(0.2), undeleted: draw(0.2),
		lateTick: draw(0.5), twiceTick: draw(0.3), lateSchedule: pick(w, 0, 0.1, 0.5), twiceSchedule: pick(w, 0, 0.1, 0.4), redrive: draw(0.02), stale: draw(0.7), redeploy: draw(0.3),
		skew: time.Duration(draw(1/w.level.faults) * float64(w.level.skew)),
	}
	w.rates.hot, w.rates.contend, w.rates.tear = w.chance(0.3), draw(0.3), draw(0.3)
	defer w.drawFlaps()
	defer w.drawTwins()
	if w.level.blackouts > 0 && w.chance(0.3) {
		for range 1 + w.rng.IntN(2) {
			from := start.Add(w.within(suffering - w.level.blackouts))
			w.blackouts = append(w.blackouts, span{from: from, to: from.Add(w.within(w.level.blackouts))})
		}
	}
}
