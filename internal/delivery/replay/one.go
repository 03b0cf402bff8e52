package replay

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// Request is who asks for a replay, and how much they want it.
type Request struct {
	By    hook.KeyID
	Force bool // also of a delivery in progress: the replay takes its place
}

// Result is what came of one delivery of an event.
type Result struct {
	Delivery hook.Delivery // the new generation; if Err is set, the one that was not replayed
	Err      error
}

// Delivery replays one delivery and returns its new generation, which is queued.
//
// CodeNotFound if the tenant has none such. CodeReplayed if it was replayed
// before. CodeInProgress if it is not settled and there is no force; with force
// the new generation takes its place, unless it is queued: then its first token
// is sent again, and it is returned itself. CodeConflict if its endpoint was
// deleted. After another error nothing was replayed.
func (r *Replayer) Delivery(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID, o Request) (hook.Delivery, error) {
	e, d, err := r.delivery(ctx, tenant, id)
	if err != nil {
		return hook.Delivery{}, err
	}
	p := &replaying{delivery: d, order: o.order()}
	switch _, err = r.Endpoints.Endpoint(ctx, tenant, id.Endpoint); {
	case hook.CodeOf(err) == hook.CodeNotFound:
		p.refused = errDeleted()
	case err != nil:
		return hook.Delivery{}, fmt.Errorf("read endpoint %s: %w", id.Endpoint, err)
	}
	r.enqueue(ctx, []*replaying{p})
	result := r.result(ctx, e, p)
	return result.Delivery, result.Err
}

// Event replays the newest generation of each of the event's deliveries, each
// for itself and as Delivery does, in the order of the event's targets.
func (r *Replayer) Event(ctx context.Context, tenant hook.TenantID, id hook.EventID, o Request) ([]Result, error) {
	e, err := r.event(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	recorded, err := r.Store.Deliveries(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read deliveries of event %s: %w", id, err)
	}
	endpoints, err := r.Endpoints.Endpoints(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	all := make([]*replaying, len(e.Targets))
	for i, target := range e.Targets {
		all[i] = &replaying{delivery: newest(e, target, recorded), order: o.order()}
		if !slices.ContainsFunc(endpoints, func(e hook.Endpoint) bool { return e.ID == target }) {
			all[i].refused = errDeleted()
		}
	}
	r.enqueue(ctx, all)
	results := make([]Result, len(all))
	for i, p := range all {
		results[i] = r.result(ctx, e, p)
	}
	return results, nil
}

func (o Request) order() hook.ReplayRequest { return hook.ReplayRequest{By: o.By, Force: o.Force} }

func errDeleted() error { return hook.Conflict("its endpoint was deleted") }

// result returns what came of one replay. Once its token is out there will be
// one: that its record does not say so yet is for the log.
func (r *Replayer) result(ctx context.Context, e hook.Event, p *replaying) Result {
	if err := p.refused; err != nil {
		return Result{Delivery: p.delivery, Err: fmt.Errorf("replay delivery %s: %w", p.delivery.ID, err)}
	}
	if !p.sent {
		return Result{Delivery: p.delivery, Err: fmt.Errorf("replay delivery %s: %w", p.delivery.ID, p.failed)}
	}
	d := p.delivery
	if !p.queued() {
		d = hook.QueuedReplay(e, p.delivery)
	}
	level, attrs := slog.LevelInfo, endAttrs(d, p.order.By)
	if p.failed != nil {
		level, attrs = slog.LevelError, append(attrs, slog.Any(names.LogError, p.failed))
	}
	r.Log.LogAttrs(ctx, level, "delivery.replayed", attrs...)
	return Result{Delivery: d}
}

// event returns the tenant's event; CodeNotFound if it has none such.
func (r *Replayer) event(ctx context.Context, tenant hook.TenantID, id hook.EventID) (hook.Event, error) {
	e, err := r.Store.Event(ctx, id)
	if err != nil {
		return hook.Event{}, fmt.Errorf("read event %s: %w", id, err)
	}
	if e.Tenant != tenant {
		return hook.Event{}, hook.NotFound("event")
	}
	return e, nil
}

// delivery returns the tenant's delivery as it stands, and its event. A
// delivery without a record is queued if its event names the endpoint, or if
// the generation before says that it was replayed; else it is CodeNotFound.
func (r *Replayer) delivery(ctx context.Context, tenant hook.TenantID, id hook.DeliveryID) (hook.Event, hook.Delivery, error) {
	e, err := r.event(ctx, tenant, id.Event)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return e, hook.Delivery{}, err
	}
	if err != nil || !e.Has(id.Endpoint) {
		return e, hook.Delivery{}, hook.NotFound("delivery")
	}
	d, err := r.Store.Delivery(ctx, id)
	if err == nil || hook.CodeOf(err) != hook.CodeNotFound {
		return e, d, wrapped(err, "read delivery", id)
	}
	before, replay := id.Predecessor()
	if !replay {
		return e, hook.QueuedDelivery(e, id.Endpoint), nil
	}
	old, err := r.Store.Delivery(ctx, before)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return e, d, wrapped(err, "read delivery", before)
	}
	if err != nil || old.Replayed.Generation != id.Generation {
		return e, hook.Delivery{}, hook.NotFound("delivery")
	}
	return e, hook.QueuedReplay(e, old), nil
}

func wrapped(err error, verb string, id hook.DeliveryID) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", verb, id, err)
}

// newest returns the newest generation of the event's delivery to the endpoint.
func newest(e hook.Event, endpoint hook.EndpointID, recorded []hook.Delivery) hook.Delivery {
	last := hook.QueuedDelivery(e, endpoint)
	for _, d := range recorded {
		if d.ID.Endpoint == endpoint && (last.Version == 0 || d.ID.Generation > last.ID.Generation) {
			last = d
		}
	}
	if last.Replayed.Generation != 0 {
		return hook.QueuedReplay(e, last)
	}
	return last
}
