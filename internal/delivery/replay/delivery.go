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
// Force sends its first task again, and Delivery returns the same generation.
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
	results, err := r.replay(ctx, e, []hook.Delivery{d}, id.Endpoint, o)
	if err != nil {
		return hook.Delivery{}, err
	}
	return results[0].Delivery, results[0].Err
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
		return nil, err
	}
	newest := make([]hook.Delivery, len(e.Targets))
	for i, target := range e.Targets {
		newest[i] = newestGeneration(e, target, recorded)
	}
	return r.replay(ctx, e, newest, "", o)
}

// replay replays deliveries of the event: to the endpoint only, or to several.
func (r *Replayer) replay(ctx context.Context, e hook.Event, deliveries []hook.Delivery, only hook.EndpointID, o Request) ([]Result, error) {
	endpoints, err := r.targets(ctx, e.Tenant, only)
	if err != nil {
		return nil, err
	}
	candidates := make([]*candidate, len(deliveries))
	for i, d := range deliveries {
		candidates[i] = &candidate{delivery: d, request: hook.ReplayRequest{By: o.By, Force: o.Force}}
		if !slices.ContainsFunc(endpoints, func(t hook.Target) bool { return t.Endpoint == d.ID.Endpoint }) {
			candidates[i].skip, candidates[i].err = SkipGone, hook.Conflict("its endpoint was deleted")
		}
	}
	if err := r.countNow(ctx, e.Tenant, candidates); err != nil {
		return nil, err
	}
	r.enqueue(ctx, candidates)
	results := make([]Result, len(candidates))
	for i, c := range candidates {
		results[i] = r.result(ctx, e, c)
	}
	return results, nil
}

// result returns the result of one candidate. Once the task is sent the replay will happen, so
// a failed write of the record is only logged.
func (r *Replayer) result(ctx context.Context, e hook.Event, c *candidate) Result {
	if c.skip != "" || !c.sent {
		return Result{Delivery: c.delivery, Err: fmt.Errorf("replay delivery %s: %w", c.delivery.ID, c.err)}
	}
	d := c.delivery
	if !c.queued() {
		d = hook.QueuedReplay(e, c.delivery)
	}
	settle.LogRun(ctx, r.Log, "delivery.replayed", c.err, deliveryAttrs(d, c.request.By)...)
	return Result{Delivery: d}
}

// findEvent returns the tenant's event, or CodeNotFound when the tenant has no such
// event, or the event is expired.
func (r *Replayer) findEvent(ctx context.Context, tenant hook.TenantID, id hook.EventID) (hook.Event, error) {
	e, err := r.Store.Event(ctx, id)
	if err == nil && (e.Tenant != tenant || e.Expired(r.Now())) || hook.CodeOf(err) == hook.CodeNotFound {
		return hook.Event{}, hook.NotFound("event")
	}
	return e, err
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
	if hook.CodeOf(err) == hook.CodeNotFound {
		d, err = settle.Queued(ctx, r.Store, e, ref)
	}
	return e, d, err
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
