package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// replays serves the routes of Replay.
type replays struct {
	replayer *replay.Replayer
	log      *slog.Logger
}

type replayBody struct {
	Force bool `json:"force"`
}

type noteBody struct {
	Reason string `json:"reason"`
}

// replayDelivery replays one settled delivery of any state, because the caller
// names the delivery.
func (h *replays) replayDelivery(ctx context.Context, c *call) (reply, error) {
	var body replayBody
	if err := decodeOptional(c, &body); err != nil {
		return reply{}, err
	}
	id, err := hook.ParseDeliveryID(c.r.PathValue("delivery"))
	if err != nil {
		return reply{}, fmt.Errorf("read path: %w", err)
	}
	d, err := h.replayer.Delivery(ctx, c.tenant, id, replay.Request{By: c.principal.Key, Force: body.Force})
	if err != nil {
		return reply{}, fmt.Errorf("replay delivery: %w", err)
	}
	return reply{status: http.StatusAccepted, body: c.viewDelivery(d)}, nil
}

// replayEvent replays each delivery of the event independently and responds with
// one result per delivery: 202 when all were replayed, otherwise 207, so a 202
// never hides a refusal. postBatch responds in the same way.
func (h *replays) replayEvent(ctx context.Context, c *call) (reply, error) {
	var body replayBody
	if err := decodeOptional(c, &body); err != nil {
		return reply{}, err
	}
	id, err := hook.ParseEventID(c.r.PathValue("event"))
	if err != nil {
		return reply{}, fmt.Errorf("read path: %w", err)
	}
	values, err := query(c, endpointParam)
	if err != nil {
		return reply{}, err
	}
	var wrong fieldErrors
	to := wrong.given(values, endpointParam)
	if len(wrong) > 0 {
		return reply{}, hook.Invalid(wrong...)
	}
	results, err := h.replayer.Event(ctx, c.tenant, id, replay.Request{By: c.principal.Key, Force: body.Force, Endpoint: to})
	if err != nil {
		return reply{}, fmt.Errorf("replay event: %w", err)
	}
	view, status := replayedView{Data: make([]any, len(results))}, http.StatusAccepted
	for i, r := range results {
		if r.Err != nil {
			status = http.StatusMultiStatus
			view.Data[i] = h.refused(ctx, c.tenant, r)
			continue
		}
		view.Data[i] = c.viewDelivery(r.Delivery)
	}
	return reply{status: status, body: view}, nil
}

// refused returns the view of a refused replay. The request succeeds, so refused
// logs internal faults.
func (h *replays) refused(ctx context.Context, tenant hook.TenantID, r replay.Result) notReplayedView {
	p := problemOf(r.Err)
	if p.Status >= http.StatusInternalServerError {
		h.log.LogAttrs(ctx, slog.LevelError, "replay.refused",
			slog.String(names.LogTenant, string(tenant)),
			slog.String(names.LogDelivery, r.Delivery.ID.String()),
			slog.String(logCode, p.Code),
			slog.Any(names.LogError, r.Err))
	}
	return notReplayedView{Delivery: r.Delivery.ID, Endpoint: r.Delivery.ID.Endpoint, Error: p}
}

// discardDelivery requires a reason, because discarding ends a delivery without
// success.
func (h *replays) discardDelivery(ctx context.Context, c *call) (reply, error) {
	var body noteBody
	if err := decode(c, maxBody, &body); err != nil {
		return reply{}, err
	}
	if body.Reason == "" {
		return reply{}, hook.Invalid(hook.FieldError{Field: "reason", Message: "is missing"})
	}
	return h.end(ctx, c, h.replayer.Discard, body.Reason)
}

func (h *replays) cancelDelivery(ctx context.Context, c *call) (reply, error) {
	var body noteBody
	if err := decodeOptional(c, &body); err != nil {
		return reply{}, err
	}
	return h.end(ctx, c, h.replayer.Cancel, body.Reason)
}

func (h *replays) end(
	ctx context.Context, c *call,
	do func(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error),
	note string,
) (reply, error) {
	id, err := hook.ParseDeliveryID(c.r.PathValue("delivery"))
	if err != nil {
		return reply{}, fmt.Errorf("read path: %w", err)
	}
	d, err := do(ctx, c.tenant, id, c.principal.Key, note)
	if err != nil {
		return reply{}, fmt.Errorf("end delivery: %w", err)
	}
	return ok(c.viewDelivery(d)), nil
}
