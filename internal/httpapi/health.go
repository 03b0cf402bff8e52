package httpapi

import (
	"context"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// getHealth responds with the health of the pipeline.
func (h *manage) getHealth(ctx context.Context, _ *call) (reply, error) {
	return answer(h.Status.Pipeline(ctx))
}

// getEndpointHealth responds with the health of one endpoint.
func (h *manage) getEndpointHealth(ctx context.Context, c *call) (reply, error) {
	return answer(h.Status.Health(ctx, c.tenant, c.r.PathValue("endpoint")))
}

// listDecisions responds with the decisions about an endpoint.
func (h *manage) listDecisions(ctx context.Context, c *call) (reply, error) {
	return viewList(listQuery(c), func(req page.Request) (page.List[hook.Notification], error) {
		return h.Endpoints.Notifications(ctx, c.tenant, c.r.PathValue("endpoint"), req)
	}, viewOf[decisionView])
}

type decisionView struct {
	Type      string             `json:"event_type"`
	At        time.Time          `json:"at"`
	Reason    string             `json:"reason"`
	Figures   map[string]float64 `json:"figures"`
	FirstLoss time.Time          `json:"first_loss_at,omitzero"`
	Delivery  hook.DeliveryID    `json:"delivery_id,omitzero"`
}
