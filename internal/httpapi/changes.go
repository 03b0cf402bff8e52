package httpapi

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// auditView is the record of a change.
type auditView struct {
	ID      hook.AuditID      `json:"id"`
	At      time.Time         `json:"at"`
	Actor   string            `json:"actor"` // key or system
	Key     hook.KeyID        `json:"key_id,omitzero"`
	KeyName string            `json:"key_name,omitzero"`
	From    string            `json:"source_ip,omitzero"`
	Action  string            `json:"action"`
	Target  string            `json:"target,omitzero"`
	Request []byte            `json:"request,omitempty"`
	Changes []byte            `json:"changes,omitempty"`
	Outcome hook.AuditOutcome `json:"outcome"`
	Code    string            `json:"code,omitzero"`
}

// listChanges lists the changes of the tenant of the path, or the changes outside of
// the tenants.
func (h *manage) listChanges(ctx context.Context, c *call) (reply, error) {
	q := listQuery(c, "action", "target", "key", sinceParam, untilParam)
	filter := audit.Filter{Action: q.given("action"), Target: q.given("target"), Key: hook.KeyID(q.given("key"))}
	filter.Since, filter.Until = q.time(sinceParam), q.time(untilParam)
	tenant, err := c.tenant, refusal(q.wrong)
	if tenant == "" {
		tenant = hook.AllTenants
	} else if err == nil {
		filter.Aliases, err = h.aliases(ctx, tenant, filter.Target)
	}
	if err != nil {
		return reply{}, err
	}
	return viewList(q, func(req page.Request) (page.List[hook.AuditRecord], error) {
		return h.Audit.List(ctx, tenant, filter, req)
	}, viewAudit)
}

// aliases returns the id and the uid of the endpoint if the target is one of them. The record of
// a refused change has the name that its caller used, and all others have the id. It makes at
// most two reads.
func (h *manage) aliases(ctx context.Context, tenant hook.TenantID, target string) ([]string, error) {
	if target == "" {
		return nil, nil
	}
	e, err := h.Endpoints.Get(ctx, tenant, target)
	switch {
	case hook.CodeOf(err) == hook.CodeNotFound: // the target is not an endpoint, or is deleted
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find the target: %w", err)
	case e.UID == "":
		return nil, nil
	}
	return []string{string(e.ID), e.UID}, nil
}

func viewAudit(r hook.AuditRecord) auditView {
	v := viewOf[auditView](r)
	v.Actor = "key"
	if r.Key == "" {
		v.Actor = "system"
	}
	return v
}
