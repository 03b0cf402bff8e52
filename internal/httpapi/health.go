package httpapi

import (
	"context"
	"reflect"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
)

// getHealth responds with the health of the pipeline.
func (h *manage) getHealth(ctx context.Context, _ *call) (reply, error) {
	return shown(viewPipeline)(h.Status.Pipeline(ctx))
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

// pipelineView is the health of the pipeline.
type pipelineView struct {
	status.Pipeline

	Queues queuesView `json:"queues"`
}

// queuesView holds the queues by the names of package config.
type queuesView struct {
	Events        status.Depth `json:"events"`
	Rejects       status.Depth `json:"rejects"`
	Live          status.Depth `json:"live"`
	Retry         status.Depth `json:"retry"`
	Replay        status.Depth `json:"replay"`
	Slot          status.Depth `json:"slot"`
	Overflow      status.Depth `json:"overflow"`
	Coalesce      status.Depth `json:"coalesce"`
	ReplayJobs    status.Depth `json:"replay_jobs"`
	Circuits      status.Depth `json:"circuits"`
	DeadLetters   status.Depth `json:"dead_letters"`
	Undeliverable status.Depth `json:"undeliverable"`
}

// viewPipeline sets the depths by their names in the view.
func viewPipeline(p status.Pipeline) pipelineView {
	v := pipelineView{Pipeline: p}
	for field, view := range reflect.ValueOf(&v.Queues).Elem().Fields() {
		view.Set(reflect.ValueOf(p.Queues[field.Tag.Get("json")]))
	}
	return v
}
