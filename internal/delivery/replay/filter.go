package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"surehook/internal/hook"
)

// JobRequest asks for a job.
type JobRequest struct {
	Endpoint string     // id or uid; empty: all endpoints
	State    hook.State // dead, parked, delivered or discarded; zero: dead
	Types    []string   // patterns of event types, as endpoints subscribe with; at most MaxTypes; empty: all
	From, To time.Time  // of the deliveries' creation: From is in it, To is not; zero: without bound
	Rate     float64    // deliveries a second, MinRate to MaxRate
	By       hook.KeyID
}

// filter checks the request and returns what it selects now; CodeInvalid names
// every field that is wrong.
func (r *Replayer) filter(ctx context.Context, tenant hook.TenantID, q JobRequest, now time.Time) (Filter, error) {
	f := Filter{State: q.State, Types: q.Types, From: q.From, To: q.To}
	if f.State == 0 {
		f.State = hook.StateDead
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	errs := check(f, q.Rate, now)
	if q.Endpoint != "" {
		e, err := r.endpoint(ctx, tenant, q.Endpoint)
		switch {
		case err == nil:
			f.Endpoint = e.ID
		case hook.CodeOf(err) == hook.CodeNotFound:
			errs = append(errs, hook.FieldError{Field: "filter.endpoint", Message: "is no endpoint of this tenant"})
		default:
			return Filter{}, fmt.Errorf("read endpoint %s: %w", q.Endpoint, err)
		}
	}
	if len(errs) > 0 {
		return Filter{}, hook.Invalid(errs...)
	}
	return f, nil
}

func check(f Filter, rate float64, now time.Time) []hook.FieldError {
	var errs []hook.FieldError
	add := func(field, format string, args ...any) {
		errs = append(errs, hook.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if !slices.Contains([]hook.State{hook.StateDead, hook.StateParked, hook.StateDelivered, hook.StateDiscarded}, f.State) {
		add("filter.state", "must be one of dead, parked, delivered, discarded")
	}
	if len(f.Types) > MaxTypes {
		add("filter.event_types", "must name at most %d types", MaxTypes)
	}
	for i, pattern := range f.Types {
		if !hook.ValidPattern(pattern) {
			add(fmt.Sprintf("filter.event_types[%d]", i), `must be a type such as "order.paid", a prefix such as "order.*", or "*"`)
		}
	}
	switch {
	case !f.From.Before(now):
		add("filter.from", "must be in the past")
	case !f.From.Before(f.To):
		add("filter.to", "must be after filter.from")
	}
	if !(rate >= MinRate && rate <= MaxRate) { // it may be no number
		add("rate_per_second", "must be %g to %g", MinRate, MaxRate)
	}
	return errs
}

// endpoint returns the tenant's endpoint of the id or uid.
func (r *Replayer) endpoint(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	if id, err := hook.ParseEndpointID(ref); err == nil {
		return r.Endpoints.Endpoint(ctx, tenant, id) //nolint:wrapcheck // the caller names the endpoint
	}
	if !hook.ValidUID(ref) {
		return hook.Endpoint{}, hook.NotFound("endpoint")
	}
	return r.Endpoints.EndpointByUID(ctx, tenant, ref) //nolint:wrapcheck // the caller names the endpoint
}

// selection is what the index can tell of the filter, for one endpoint.
func (f Filter) selection(id hook.EndpointID) Selection {
	return Selection{Endpoint: id, State: f.State, From: f.From, To: f.To, Limit: PageSize}
}

// wants reports whether the filter takes deliveries of the type.
func (f Filter) wants(eventType string) bool {
	return len(f.Types) == 0 || hook.Endpoint{EventTypes: f.Types}.Subscribes(eventType)
}

// endpoints returns the ids of the endpoints that the filter walks, in order.
// One that was deleted is not among them.
func (r *Replayer) endpoints(ctx context.Context, tenant hook.TenantID, only hook.EndpointID) ([]hook.EndpointID, error) {
	if only != "" {
		e, err := r.Endpoints.Endpoint(ctx, tenant, only)
		if err == nil {
			return []hook.EndpointID{e.ID}, nil
		}
		if hook.CodeOf(err) == hook.CodeNotFound {
			return nil, nil
		}
		return nil, fmt.Errorf("read endpoint %s: %w", only, err)
	}
	all, err := r.Endpoints.Endpoints(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	ids := make([]hook.EndpointID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	return ids, nil
}
