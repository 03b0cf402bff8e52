package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
)

// tenantLimitsBody is the request and the response of a tenant's limits. An absent field means
// no limit.
type tenantLimitsBody struct {
	EventsPerSecond    *int `json:"events_per_second,omitzero"`
	DeliveriesPerEvent *int `json:"deliveries_per_event,omitzero"`
	Endpoints          *int `json:"endpoints,omitzero"`
	ReplaysPerHour     *int `json:"replays_per_hour,omitzero"`
	ChangesPerHour     *int `json:"changes_per_hour,omitzero"`

	RetainFor *time.Duration `json:"retain_for,omitzero"`
}

func (h *manage) getTenantLimits(ctx context.Context, c *call) (reply, error) {
	return shown(viewOf[tenantLimitsBody, hook.TenantLimits])(h.Tenants.Limits(ctx, c.tenant))
}

// putTenantLimits replaces all limits. An absent field removes its limit.
func (h *manage) putTenantLimits(ctx context.Context, c *call, body tenantLimitsBody, wrong hook.Fields) (reply, error) {
	l := hook.TenantLimits{
		EventsPerSecond:    limitOf(body.EventsPerSecond),
		DeliveriesPerEvent: limitOf(body.DeliveriesPerEvent),
		Endpoints:          limitOf(body.Endpoints),
		ReplaysPerHour:     limitOf(body.ReplaysPerHour),
		ChangesPerHour:     limitOf(body.ChangesPerHour),
		RetainFor:          limitOf(body.RetainFor),
	}
	if err := h.setLimits(ctx, c, l, body, wrong...); err != nil {
		return reply{}, fmt.Errorf("put limits: %w", err)
	}
	return ok(viewOf[tenantLimitsBody](l)), nil
}

func (h *manage) deleteTenantLimits(ctx context.Context, c *call) (reply, error) {
	if err := h.setLimits(ctx, c, hook.TenantLimits{}, nil); err != nil {
		return reply{}, fmt.Errorf("delete limits: %w", err)
	}
	return reply{status: http.StatusNoContent}, nil
}

// setLimits replaces the limits of the tenant. If two calls change them concurrently, both
// records may have the same old limits.
func (h *manage) setLimits(ctx context.Context, c *call, l hook.TenantLimits, request any, wrong ...hook.FieldError) error {
	if err := c.begin(ctx, string(c.tenant), request); err != nil {
		return err
	}
	before, err := h.Tenants.Limits(ctx, c.tenant)
	if err != nil {
		return fmt.Errorf("read old limits: %w", err)
	}
	if err := h.Tenants.SetLimits(ctx, c.tenant, l, wrong...); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	c.changed(viewOf[tenantLimitsBody](before), viewOf[tenantLimitsBody](l))
	return nil
}

// limitOf returns the limit in a field. A given 0 is refused, because to the use cases it means no
// limit, while a caller may mean that nothing is allowed.
func limitOf[T int | time.Duration](given *T) T {
	switch {
	case given == nil:
		return 0
	case *given == 0:
		return -1
	}
	return *given
}

type tenantView struct {
	ID        hook.TenantID    `json:"id"`
	Endpoints int              `json:"endpoints"`
	Limits    tenantLimitsBody `json:"limits"`
}

func (h *manage) listTenants(ctx context.Context, c *call) (reply, error) {
	q := listQuery(c, "prefix")
	return viewList(q, func(req page.Request) (page.List[tenant.Tenant], error) {
		return h.Tenants.List(ctx, q.Get("prefix"), req)
	}, viewOf[tenantView])
}

// erasureView is a job that removes everything of a tenant.
type erasureView struct {
	ID        hook.ErasureID `json:"id"`
	Tenant    hook.TenantID  `json:"tenant"`
	State     string         `json:"state"`
	Passes    int            `json:"passes"`
	Removed   erasure.Counts `json:"removed"`
	By        hook.KeyID     `json:"by"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	EndedAt   time.Time      `json:"ended_at,omitzero"`
	ExpiresAt time.Time      `json:"expires_at,omitzero"`
}

// eraseTenant starts the erasure of the tenant, or returns the erasure under way.
func (h *replays) eraseTenant(ctx context.Context, c *call) (reply, error) {
	e, started, err := h.Eraser.Start(ctx, c.tenant, c.principal.Key)
	if err != nil {
		return reply{}, fmt.Errorf("erase tenant: %w", err)
	}
	if started {
		c.changed(nil, facts{"erasure": e.ID})
	}
	return reply{status: http.StatusAccepted, body: viewErasure(e)}.with("Location", c.locate("erasures", string(e.ID))), nil
}

func (h *replays) getErasure(ctx context.Context, c *call, id hook.ErasureID) (reply, error) {
	return shown(viewErasure)(h.Eraser.Erasure(ctx, c.tenant, id))
}

func viewErasure(e erasure.Erasure) erasureView {
	v := viewOf[erasureView](e)
	v.State = e.State()
	if e.EndedAt.IsZero() {
		v.ExpiresAt = time.Time{}
	}
	return v
}
