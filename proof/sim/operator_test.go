package sim_test

import (
	"context"
	"time"

	adminendpoint "surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

const operator = hook.KeyID("key_0000000000000001")

func (p *process) admin() *adminendpoint.Admin {
	return &adminendpoint.Admin{
		Store: p.ports(), CircuitQueue: p.ports(),
		Vault: memory.Vault{}, Policy: egress.Policy{}, Origins: adminendpoint.Origins{Regions: []string{otherRegion}, Addresses: fixedAddresses},
		Now: p.clock, Wait: world.NoWait,
	}
}

// operate runs a random operation of an operator.
func (w *simulation) operate() {
	e := pick(w, w.endpoints...)
	switch n := w.rng.IntN(38); n {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 28, 29, 30, 31:
		w.operateEndpoint(n, e)
	case 36, 37:
		w.renew(e)
	case 26, 27:
		w.sample(e)
	case 32, 33:
		w.unsettle(e.Tenant)
	case 34, 35:
		w.narrow()
	case 10, 11:
		q := replay.JobRequest{Filter: replay.Filter{State: pick(w, hook.StateDead, hook.StateDead, hook.StateParked, hook.StateDelivered)}, Terms: replay.Terms{Rate: pick(w, 0.3, 2, 50), By: operator}}
		w.handIn(e.Tenant, "job", func(ctx context.Context, p *process) error {
			p.tenant = e.Tenant
			_, err := p.wiring().Replayer().Start(ctx, e.Tenant, q)
			return once(err)
		})
	case 12:
		if n := len(w.startedJobs); n > 0 {
			j := w.startedJobs[w.rng.IntN(n)]
			w.handIn(j.tenant, "cancel job", func(ctx context.Context, p *process) error {
				return second(p.wiring().Replayer().CancelJob(ctx, j.tenant, j.id))
			})
		}
		w.redriveLetters()
	case 13:
		w.redriveUndeliverable()
	case 14, 15, 16, 17, 18, 19, 22, 23, 24, 25:
		if d, tenant, ok := w.someDelivery(); ok {
			w.operateDelivery(n, d.DeliveryID, tenant)
		}
	}
}

func (w *simulation) operateEndpoint(n int, e *endpoint) {
	ref := string(e.id)
	of := func(what string, do func(ctx context.Context, a *adminendpoint.Admin) error) {
		w.handIn(e.Tenant, what+" "+ref, func(ctx context.Context, p *process) error { return do(ctx, p.admin()) })
	}
	resume := func(ctx context.Context, a *adminendpoint.Admin) error { return second(a.Resume(ctx, e.Tenant, ref)) }
	switch n {
	case 0, 1:
		of("pause", func(ctx context.Context, a *adminendpoint.Admin) error { return second(a.Pause(ctx, e.Tenant, ref)) })
		if w.chance(0.7) {
			w.plan.add(w.now.Add(w.within(10*time.Minute)), func() { of("resume", resume) })
		}
	case 2:
		of("disable", func(ctx context.Context, a *adminendpoint.Admin) error { return second(a.Disable(ctx, e.Tenant, ref)) })
	case 3:
		of("enable", func(ctx context.Context, a *adminendpoint.Admin) error { return second(a.Enable(ctx, e.Tenant, ref)) })
	case 4:
		if w.chance(0.5) {
			of("delete", func(ctx context.Context, a *adminendpoint.Admin) error { return a.Delete(ctx, e.Tenant, ref, 0) })
			for _, after := range []time.Duration{0, longestCommit / 2, longestCommit} { // while its commit is under way, and later
				w.postIn(e.Tenant, after+w.within(longestCommit/2))
			}
		}
	case 5:
		of("reset circuit", func(ctx context.Context, a *adminendpoint.Admin) error {
			return second(a.ResetCircuit(ctx, e.Tenant, ref))
		})
	case 6:
		of("open circuit", func(ctx context.Context, a *adminendpoint.Admin) error {
			return second(a.OpenCircuit(ctx, e.Tenant, ref))
		})
	case 7, 8, 28, 29, 30, 31:
		what, fields := w.drawFields()
		w.change(e, what, fields)
	case 20:
		shards := pick(w, 1, 2, 3, hook.MaxShards)
		of("shard", func(ctx context.Context, a *adminendpoint.Admin) error {
			return second(a.Change(ctx, e.Tenant, ref, 0, adminendpoint.Fields{Shards: &shards}))
		})
	case 21:
		c := pick(w, hook.Coalescing{}, hook.Coalescing{Window: 5 * time.Second}, hook.Coalescing{Window: time.Minute, MaxEvents: 3})
		if e.MaxInFlight == 0 {
			of("coalesce", func(ctx context.Context, a *adminendpoint.Admin) error {
				return second(a.Change(ctx, e.Tenant, ref, 0, adminendpoint.Fields{Coalesce: new(c.WithDefaults())}))
			})
		}
	case 9:
		overlap := pick(w, 0, time.Hour)
		of("rotate", func(ctx context.Context, a *adminendpoint.Admin) error {
			_, _, err := a.Rotate(ctx, e.Tenant, ref, "", overlap)
			return err
		})
	}
}

func (w *simulation) operateDelivery(n int, d hook.DeliveryID, tenant hook.TenantID) {
	of := func(what string, do func(ctx context.Context, r *replay.Replayer) error) {
		w.handIn(tenant, what+" "+d.String(), func(ctx context.Context, p *process) error { return do(ctx, p.wiring().Replayer()) })
	}
	request := replay.Request{By: operator, Force: w.chance(0.4)}
	switch n {
	case 14, 15, 16:
		of("replay", func(ctx context.Context, r *replay.Replayer) error {
			return second(r.Delivery(ctx, tenant, d, request))
		})
	case 17:
		of("replay event of", func(ctx context.Context, r *replay.Replayer) error {
			return second(r.Event(ctx, tenant, d.Event, request))
		})
	case 22, 23:
		if id, owner, ok := w.someReplayed(); ok && n == 22 {
			d.Event, tenant = id, owner
		}
		w.eraseEvent(tenant, d.Event)
	case 24, 25:
		var others []*endpoint
		for _, e := range w.endpoints {
			if e.Tenant == tenant {
				others = append(others, e)
			}
		}
		to := pick(w, others...)
		of("add endpoint "+string(to.id)+" to event of", func(ctx context.Context, r *replay.Replayer) error {
			return second(r.Event(ctx, tenant, d.Event, replay.Request{By: operator, Force: request.Force, Endpoint: string(to.id)}))
		})
	case 18:
		of("discard", func(ctx context.Context, r *replay.Replayer) error {
			return second(r.Discard(ctx, tenant, d, operator, ""))
		})
	case 19:
		of("cancel", func(ctx context.Context, r *replay.Replayer) error {
			return second(r.Cancel(ctx, tenant, d, operator, ""))
		})
	}
}

// redriveLetters moves the dead letters to the retry queue.
func (w *simulation) redriveLetters() {
	for _, l := range w.deadLetters.Letters() {
		w.makers[attempt{l.Delivery.Successor(), 1}]++
		if w.records[l.Delivery].State != hook.StateDead {
			w.count("letters redriven before the death")
		}
	}
	w.note("redrive of %d letters", w.deadLetters.Redrive(hook.QueueRetry))
}

func (w *simulation) undeliverable() int {
	return w.queue.Undeliverable() + w.attention.Undeliverable() + w.jobs.Undeliverable()
}

// redriveUndeliverable moves undeliverable messages back to their queues.
func (w *simulation) redriveUndeliverable() {
	if n := w.queue.Redrive() + w.attention.Redrive() + w.jobs.Redrive(); n > 0 {
		w.redriven = w.now
		w.counts["messages redriven"] += n
		w.note("redrive of %d messages", n)
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
	}, func(p *process) {
		if p.dead || hook.CodeOf(answer) == hook.CodeUnavailable && answer != nil {
			w.plan.add(w.now.Add(time.Second+w.within(20*time.Second)), func() { w.try(do) })
			return
		}
		if answer != nil && hook.CodeOf(answer) == hook.CodeInternal && len(p.unknown) == 0 {
			w.fail(checkOperator, "an operator gets the error: %v", answer)
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
func (w *simulation) someDelivery() (d hook.DeliveryRef, tenant hook.TenantID, ok bool) {
	if len(w.posted) == 0 {
		return d, "", false
	}
	e := w.posted[w.rng.IntN(len(w.posted))]
	if len(e.Targets) == 0 {
		return d, "", false
	}
	d = hook.QueuedDelivery(e, e.Targets[w.rng.IntN(len(e.Targets))]).Ref()
	for w.records[d].Replayed.Generation != 0 {
		d.Generation++
	}
	return d, e.Tenant, true
}

// tenants returns the tenants of the seed.
func (w *simulation) tenants() []hook.TenantID {
	all := []hook.TenantID{"acme", "globex", "initech"}[:w.level.tenants]
	if w.doomed.tenant != "" && w.doomed.marked.IsZero() {
		all = append(all, w.doomed.tenant)
	}
	return all
}

// wakeUp resumes and enables half of the endpoints, after the end of the faults. The
// operator redrives undeliverable messages also hours later: a schedule of a long Retry-After
// may fire twice then, and the second task waits in vain beside a slow attempt.
func (w *simulation) wakeUp() {
	for _, after := range []time.Duration{0, 15 * time.Minute, 45 * time.Minute, 3 * time.Hour, 5 * time.Hour} {
		w.plan.add(w.now.Add(after), w.redriveUndeliverable)
	}
	for _, e := range w.endpoints {
		ref := string(e.id)
		if w.ordered || w.chance(0.5) {
			w.handIn(e.Tenant, "resume "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Resume(ctx, e.Tenant, ref)) })
			w.handIn(e.Tenant, "enable "+ref, func(ctx context.Context, p *process) error { return second(p.admin().Enable(ctx, e.Tenant, ref)) })
		}
	}
}

// startedJob is a job that a process may have created.
type startedJob struct {
	id     hook.JobID
	tenant hook.TenantID
}
