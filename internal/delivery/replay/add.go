package replay

import (
	"context"
	"fmt"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
)

// only returns the event with the endpoint as its only target. If the stored event does not
// have the endpoint, only adds it: CodeConflict unless the endpoint asks for the event, or with force.
func (r *Replayer) only(ctx context.Context, e hook.Event, ref string, force bool) (hook.Event, error) {
	endpoint, err := FindEndpoint(ctx, r.Store, e.Tenant, ref)
	if err != nil {
		return hook.Event{}, fmt.Errorf("find endpoint %s: %w", ref, err)
	}
	if _, known := targetOf(e, endpoint.ID); !known && !force && !asksFor(&endpoint, &e) {
		return hook.Event{}, hook.Conflict("neither subscription nor filter of the endpoint asks for the event; force sends it all the same")
	}
	target, err := r.add(ctx, e, endpoint.Target())
	if err != nil {
		return hook.Event{}, err
	}
	e.Targets = []hook.Target{target}
	return e, nil
}

// add adds the target to the stored event, and returns the event's target for the endpoint: the
// given one, or the one that it already has.
//
// The record of the first generation is written before the target, so that no repeated post
// sends a task of the first generation, which would be as old as the event. After a crash
// between the two writes there is a record without a target, and a repeated call completes the
// work.
func (r *Replayer) add(ctx context.Context, e hook.Event, target hook.Target) (hook.Target, error) {
	if known, ok := targetOf(e, target.Endpoint); ok {
		return known, nil
	}
	if _, refused := hook.AddedDelivery(e, target, r.now()).Replay(hook.ReplayRequest{}, r.now()); refused != nil {
		return hook.Target{}, refused
	}
	err := r.Store.SaveDelivery(ctx, hook.AddedDelivery(e, target, r.now()), nil)
	if err == nil || hook.CodeOf(err) == hook.CodeConflict { // a conflict: a record exists
		err = r.Store.AddTarget(ctx, e, target)
	}
	if err == nil || hook.CodeOf(err) != hook.CodeConflict {
		return target, err
	}
	stored, readErr := r.findEvent(ctx, e.Tenant, e.ID)
	if readErr != nil {
		return hook.Target{}, readErr
	}
	if stored.Erased() {
		return hook.Target{}, fmt.Errorf("add endpoint %s to event %s: %w", target.Endpoint, e.ID, hook.ErrErased())
	}
	if known, ok := targetOf(stored, target.Endpoint); ok && stored.AcceptedAt.Equal(e.AcceptedAt) {
		return known, nil // added meanwhile
	}
	return hook.Target{}, fmt.Errorf("add endpoint %s to event %s: %w", target.Endpoint, e.ID, err)
}

// asksFor reports whether the endpoint would get the event if it were accepted now. As there, a
// filter that only a later build can parse lets every event pass.
func asksFor(endpoint *hook.Endpoint, e *hook.Event) bool {
	if !endpoint.Subscribes(e.Type) || len(endpoint.Filter) == 0 {
		return endpoint.Subscribes(e.Type)
	}
	f, wrong := filter.Parse(endpoint.Filter, "filter")
	if len(wrong) > 0 {
		return true
	}
	matches, _ := f.Matches(filter.NewDocument(e.Type, e.Payload))
	return matches
}

// targetOf returns the event's target for the endpoint.
func targetOf(e hook.Event, id hook.EndpointID) (hook.Target, bool) {
	i := slices.IndexFunc(e.Targets, func(t hook.Target) bool { return t.Endpoint == id })
	if i < 0 {
		return hook.Target{}, false
	}
	return e.Targets[i], true
}
