package sim_test

import (
	"context"
	"time"

	adminendpoint "surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

// Operators delete an endpoint, and make another under its uid while deliveries of the first one are
// under way. Its uid then names the other one.

// renew deletes the endpoint and makes another with its uid.
func (w *simulation) renew(e *endpoint) {
	if e.UID == "" || e.Tenant == w.doomed.tenant {
		return
	}
	old := e.UID
	w.handIn(e.Tenant, "delete by uid "+old, func(ctx context.Context, p *process) error {
		err := p.admin().Delete(ctx, e.Tenant, old, 0)
		if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
			return err
		}
		w.plan.add(w.now, func() { //nolint:contextcheck // processes have the simulation's own
			w.count("endpoints made anew under their uid")
			w.newEndpointWith(e.Tenant, old)
		})
		return nil
	})
	for _, after := range []time.Duration{0, longestCommit, 2 * longestCommit} {
		w.postIn(e.Tenant, after+w.within(longestCommit))
		w.plan.add(w.now.Add(after+w.within(longestCommit)), func() { w.askUID(e.Tenant, old) })
	}
}

// askUID changes whatever endpoint has the uid.
func (w *simulation) askUID(tenant hook.TenantID, uid string) {
	w.handIn(tenant, "change by uid "+uid, func(ctx context.Context, p *process) error {
		timeout := pick(w, 2*time.Second, 10*time.Second)
		changed, err := p.admin().Change(ctx, tenant, uid, 0, adminendpoint.Fields{Timeout: &timeout})
		if err == nil {
			w.checkUID(p, changed, uid)
		}
		return err
	})
}

// checkUID: a uid names one endpoint, which had it since the start of the process.
func (w *simulation) checkUID(p *process, e hook.Endpoint, uid string) {
	s := w.statuses[e.ID]
	if e.UID != uid || !s.deleted.IsZero() && s.deleted.Before(p.started) {
		w.fail(checkUID, "%s: the uid %s names %s, which has the uid %q and was deleted at %s", p.name, uid, e.ID, e.UID, s.deleted.Sub(start))
	}
}

// checkUIDs: no two endpoints of a tenant have one uid.
func (w *simulation) checkUIDs(e hook.Endpoint) {
	for _, s := range w.statuses {
		if s.UID != "" && s.UID == e.UID && s.Tenant == e.Tenant && s.ID != e.ID && s.deleted.IsZero() {
			w.fail(checkUID, "%s and %s have the uid %s", s.ID, e.ID, e.UID)
		}
	}
}
