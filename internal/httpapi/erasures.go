package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/hook"
)

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
