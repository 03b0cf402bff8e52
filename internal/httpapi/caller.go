package httpapi

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
)

// callerView is the caller as the routes see it.
type callerView struct {
	ID        hook.KeyID    `json:"id"`
	Name      string        `json:"name"`
	Tenant    hook.TenantID `json:"tenant"`
	Scopes    []hook.Scope  `json:"scopes"`
	ExpiresAt time.Time     `json:"expires_at,omitzero"`

	Environment string `json:"environment,omitzero"` // of the deployment
}

// getCaller returns the caller of the request, without a read.
func (h *manage) getCaller(_ context.Context, c *call) (reply, error) {
	p := c.principal
	return ok(callerView{ID: p.Key, Name: p.Name, Tenant: p.Tenant, Scopes: p.Scopes, ExpiresAt: p.ExpiresAt, Environment: h.Environment}), nil
}
