package httpapi

import (
	"context"
	"fmt"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// getHealth responds with the health of the pipeline.
func (h *manage) getHealth(ctx context.Context, _ *call) (reply, error) {
	p, err := h.Status.Pipeline(ctx)
	if err != nil {
		return reply{}, fmt.Errorf("read pipeline health: %w", err)
	}
	return ok(viewPipeline(p)), nil
}

// getEndpointHealth responds with the health of one endpoint.
func (h *manage) getEndpointHealth(ctx context.Context, c *call) (reply, error) {
	health, err := h.Status.Health(ctx, c.tenant, c.r.PathValue("endpoint"))
	if err != nil {
		return reply{}, fmt.Errorf("read endpoint health: %w", err)
	}
	return ok(viewEndpointHealth(health)), nil
}

// listDecisions responds with the decisions about an endpoint.
func (h *manage) listDecisions(ctx context.Context, c *call) (reply, error) {
	req, _, err := pageRequest(c)
	if err != nil {
		return reply{}, err
	}
	return viewList(req, func(req page.Request) (page.List[hook.Notification], error) {
		return h.Endpoints.Notifications(ctx, c.tenant, c.r.PathValue("endpoint"), req)
	}, viewDecision)
}

type decisionView struct {
	Type     string             `json:"event_type"`
	At       stamp              `json:"at"`
	Reason   string             `json:"reason"`
	Figures  map[string]float64 `json:"figures"`
	Delivery hook.DeliveryID    `json:"delivery_id,omitzero"`
}

func viewDecision(n hook.Notification) decisionView {
	return decisionView{Type: n.Type, At: stamp(n.At), Reason: n.Reason, Figures: n.Figures, Delivery: n.Delivery}
}
