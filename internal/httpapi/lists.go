package httpapi

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
)

// Parameters of lists.
const (
	endpointParam = "endpoint"
	stateParam    = "state"
	typeParam     = "event_type"
	statusParam   = "status_class"
	failedParam   = "failed_attempt"
	keyParam      = "idempotency_key"
	sinceParam    = "since"
	untilParam    = "until"
)

type tenantView struct {
	ID        hook.TenantID    `json:"id"`
	Endpoints int              `json:"endpoints"`
	Limits    tenantLimitsBody `json:"limits"`
}

func (h *manage) listTenants(ctx context.Context, c *call) (reply, error) {
	req, values, err := pageRequest(c, "prefix")
	if err != nil {
		return reply{}, err
	}
	return viewList(req, func(req page.Request) (page.List[tenant.Tenant], error) {
		return h.Tenants.List(ctx, values.Get("prefix"), req)
	}, func(t tenant.Tenant) tenantView {
		return tenantView{ID: t.ID, Endpoints: t.Endpoints, Limits: viewTenantLimits(t.Limits)}
	})
}

func (h *manage) listEvents(ctx context.Context, c *call) (reply, error) {
	req, values, err := pageRequest(c, typeParam, keyParam, sinceParam, untilParam)
	if err != nil {
		return reply{}, err
	}
	var wrong fieldErrors
	f := status.EventFilter{
		Type: wrong.eventType(values), IdempotencyKey: wrong.given(values, keyParam),
		Since: wrong.time(values, sinceParam), Until: wrong.time(values, untilParam),
	}
	if len(wrong) > 0 {
		return reply{}, hook.Invalid(wrong...)
	}
	return viewList(req, func(req page.Request) (page.List[status.ListedEvent], error) {
		return h.Status.Events(ctx, c.tenant, f, req)
	}, viewListedEvent)
}

func (h *manage) listDeliveries(ctx context.Context, c *call) (reply, error) {
	return h.deliveries(ctx, c, status.DeliveryFilter{}, endpointParam, stateParam)
}

func (h *manage) listEndpointDeliveries(ctx context.Context, c *call) (reply, error) {
	return h.deliveries(ctx, c, status.DeliveryFilter{Endpoint: c.r.PathValue("endpoint")}, stateParam)
}

func (h *manage) listDeadLetters(ctx context.Context, c *call) (reply, error) {
	return h.deliveries(ctx, c, status.DeliveryFilter{State: hook.StateDead}, endpointParam)
}

// deliveries responds with a page of deliveries. The parameters in more narrow the given filter.
func (h *manage) deliveries(ctx context.Context, c *call, f status.DeliveryFilter, more ...string) (reply, error) {
	req, values, err := pageRequest(c, append([]string{typeParam, statusParam, failedParam, keyParam, sinceParam, untilParam}, more...)...)
	if err != nil {
		return reply{}, err
	}
	var wrong fieldErrors
	if values.Has(endpointParam) {
		f.Endpoint = wrong.given(values, endpointParam)
	}
	if values.Has(stateParam) {
		f.State = wrong.state(values)
	}
	f.Type, f.Status, f.IdempotencyKey = wrong.eventType(values), wrong.statusClass(values), wrong.given(values, keyParam)
	f.Failed = wrong.flag(values, failedParam)
	f.Since, f.Until = wrong.time(values, sinceParam), wrong.time(values, untilParam)
	if len(wrong) > 0 {
		return reply{}, hook.Invalid(wrong...)
	}
	return h.listOfDeliveries(ctx, c, req, func(req page.Request) (page.List[hook.Delivery], error) {
		return h.Status.Deliveries(ctx, c.tenant, f, req)
	})
}

// fieldErrors collects the wrong fields of a body and the wrong parameters of a query.
type fieldErrors []hook.FieldError

func (errs *fieldErrors) add(field, message string) {
	*errs = append(*errs, hook.FieldError{Field: field, Message: message})
}

// text returns the optional text of a body; an empty text is an error.
func (errs *fieldErrors) text(field string, given *string) string {
	if given == nil {
		return ""
	}
	if *given == "" {
		errs.add(field, "must not be empty")
	}
	return *given
}

// given returns the text of a parameter; an empty text is an error.
func (errs *fieldErrors) given(values url.Values, name string) string {
	if values.Has(name) && values.Get(name) == "" {
		errs.add(name, "must not be empty")
	}
	return values.Get(name)
}

func (errs *fieldErrors) eventType(values url.Values) string {
	eventType := values.Get(typeParam)
	if values.Has(typeParam) && !hook.ValidEventType(eventType) {
		errs.add(typeParam, "must be an exact type of events")
	}
	return eventType
}

func (errs *fieldErrors) state(values url.Values) hook.State {
	state, err := hook.ParseState(values.Get(stateParam))
	if err != nil {
		errs.add(stateParam, "must be one of retrying, parked, delivered, dead, discarded, cancelled")
	}
	return state
}

func (errs *fieldErrors) statusClass(values url.Values) status.HTTPClass {
	class := status.HTTPClass(values.Get(statusParam))
	if values.Has(statusParam) && !slices.Contains(status.HTTPClasses(), class) {
		errs.add(statusParam, "must be one of none, 2xx, 3xx, 4xx, 5xx")
	}
	return class
}

// flag returns the value of a parameter that is true or false; false if the parameter is absent.
func (errs *fieldErrors) flag(values url.Values, name string) bool {
	given := values.Get(name)
	if values.Has(name) && given != "true" && given != "false" {
		errs.add(name, "must be true or false")
	}
	return given == "true"
}

// time returns a time in RFC 3339, or the zero time if the parameter is absent. A time after all
// times that can be stored becomes the last possible one, because stored times have four digits
// for the year. A time before all of them becomes the start of 1970, because the zero time means
// no bound.
func (errs *fieldErrors) time(values url.Values, name string) time.Time {
	if !values.Has(name) {
		return time.Time{}
	}
	text := values.Get(name)
	at, err := time.Parse(time.RFC3339, text)
	switch _, plus := time.Parse(time.RFC3339, strings.ReplaceAll(text, " ", "+")); {
	case err != nil && plus == nil:
		errs.add(name, "has a space before its zone: a query decodes + as a space, so write %2B in its place")
	case err != nil:
		errs.add(name, "must be a time such as 2026-11-21T09:30:00Z")
	}
	if last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC); at.After(last) {
		return last
	}
	if first := time.Unix(0, 0).UTC(); at.Before(first) {
		return first
	}
	return at.UTC()
}
