package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	tenants "surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
)

// In one seed in eight an operator erases a tenant with all that is under way. Between the
// mark and the end of the erasure its records vanish one by one, so the other checks leave the
// tenant out from the mark on.

// doomed is the tenant that an operator erases.
type doomed struct {
	tenant hook.TenantID // empty: none
	marked time.Time     // the beginning of the erasure; zero: not begun
	ended  time.Time     // zero: not ended
}

// planErasure creates the tenant, and plans its erasure.
func (w *simulation) planErasure() {
	if w.seed%16 != 7 && w.seed%16 != 12 {
		return
	}
	w.doomed.tenant = "umbrella"
	for range 1 + w.rng.IntN(2) {
		w.newEndpointOf(w.doomed.tenant)
	}
	at := start.Add(3*time.Minute + w.within(suffering-6*time.Minute))
	w.plan.add(at.Add(-100*time.Millisecond), func() {
		for range 8 { // some read the tenant before the mark
			w.postIn(w.doomed.tenant, w.within(100*time.Millisecond))
		}
	})
	w.plan.add(at, func() {
		w.count("tenants erased")
		w.hand("erase tenant "+string(w.doomed.tenant), func(ctx context.Context, p *process) error {
			_, _, err := p.eraser().Start(ctx, w.doomed.tenant, operator)
			return err
		})
	})
}

func (p *process) eraser() *erasure.Eraser {
	return &erasure.Eraser{Store: p.ports(), Queue: p.ports(), Log: p.log, Now: p.clock}
}

// handIn is hand for a change of a tenant: the API refuses changes of a closing tenant.
func (w *simulation) handIn(tenant hook.TenantID, what string, do func(ctx context.Context, p *process) error) {
	w.hand(what, func(ctx context.Context, p *process) error {
		if tenant == w.doomed.tenant {
			if !w.doomed.ended.IsZero() {
				return nil
			}
			if err := (tenants.Guard{Store: p.ports(), Now: p.clock}).Check(ctx, tenant, true); err != nil {
				return err
			}
		}
		return do(ctx, p)
	})
}

// lapses reports whether the endpoint's tenant is marked for its erasure, or erased.
func (w *simulation) lapses(id hook.EndpointID) bool {
	return !w.doomed.marked.IsZero() && w.statuses[id].Tenant == w.doomed.tenant
}

// lapsesAt is lapses for the endpoint of a key.
func (w *simulation) lapsesAt(k table.Key) bool {
	kind, rest, _ := strings.Cut(k.Hash, "#")
	id, _, _ := strings.Cut(rest, "#")
	return !w.doomed.marked.IsZero() && ((kind == "endpoint" || kind == "order") && w.lapses(hook.EndpointID(id)) || id == string(w.doomed.tenant))
}

// sawErasure: at the end of the erasure nothing of the tenant is left.
func (w *simulation) sawErasure(e erasure.Erasure) {
	if w.doomed.marked.IsZero() {
		w.doomed.marked = w.now
	}
	if e.Stage != erasure.StageDone {
		return
	}
	if left := w.store.Remains(e.Tenant); len(left) > 0 {
		w.fail(checkErasure, "the erasure of %s ends, and %d records are left: %s", e.Tenant, len(left), left[0])
	}
	if w.doomed.ended.IsZero() {
		w.note("tenant %s is erased", e.Tenant)
		w.count("tenants erased to the end")
		w.doomed.ended = w.now
	}
}

// checkMark: a process that began after the mark stores no event of the tenant.
func (w *simulation) checkMark(p *process, e hook.Event) {
	if e.Tenant == w.doomed.tenant && w.doomed.ended.IsZero() && !w.doomed.marked.IsZero() && w.doomed.marked.Before(p.started) {
		w.fail(checkErasure, "%s stores event %s of %s, which is being erased", p.name, e.ID, e.Tenant)
	}
}

// sawLast checks a request of a tenant in erasure: there is none after the removal of its
// endpoint, and none after the end.
func (w *simulation) sawLast(p *process, x *exchange, r send.Request, members []member) *exchange {
	s := w.statuses[r.Delivery.Endpoint]
	switch {
	case !w.doomed.ended.IsZero():
		w.fail(checkErasure, "%s: attempt of %s after the erasure of %s", p.name, r.Delivery, s.Tenant)
	case !s.deleted.IsZero() && s.deleted.Before(p.started):
		w.fail(checkErasure, "%s: attempt of %s, whose endpoint the erasure removed", p.name, r.Delivery)
	}
	w.count("attempts of tenants in erasure")
	for _, m := range members {
		x.members = append(x.members, &post{exchange: x, of: m.of})
	}
	p.made = append(p.made, x.members...)
	return x
}

// auditErasure: the erasure ends, and no late write brings a record back.
func (w *simulation) auditErasure() (reason string) {
	switch {
	case w.doomed.marked.IsZero():
		return ""
	case w.doomed.ended.IsZero():
		return fmt.Sprintf("the erasure of %s is not done", w.doomed.tenant)
	}
	w.store.Table.Each(func(k table.Key, _ table.Item) bool {
		kind, rest, _ := strings.Cut(k.Hash, "#")
		id, _, _ := strings.Cut(rest, "#")
		back := kind == "endpoint" && w.lapses(hook.EndpointID(id))
		if i, known := w.byID[hook.EventID(id)]; known && kind == "event" {
			e := w.posted[i] // perhaps of a later tenant with the same name
			back = e.Tenant == w.doomed.tenant && !e.AcceptedAt.After(w.doomed.ended)
		}
		if back {
			reason = fmt.Sprintf("the tenant of %s is erased", k)
		}
		return !back
	})
	return reason
}

// lingers reports whether the effect of a process comes late that began before the mark: a
// process that read the tenant writes as late as it can.
func (w *simulation) lingers(p *process) bool {
	return !w.doomed.marked.IsZero() && w.doomed.ended.IsZero() && p.started.Before(w.doomed.marked) && w.chance(0.3)
}

// eraseEvent erases the payload of an event.
func (w *simulation) eraseEvent(tenant hook.TenantID, id hook.EventID) {
	w.handIn(tenant, "erase event "+string(id), func(ctx context.Context, p *process) error {
		_, err := p.wiring().Replayer().Erase(ctx, tenant, id, operator)
		if err == nil {
			w.count("events erased")
			w.checkErased(tenant, id)
		}
		return err
	})
}

// eraseMeanwhile erases the event of some slow attempts that are under way.
func (w *simulation) eraseMeanwhile(sent *post) {
	if w.quiet || w.calm || sent.outcome.Duration < time.Second || len(sent.outcome.Body) == 0 || !w.chance(0.1) {
		return
	}
	w.eraseEvent(sent.by.Tenant, sent.of.Event)
}

// someReplayed returns an event with a replay, if there is one.
func (w *simulation) someReplayed() (id hook.EventID, tenant hook.TenantID, ok bool) {
	var all []hook.DeliveryRef
	for _, ref := range w.recorded {
		if w.records[ref].Replayed.Generation != 0 {
			all = append(all, ref)
		}
	}
	if len(all) == 0 {
		return "", "", false
	}
	ref := pick(w, all...)
	return ref.Event, w.records[ref].Tenant, true
}

// checkErased: after the answer to an erasure of an event, all its deliveries are marked, and
// no body of a response is left.
func (w *simulation) checkErased(tenant hook.TenantID, id hook.EventID) {
	i, known := w.byID[id]
	if !known || tenant == w.doomed.tenant || w.late > 0 {
		return
	}
	for _, target := range w.posted[i].Targets {
		ref := hook.QueuedDelivery(w.posted[i], target).Ref()
		for again := true; again; ref.Generation++ {
			d := w.records[ref]
			d.Recent = nil // also the records to which erased attempts move
			attempts, err := w.recordings.Attempts(w.ctx, []hook.Delivery{d})
			switch {
			case !d.Erased || len(d.Last.Body) > 0:
				w.fail(checkErased, "event %s is erased, and %s is %s, with %d bytes of a response", id, ref, d.State, len(d.Last.Body))
			case err != nil || slices.ContainsFunc(attempts, func(a hook.Attempt) bool { return len(a.Outcome.Body) > 0 }):
				w.fail(checkErased, "event %s is erased, and attempts of %s have bodies (%v)", id, ref, err)
			}
			again = d.Replayed.Generation != 0
		}
	}
}

// checkBody: the outcome of an attempt after the erasure of its event has no body.
func (w *simulation) checkBody(p *process, d hook.Delivery, a *hook.Attempt) {
	if d.Erased && (len(d.Last.Body) > 0 || a != nil && len(a.Outcome.Body) > 0) {
		w.fail(checkErased, "%s records attempt %d of %s with a body, and its event was erased", p.name, d.Attempts, d.ID)
	}
}
