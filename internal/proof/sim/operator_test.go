package sim_test

import (
	"context"
	"time"

	adminendpoint "surehook/internal/admin/endpoint"
	"surehook/internal/delivery/egress"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/proof/world"
)

const operator = hook.KeyID("key_0000000000000001")

func (p *process) admin() *adminendpoint.Admin {
	return &adminendpoint.Admin{
		Store: p.ports(), Circuits: p.ports(), CircuitQueue: p.ports(), History: p.ports(),
		Vault: memory.Vault{}, Policy: egress.Policy{}, Now: p.clock, Wait: world.NoWait,
	}
}

// operate runs a random operation of an operator.
func (w *simulation) operate() {
	e := pick(w, w.endpoints...)
	ref := string(e.id)
	d, known := w.someDelivery()
	of := func(what string, do func(ctx context.Context, p *process) error) {
		if known {
			w.hand(what+" "+d.String(), do)
		}
	}
	switch w.rng.IntN(16) {
	case 0, 1:
		w.hand("pause "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Pause(ctx, tenant, ref)) })
		if w.chance(0.7) {
			w.plan.add(w.now.Add(w.within(10*time.Minute)), func() {
				w.hand("resume "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Resume(ctx, tenant, ref)) })
			})
		}
	case 2:
		w.hand("disable "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Disable(ctx, tenant, ref)) })
	case 3:
		w.hand("enable "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Enable(ctx, tenant, ref)) })
	case 4:
		if w.chance(0.5) {
			w.hand("delete "+ref, func(ctx context.Context, p *process) error { return p.admin().Delete(ctx, tenant, ref, 0) })
		}
	case 5:
		w.hand("reset circuit "+ref, func(ctx context.Context, p *process) error {
			return second(p.admin().ResetCircuit(ctx, tenant, ref))
		})
	case 6:
		w.hand("open circuit "+ref, func(ctx context.Context, p *process) error { return second(p.admin().OpenCircuit(ctx, tenant, ref)) })
	case 7, 8:
		force := w.chance(0.5)
		of("replay", func(ctx context.Context, p *process) error {
			return second(p.wiring().Replayer().Delivery(ctx, tenant, d.DeliveryID, replay.Request{By: operator, Force: force}))
		})
	case 9:
		force := w.chance(0.3)
		of("replay event of", func(ctx context.Context, p *process) error {
			return second(p.wiring().Replayer().Event(ctx, tenant, d.Event, replay.Request{By: operator, Force: force}))
		})
	case 10, 11:
		q := replay.JobRequest{State: pick(w, hook.StateDead, hook.StateDead, hook.StateParked, hook.StateDelivered), Rate: pick(w, 0.3, 2, 50), By: operator}
		w.hand("job", func(ctx context.Context, p *process) error {
			_, err := p.wiring().Replayer().Start(ctx, tenant, q)
			return once(err)
		})
	case 12:
		if n := len(w.jobIDs); n > 0 {
			id := w.jobIDs[w.rng.IntN(n)]
			w.hand("cancel job", func(ctx context.Context, p *process) error {
				return second(p.wiring().Replayer().CancelJob(ctx, tenant, id))
			})
		}
		for _, l := range w.deadLetters.Letters() {
			w.makers[attempt{l.Delivery.Successor(), 1}]++
			if w.records[l.Delivery].State != hook.StateDead {
				w.early[l.Delivery] = true
			}
		}
		w.note("redrive of %d letters", w.deadLetters.Redrive(hook.LaneRetry))
	case 13:
		of("discard", func(ctx context.Context, p *process) error {
			return second(p.wiring().Replayer().Discard(ctx, tenant, d.DeliveryID, operator, ""))
		})
	case 14:
		of("cancel", func(ctx context.Context, p *process) error {
			return second(p.wiring().Replayer().Cancel(ctx, tenant, d.DeliveryID, operator, ""))
		})
	case 15:
		shards := pick(w, 1, 2, 3, hook.MaxShards)
		w.hand("shard "+ref, func(ctx context.Context, p *process) error {
			return second(p.admin().Change(ctx, tenant, ref, 0, adminendpoint.Fields{Shards: &shards}))
		})
	}
}

func second[T any](_ T, err error) error { return err }

// hand runs an operation until its answer is final.
func (w *simulation) hand(what string, do func(ctx context.Context, p *process) error) {
	w.operations++
	w.note("operator: %s", what)
	w.plan.add(w.now, func() { w.try(do) })
}

func (w *simulation) try(do func(ctx context.Context, p *process) error) {
	var answer error
	w.spawn("operator", apiTimeout, nil, func(p *process) {
		err := do(p.context(), p)
		if v := p.enter("respond", "", local, 0); v == dead {
			err = errDead
		}
		answer = err
	}, func(died bool) {
		if died || hook.CodeOf(answer) == hook.CodeUnavailable && answer != nil {
			w.plan.add(w.now.Add(time.Second+w.within(20*time.Second)), func() { w.try(do) })
			return
		}
		if answer != nil && hook.CodeOf(answer) == hook.CodeInternal {
			w.fail("an operator gets the error: %v", answer)
		}
		w.operations--
	})
}

// once turns "unavailable" into a final answer: the operation may be done, so the operator does not repeat it.
func once(err error) error {
	if hook.CodeOf(err) == hook.CodeUnavailable {
		return hook.Conflict("not again")
	}
	return err
}

// someDelivery returns the newest generation of a random delivery.
func (w *simulation) someDelivery() (d hook.DeliveryRef, ok bool) {
	if len(w.posted) == 0 {
		return d, false
	}
	e := w.posted[w.rng.IntN(len(w.posted))]
	if len(e.Targets) == 0 {
		return d, false
	}
	d = hook.QueuedDelivery(e, e.Targets[w.rng.IntN(len(e.Targets))]).Ref()
	for w.records[d].Replayed.Generation != 0 {
		d.Generation++
	}
	return d, true
}

// wakeUp resumes and enables half of the endpoints, after the end of the faults.
func (w *simulation) wakeUp() {
	for _, e := range w.endpoints {
		ref := string(e.id)
		if w.chance(0.5) {
			w.hand("resume "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Resume(ctx, tenant, ref)) })
			w.hand("enable "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Enable(ctx, tenant, ref)) })
		}
	}
}
