package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// replays serves the routes of Replay.
type replays struct {
	Jobs
	log *slog.Logger
}

type replayBody struct {
	Force bool `json:"force"`
}

// endedChange is the state of a delivery in the record of the change.
type endedChange struct {
	State  string      `json:"state"`
	Reason hook.Reason `json:"reason,omitzero"`
	Note   string      `json:"note,omitzero"`
}

// eventReplay is the request to replay an event, for the audit record.
type eventReplay struct {
	replayBody
	Endpoint string `json:"endpoint"`
}

type noteBody struct {
	Note string `json:"note"`
}

// replayDelivery replays one settled delivery in any state, because the caller names it.
func (h *replays) replayDelivery(ctx context.Context, c *call, body replayBody) (reply, error) {
	id, err := hook.ParseDeliveryID(c.r.PathValue("delivery"))
	if err != nil {
		return reply{}, fmt.Errorf("read path: %w", err)
	}
	if err := c.begin(ctx, id.String(), body); err != nil {
		return reply{}, err
	}
	d, err := h.Replayer.Delivery(ctx, c.tenant, id, replay.Request{By: c.principal.Key, Force: body.Force})
	if err != nil {
		return reply{}, fmt.Errorf("replay delivery: %w", err)
	}
	c.changed(nil, facts{"deliveries": []hook.DeliveryID{d.ID}})
	return reply{status: http.StatusAccepted, body: c.viewDelivery(d)}, nil
}

// replayEvent replays each delivery of the event independently and responds with one result per
// delivery: 202 if all were replayed, otherwise 207, so that a 202 never hides a refusal.
// postBatch does the same.
func (h *replays) replayEvent(ctx context.Context, c *call, body replayBody) (reply, error) {
	id, err := hook.ParseEventID(c.r.PathValue("event"))
	if err != nil {
		return reply{}, fmt.Errorf("read path: %w", err)
	}
	q := query(c, endpointParam)
	to := q.given(endpointParam)
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	if err := c.mayAddTo(to); err != nil {
		return reply{}, err
	}
	if err := c.begin(ctx, string(id), eventReplay{body, to}); err != nil {
		return reply{}, err
	}
	results, err := h.Replayer.Event(ctx, c.tenant, id, replay.Request{By: c.principal.Key, Force: body.Force, Endpoint: to})
	if err != nil {
		return reply{}, fmt.Errorf("replay event: %w", err)
	}
	view, status := allView[any]{Data: make([]any, len(results))}, http.StatusAccepted // deliveryView or notReplayedView
	var (
		replayed []hook.DeliveryID
		refused  error
	)
	for i, r := range results {
		if r.Err != nil {
			status = http.StatusMultiStatus
			view.Data[i] = h.refused(ctx, c.tenant, r)
			if refused == nil || problemOf(refused).Status < http.StatusInternalServerError {
				refused = r.Err
			}
			continue
		}
		view.Data[i] = c.viewDelivery(r.Delivery)
		replayed = append(replayed, r.Delivery.ID)
	}
	if len(replayed) > 0 {
		c.changed(nil, facts{"deliveries": replayed})
	}
	// After a fault of Surehook the delivery may still have been replayed.
	if refused != nil && (len(replayed) == 0 || problemOf(refused).Status >= http.StatusInternalServerError) {
		c.change.result = refused
	}
	return reply{status: status, body: view}, nil
}

// mayAddTo refuses to send events to an endpoint of the caller's choice, which shows them to somebody
// else, unless the caller may create such an endpoint or read the events. An empty text names none.
func (c *call) mayAddTo(endpoint string) error {
	if endpoint == "" || c.principal.May(hook.ScopeEndpointsWrite) || c.principal.May(hook.ScopeRead) {
		return nil
	}
	return c.principal.Lacks(hook.ScopeEndpointsWrite + " or " + hook.ScopeRead)
}

// refused returns the view of a replay that was refused. The request as a whole succeeds, so
// internal faults are logged here.
func (h *replays) refused(ctx context.Context, tenant hook.TenantID, r replay.Result) notReplayedView {
	p := problemOf(r.Err)
	if p.Status >= http.StatusInternalServerError {
		h.log.LogAttrs(ctx, slog.LevelError, "replay.refused",
			slog.String(names.LogTenant, string(tenant)),
			slog.String(names.LogDelivery, r.Delivery.ID.String()),
			slog.String(names.LogCode, p.Code),
			slog.Any(names.LogError, r.Err))
	}
	return notReplayedView{Delivery: r.Delivery.ID, Endpoint: r.Delivery.ID.Endpoint, Error: p}
}

// discardDelivery requires a note, because discarding ends a delivery without
// success.
func (h *replays) discardDelivery(ctx context.Context, c *call, body noteBody) (reply, error) {
	if body.Note == "" {
		return reply{}, hook.Invalid(hook.FieldError{Field: "note", Message: "is missing"})
	}
	return h.end((*replay.Replayer).Discard, body)(ctx, c)
}

func (h *replays) cancelDelivery(ctx context.Context, c *call, body noteBody) (reply, error) {
	return h.end((*replay.Replayer).Cancel, body)(ctx, c)
}

// end returns the action that ends the delivery of the path. The body was checked before: a
// malformed id must look like an unknown one.
func (h *replays) end(
	do func(r *replay.Replayer, ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, by hook.KeyID, note string) (hook.Delivery, error),
	body noteBody,
) action {
	return delivery(func(ctx context.Context, c *call, id hook.DeliveryID) (reply, error) {
		if err := c.begin(ctx, id.String(), body); err != nil {
			return reply{}, err
		}
		r := *h.Replayer
		r.Ended = func(before, after hook.Delivery) {
			c.changed(endedChange{before.State.String(), before.Reason, before.Note}, endedChange{after.State.String(), after.Reason, after.Note})
		}
		return shown(c.viewDelivery)(do(&r, ctx, c.tenant, id, c.principal.Key, body.Note))
	})
}

func (h *replays) erasePayload(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	erased, err := h.Replayer.Erase(ctx, c.tenant, id, c.principal.Key)
	if err != nil {
		return reply{}, fmt.Errorf("erase payload: %w", err)
	}
	c.changed(nil, facts{"erased_at": erased.Event.ErasedAt, "cancelled": erased.Cancelled})
	return reply{status: http.StatusNoContent}, nil
}

type notReplayedView struct {
	Delivery hook.DeliveryID `json:"delivery_id"`
	Endpoint hook.EndpointID `json:"endpoint_id"`
	Error    problem         `json:"error"`
}

// defaultPeriod is the default length of the analyzed period.
const defaultPeriod = 24 * time.Hour

func (h *replays) analyse(ctx context.Context, c *call) (reply, error) {
	q, period := query(c, "period"), defaultPeriod
	if q.Has("period") {
		var ok bool
		if period, ok = parseDuration(q.Get("period")); !ok {
			q.wrong.Add("period", durationForm)
		}
	}
	return q.answer(func() (any, error) { return h.Replayer.Analyse(ctx, c.tenant, period) })
}
