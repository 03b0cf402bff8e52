package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// The bounds of a status in a filter.
const (
	minStatus = 100
	maxStatus = 599
)

// JobRequest is a request for a job.
type JobRequest struct {
	Filter // without endpoints; the zero State stands for dead
	Terms

	Endpoint, AddTo string            // the ids or uids of the filter's endpoints; empty: none
	Wrong           []hook.FieldError // fields of a wrong form, absent above: reported with the other wrong fields
}

// newFilter checks the request and returns the filter; CodeInvalid names every
// wrong field.
func (r *Replayer) newFilter(ctx context.Context, tenant hook.TenantID, q JobRequest, now time.Time) (Filter, error) {
	f := q.Filter
	f.State = cmp.Or(f.State, hook.StateDead)
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	var errs hook.Fields
	validateFilter(&errs, f, now)
	validateAction(&errs, f, q)
	for _, ref := range []struct {
		field, text string
		id          *hook.EndpointID
	}{{"filter.endpoint", q.Endpoint, &f.Endpoint}, {"add_to", q.AddTo, &f.AddTo}} {
		if ref.text == "" {
			continue
		}
		e, err := FindEndpoint(ctx, r.Store, tenant, ref.text)
		if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
			return Filter{}, err
		}
		errs.Refuse(err != nil, ref.field, "is not an endpoint of this tenant")
		*ref.id = e.ID
	}
	if wrong := hook.AlsoWrong(q.Wrong, errs); len(wrong) > 0 {
		return Filter{}, hook.Invalid(wrong...)
	}
	return f, nil
}

func validateFilter(errs *hook.Fields, f Filter, now time.Time) {
	errs.Refuse(!slices.Contains([]hook.State{hook.StateDead, hook.StateParked, hook.StateDelivered, hook.StateDiscarded}, f.State),
		"filter.state", "must be one of dead, parked, delivered, discarded")
	errs.Refuse(len(f.Types) > MaxTypes, "filter.event_types", "must name at most %d types", MaxTypes)
	for i, pattern := range f.Types[:min(len(f.Types), MaxTypes)] {
		errs.Refuse(!hook.ValidPattern(pattern),
			fmt.Sprintf("filter.event_types[%d]", i), `must be a type such as "order.paid", a prefix such as "order.*", or "*"`)
	}
	errs.Refuse(f.Status != 0 && (f.Status < minStatus || f.Status > maxStatus), "filter.status", "must be %d to %d", minStatus, maxStatus)
	errs.Refuse(f.Class == NoAttempt && f.Status != 0, "filter.status", "does not apply to deliveries without an attempt")
	switch {
	case !f.From.Before(now):
		errs.Add("filter.since", "must be in the past")
	case !f.From.Before(f.To):
		errs.Add("filter.until", "must be after filter.since")
	}
	switch {
	case f.DiedSince.IsZero():
	case f.State != hook.StateDead:
		errs.Add("filter.died_since", "applies to state dead only")
	case !f.DiedSince.Before(now):
		errs.Add("filter.died_since", "must be in the past")
	}
}

// validateAction checks what the job does with the deliveries of the filter.
func validateAction(errs *hook.Fields, f Filter, q JobRequest) {
	errs.Refuse(!(q.Rate >= MinRate && q.Rate <= MaxRate), "rate_per_second", "must be %g to %g", MinRate, MaxRate) // also refuses NaN
	errs.Refuse(q.Limit < 0 || q.Limit > MaxLimit, "limit", "must be 1 to %d", MaxLimit)
	errs.Refuse(q.Expected < 0, "expected", "must not be negative")
	switch {
	case q.Action == ActionReplay:
	case q.AddTo != "":
		errs.Add("action", "discard does not apply with add_to")
	case f.State != hook.StateDead:
		errs.Add("action", "discard applies to state dead only")
	}
}

// FindEndpoint returns the tenant's endpoint with ref as the id or the uid; CodeNotFound if none exists.
func FindEndpoint(ctx context.Context, s Endpoints, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	if id, err := hook.ParseEndpointID(ref); err == nil {
		return s.Endpoint(ctx, tenant, id)
	}
	if !hook.ValidUID(ref) {
		return hook.Endpoint{}, hook.NotFound("endpoint")
	}
	return s.EndpointByUID(ctx, tenant, ref)
}

// selection returns the Selection of the filter for one endpoint, without event types, causes
// and times of death, which the index does not know.
func (f Filter) selection(target hook.Target) Selection {
	s := Selection{Target: target, State: f.State, From: f.From, To: f.To, Limit: PageSize}
	if earliest := f.DiedSince.Add(-hook.MaxMaxAge - maxDeathDelay); !f.DiedSince.IsZero() && earliest.After(s.From) {
		s.From = earliest // nothing older dies so late
	}
	return s
}

// indexed reports whether the index alone can select the deliveries of the filter.
func (f Filter) indexed() bool {
	return len(f.Types) == 0 && f.Class == 0 && f.Status == 0 && f.DiedSince.IsZero()
}

// matches reports whether the filter selects the delivery, if its endpoint, state and time fit.
func (f Filter) matches(d hook.Delivery) bool {
	tried := f.Class == 0 || f.Class == Cause(d.Last.Class)
	if f.Class == NoAttempt {
		tried = d.Attempts == 0
	}
	return tried && (f.Status == 0 || f.Status == d.Last.Status) && f.matchesType(d.EventType) && !d.UpdatedAt.Before(f.DiedSince)
}

// matchesType reports whether the filter selects events of the type.
func (f Filter) matchesType(eventType string) bool {
	return len(f.Types) == 0 || hook.Endpoint{EventTypes: f.Types}.Subscribes(eventType)
}

// targets returns the tenant's endpoints in the order of their ids, or only the given
// endpoint, with all shards. Deleted endpoints are absent.
func (r *Replayer) targets(ctx context.Context, tenant hook.TenantID, only hook.EndpointID) ([]hook.Target, error) {
	var all []hook.Endpoint
	var err error
	if only == "" {
		all, err = r.Store.Endpoints(ctx, tenant)
	} else {
		all, err = r.Store.EndpointsOf(ctx, tenant, []hook.EndpointID{only})
	}
	targets := make([]hook.Target, len(all))
	for i, e := range all {
		targets[i] = e.Widest()
	}
	return targets, err
}
