package httpapi

import (
	"context"
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
	blockingParam = "blocking"
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
	q := listQuery(c, "prefix")
	return viewList(q, func(req page.Request) (page.List[tenant.Tenant], error) {
		return h.Tenants.List(ctx, q.Get("prefix"), req)
	}, func(t tenant.Tenant) tenantView {
		return tenantView{ID: t.ID, Endpoints: t.Endpoints, Limits: viewTenantLimits(t.Limits)}
	})
}

func (h *manage) listEvents(ctx context.Context, c *call) (reply, error) {
	q := listQuery(c, typeParam, keyParam, sinceParam, untilParam)
	f := status.EventFilter{Type: q.eventType(), IdempotencyKey: q.given(keyParam), Since: q.time(sinceParam), Until: q.time(untilParam)}
	return viewList(q, func(req page.Request) (page.List[status.ListedEvent], error) {
		return h.Status.Events(ctx, c.tenant, f, req)
	}, viewListedEvent)
}

// listDeliveries returns the action that lists deliveries, of the endpoint if the path names one. The
// parameters in more narrow the list.
func (h *manage) listDeliveries(more ...string) action {
	return func(ctx context.Context, c *call) (reply, error) {
		f := status.DeliveryFilter{Endpoint: c.r.PathValue("endpoint")}
		return h.filtered(ctx, c, deliveriesQuery(c, &f, more...), &f)
	}
}

func (h *manage) listDeadLetters(ctx context.Context, c *call) (reply, error) {
	f := status.DeliveryFilter{State: hook.StateDead}
	q := deliveriesQuery(c, &f, endpointParam, blockingParam)
	if !q.flag(blockingParam) {
		return h.filtered(ctx, c, q, &f)
	}
	return viewList(q, func(req page.Request) (page.List[status.Blocking], error) {
		return h.Status.Blocking(ctx, c.tenant, f, req)
	}, func(b status.Blocking) deliveryView {
		v := c.viewDelivery(b.Delivery)
		v.stand(b.Standing)
		return v
	})
}

func (h *manage) filtered(ctx context.Context, c *call, q *params, f *status.DeliveryFilter) (reply, error) {
	return h.listOfDeliveries(ctx, c, q, func(req page.Request) (page.List[hook.Delivery], error) {
		return h.Status.Deliveries(ctx, c.tenant, *f, req)
	})
}

// deliveriesQuery reads the parameters of a list of deliveries into the filter.
func deliveriesQuery(c *call, f *status.DeliveryFilter, more ...string) *params {
	q := listQuery(c, append([]string{typeParam, statusParam, failedParam, keyParam, sinceParam, untilParam}, more...)...)
	if q.Has(endpointParam) {
		f.Endpoint = q.given(endpointParam)
	}
	if q.Has(stateParam) {
		f.State = q.state()
	}
	f.Type, f.Status, f.IdempotencyKey, f.Failed = q.eventType(), q.statusClass(), q.given(keyParam), q.flag(failedParam)
	f.Since, f.Until = q.time(sinceParam), q.time(untilParam)
	return q
}

// refusal returns the error about the wrong fields of a body, or the wrong parameters of a query; nil
// for none.
func refusal(wrong hook.Fields) error {
	if len(wrong) == 0 {
		return nil
	}
	return hook.Invalid(wrong...)
}

// optionalText returns the optional text of a body; an empty text is an error.
func optionalText[T ~string](wrong *hook.Fields, field string, given *T) string {
	if given == nil {
		return ""
	}
	wrong.Refuse(*given == "", field, "must not be empty")
	return string(*given)
}

// given returns the text of a parameter; an empty text is an error.
func (q *params) given(name string) string {
	q.wrong.Refuse(q.Has(name) && q.Get(name) == "", name, "must not be empty")
	return q.Get(name)
}

func (q *params) eventType() string {
	eventType := q.Get(typeParam)
	q.wrong.Refuse(q.Has(typeParam) && !hook.ValidEventType(eventType), typeParam, "must be an exact type of events")
	return eventType
}

func (q *params) state() hook.State {
	state, err := hook.ParseState(q.Get(stateParam))
	q.wrong.Refuse(err != nil, stateParam, "must be one of retrying, parked, delivered, dead, discarded, cancelled")
	return state
}

// word returns the value of a parameter that is one of the words, or absent.
func (q *params) word(name, message string, words ...string) string {
	q.wrong.Refuse(q.Has(name) && !slices.Contains(words, q.Get(name)), name, "%s", message)
	return q.Get(name)
}

func (q *params) statusClass() status.HTTPClass {
	return status.HTTPClass(q.word(statusParam, "must be one of none, 2xx, 3xx, 4xx, 5xx", "none", "2xx", "3xx", "4xx", "5xx"))
}

// flag returns the value of a parameter that is true or false; false if the parameter is absent.
func (q *params) flag(name string) bool {
	return q.word(name, "must be true or false", "true", "false") == "true"
}

// time returns a time in RFC 3339, or the zero time if the parameter is absent. A time after all
// times that can be stored becomes the last possible one, because stored times have four digits
// for the year. A time before all of them becomes the start of 1970, because the zero time means
// no bound.
func (q *params) time(name string) time.Time {
	if !q.Has(name) {
		return time.Time{}
	}
	text := q.Get(name)
	at, err := time.Parse(time.RFC3339, text)
	switch _, plus := time.Parse(time.RFC3339, strings.ReplaceAll(text, " ", "+")); {
	case err != nil && plus == nil:
		q.wrong.Add(name, "has a space before its zone: a query decodes + as a space, so write %%2B in its place")
	case err != nil:
		q.wrong.Add(name, "must be a time such as 2026-11-21T09:30:00Z")
	}
	if last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC); at.After(last) {
		return last
	}
	if first := time.Unix(0, 0).UTC(); at.Before(first) {
		return first
	}
	return at.UTC()
}
