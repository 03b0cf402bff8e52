package replay

import (
	"context"
	"fmt"
	"slices"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Request is a request for a replay.
type Request struct {
	By    hook.KeyID
	Force bool // also replay a delivery in progress, which the replay cancels; also to an Endpoint that does not ask for the event
	// Endpoint is the id or uid of the only endpoint to send the event to; empty: the event's
	// targets. Only for Event.
	Endpoint string
}

// Result is the result for one delivery of an event.
type Result struct {
	Delivery hook.Delivery // the new generation; with Err, the delivery that was not replayed
	Err      error
}

// Delivery replays one delivery and returns the new generation, in state queued. With Force it
// also replays a delivery in progress, which is cancelled. If the delivery is still queued,
// Force sends its first token again, and Delivery returns the same generation.
//
// Errors: CodeNotFound when the tenant has no such delivery; CodeReplayed after an
// earlier replay; CodeInProgress for a delivery in progress without force;
// CodeConflict when the endpoint is deleted. After another error nothing is
// replayed.
func (r *Replayer) Delivery(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, o Request) (hook.Delivery, error) {
	e, d, err := r.findDelivery(ctx, tenant, id)
	if err != nil {
		return hook.Delivery{}, err
	}
	if e.Erased() {
		return hook.Delivery{}, fmt.Errorf("replay delivery %s: %w", id, hook.ErrErased())
	}
	c := &candidate{delivery: d, request: o.replayRequest()}
	switch _, err = r.Endpoints.Endpoint(ctx, tenant, id.Endpoint); {
	case hook.CodeOf(err) == hook.CodeNotFound:
		c.refused = errDeleted()
	case err != nil:
		return hook.Delivery{}, fmt.Errorf("read endpoint %s: %w", id.Endpoint, err)
	}
	if err := r.countNow(ctx, tenant, c); err != nil {
		return hook.Delivery{}, err
	}
	r.enqueue(ctx, []*candidate{c})
	result := r.result(ctx, e, c)
	return result.Delivery, result.Err
}

// Event replays the newest generation of each delivery of the event, in the order
// of the event's targets. Each delivery has its own result, as from Delivery. With
// Request.Endpoint, Event replays the delivery to this endpoint only, and adds the
// endpoint to the event first when the event does not have it.
func (r *Replayer) Event(ctx context.Context, tenant hook.TenantID, id hook.EventID, o Request) ([]Result, error) {
	e, err := r.findEvent(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	if e.Erased() {
		return nil, fmt.Errorf("replay event %s: %w", id, hook.ErrErased())
	}
	if o.Endpoint != "" {
		if e, err = r.only(ctx, e, o.Endpoint, o.Force); err != nil {
			return nil, err
		}
	}
	recorded, err := r.Store.Deliveries(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("read deliveries of event %s: %w", id, err)
	}
	endpoints, err := r.Endpoints.Endpoints(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	candidates := make([]*candidate, len(e.Targets))
	for i, target := range e.Targets {
		candidates[i] = &candidate{delivery: newestGeneration(e, target, recorded), request: o.replayRequest()}
		if !slices.ContainsFunc(endpoints, func(e hook.Endpoint) bool { return e.ID == target.Endpoint }) {
			candidates[i].refused = errDeleted()
		}
	}
	if err := r.countNow(ctx, tenant, candidates...); err != nil {
		return nil, err
	}
	r.enqueue(ctx, candidates)
	results := make([]Result, len(candidates))
	for i, c := range candidates {
		results[i] = r.result(ctx, e, c)
	}
	return results, nil
}

func (o Request) replayRequest() hook.ReplayRequest {
	return hook.ReplayRequest{By: o.By, Force: o.Force}
}

func errDeleted() error { return hook.Conflict("its endpoint was deleted") }

// result returns the result of one candidate. Once the token is sent the replay will happen, so
// a failed write of the record is only logged.
func (r *Replayer) result(ctx context.Context, e hook.Event, c *candidate) Result {
	if err := c.refused; err != nil {
		return Result{Delivery: c.delivery, Err: fmt.Errorf("replay delivery %s: %w", c.delivery.ID, err)}
	}
	if !c.sent {
		return Result{Delivery: c.delivery, Err: fmt.Errorf("replay delivery %s: %w", c.delivery.ID, c.failed)}
	}
	d := c.delivery
	if !c.queued() {
		d = hook.QueuedReplay(e, c.delivery)
	}
	settle.LogRun(ctx, r.Log, "delivery.replayed", c.failed, deliveryAttrs(d, c.request.By)...)
	return Result{Delivery: d}
}

// findEvent returns the tenant's event, or CodeNotFound when the tenant has no such
// event, or the event is expired.
func (r *Replayer) findEvent(ctx context.Context, tenant hook.TenantID, id hook.EventID) (hook.Event, error) {
	e, err := r.Store.Event(ctx, id)
	if err != nil {
		return hook.Event{}, fmt.Errorf("read event %s: %w", id, err)
	}
	if e.Tenant != tenant || e.Expired(r.Now()) {
		return hook.Event{}, hook.NotFound("event")
	}
	return e, nil
}

// findDelivery returns the tenant's delivery and event. A delivery without a record is queued,
// if the event names the endpoint or the record of the previous generation names the replay.
// Otherwise the result is CodeNotFound.
func (r *Replayer) findDelivery(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID) (hook.Event, hook.Delivery, error) {
	e, err := r.findEvent(ctx, tenant, id.Event)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return e, hook.Delivery{}, err
	}
	ref, target := e.Ref(id.Endpoint, id.Generation)
	if err != nil || !target {
		return e, hook.Delivery{}, hook.NotFound("delivery")
	}
	d, err := r.Store.Delivery(ctx, ref)
	switch {
	case err == nil:
		return e, d, nil
	case hook.CodeOf(err) != hook.CodeNotFound:
		return e, d, fmt.Errorf("read delivery %s: %w", id, err)
	}
	before, replay := ref.Predecessor()
	if !replay {
		return e, hook.QueuedDelivery(e, hook.Target{Endpoint: id.Endpoint}).At(ref), nil
	}
	old, err := r.Store.Delivery(ctx, before)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return e, d, fmt.Errorf("read delivery %s: %w", before.DeliveryID, err)
	}
	if err != nil || old.Replayed.Generation != id.Generation {
		return e, hook.Delivery{}, hook.NotFound("delivery")
	}
	return e, hook.QueuedReplay(e, old), nil
}

// newestGeneration returns the newest generation of the event's delivery to the
// target.
func newestGeneration(e hook.Event, target hook.Target, recorded []hook.Delivery) hook.Delivery {
	last := hook.QueuedDelivery(e, target)
	for _, d := range recorded {
		if d.ID.Endpoint == target.Endpoint && (last.Version == 0 || d.ID.Generation > last.ID.Generation) {
			last = d
		}
	}
	if last.Replayed.Generation != 0 {
		return hook.QueuedReplay(e, last)
	}
	return last
}
