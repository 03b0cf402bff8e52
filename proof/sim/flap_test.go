package sim_test

import (
	"context"
	"time"
)

// In one seed in eight some endpoints fail most attempts, and are paused and resumed every
// few seconds. Batches are handed out twice, and the first process is slow. So the second
// process meets the pause, parks the delivery and deletes the message. The first process
// meets the active endpoint. Its attempt is then the last effect of a task without a message.

// drawFlaps sets the rates of such a seed.
func (w *simulation) drawFlaps() {
	if w.flapping = w.seed%8 == 5; !w.flapping {
		return
	}
	w.rates = rates{
		die: 0.08, expire: 0.7, hesitate: 0.5,
		refuse: w.rates.refuse / 8, duplicate: w.rates.duplicate / 4, skew: w.rates.skew,
	}
	w.blackouts = nil
}

// planFlaps plans the pauses.
func (w *simulation) planFlaps() {
	for _, e := range w.endpoints[:2] {
		ref := string(e.id)
		for at := start.Add(w.within(time.Minute)); at.Before(start.Add(suffering)); at = at.Add(5*time.Second + w.within(25*time.Second)) {
			w.plan.add(at, func() {
				w.handIn(e.Tenant, "pause "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Pause(ctx, e.Tenant, ref)) })
			})
			w.plan.add(at.Add(time.Second+w.within(6*time.Second)), func() {
				w.handIn(e.Tenant, "resume "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Resume(ctx, e.Tenant, ref)) })
			})
		}
	}
}
