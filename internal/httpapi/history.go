package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
)

func (h *manage) getEvent(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	e, err := h.Status.Event(ctx, c.tenant, id)
	if err != nil {
		return reply{}, fmt.Errorf("get event: %w", err)
	}
	raw, err := encodeEvent(e)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusOK, raw: raw}, nil
}

// encodeEvent appends the payload byte for byte as it was posted and signed. The JSON encoder
// would drop white space.
func encodeEvent(e hook.Event) ([]byte, error) {
	raw, err := json.Marshal(viewEvent(e), written)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.ID, err)
	}
	payload := e.Payload
	if e.Erased() {
		payload = []byte("null")
	}
	return bytes.Join([][]byte{bytes.TrimSuffix(raw, []byte("}")), []byte(`,"payload":`), payload, []byte("}")}, nil), nil
}

func (h *manage) listEventDeliveries(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	return h.listOfDeliveries(ctx, c, listQuery(c), func(req page.Request) (page.List[hook.Delivery], error) {
		return h.Status.EventDeliveries(ctx, c.tenant, id, req)
	})
}

func (h *manage) listEventAttempts(ctx context.Context, c *call, id hook.EventID) (reply, error) {
	return viewList(listQuery(c), func(req page.Request) (page.List[hook.Attempt], error) {
		return h.Status.EventAttempts(ctx, c.tenant, id, req)
	}, c.viewAttempt)
}

func (h *manage) getDelivery(ctx context.Context, c *call, id hook.DeliveryID) (reply, error) {
	return shown(c.viewDeliveryDetail)(h.Status.Delivery(ctx, c.tenant, id))
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

// eventView is an event without its payload.
type eventView struct {
	ID             hook.EventID      `json:"id"`
	Type           string            `json:"event_type"`
	IdempotencyKey string            `json:"idempotency_key,omitzero"`
	TraceParent    string            `json:"traceparent,omitzero"`
	TraceID        string            `json:"trace_id,omitzero"`
	Endpoints      []hook.EndpointID `json:"endpoints"`
	AcceptedAt     time.Time         `json:"accepted_at"`
	ExpiresAt      time.Time         `json:"expires_at"`
	ErasedAt       time.Time         `json:"erased_at,omitzero"` // of the payload
}

// listedEventView is an event in a list.
type listedEventView struct {
	eventView
	Deliveries map[hook.State]int `json:"deliveries"` // endpoints by the state of the newest delivery
}

type deliveryView struct {
	ID            hook.DeliveryID `json:"id"`
	Event         hook.EventID    `json:"event_id"`
	Endpoint      hook.EndpointID `json:"endpoint_id"`
	EventType     string          `json:"event_type"`
	Generation    int             `json:"generation"`
	State         hook.State      `json:"state"`
	Reason        hook.Reason     `json:"reason,omitzero"`
	Attempts      int             `json:"attempts"`
	CreatedAt     time.Time       `json:"created_at"`
	UpdatedAt     time.Time       `json:"updated_at"`
	NextAttemptAt time.Time       `json:"next_attempt_at,omitzero"`
	status.Outlook

	Ordering   *orderingView   `json:"ordering,omitzero"` // absent: not ordered
	Last       *outcomeView    `json:"last,omitzero"`
	ReplayedAs hook.DeliveryID `json:"replayed_as,omitzero"`
	ReplayedAt time.Time       `json:"replayed_at,omitzero"`
	Job        hook.JobID      `json:"replay_id,omitzero"`
	By         hook.KeyID      `json:"by,omitzero"`
	Note       string          `json:"note,omitzero"`
}

// orderingView is the place of a delivery among those with its ordering key.
type orderingView struct {
	Key      string           `json:"key"`
	Number   int64            `json:"number"`
	Behind   *int64           `json:"behind,omitzero"`
	WaitsFor *status.WaitsFor `json:"waits_for,omitzero"`
}

type outcomeView struct {
	Class      hook.Class        `json:"class"`
	Status     int               `json:"status,omitzero"`
	Error      string            `json:"error,omitzero"`
	URL        string            `json:"url,omitzero"`
	Region     string            `json:"region,omitzero"` // of the sender; absent: the deployment's own
	Duration   time.Duration     `json:"duration"`
	Phases     phasesView        `json:"phases,omitzero"` // of an attempt with a record of its own
	RetryAfter time.Duration     `json:"retry_after,omitzero"`
	Shape      string            `json:"shape,omitzero"` // absent: raw
	Body       string            `json:"body,omitzero"`
	Headers    map[string]string `json:"response_headers,omitempty"` // of a failed attempt
	Sent       map[string]string `json:"request_headers,omitempty"`  // of a failed attempt
}

type phasesView struct {
	DNS       time.Duration `json:"dns,omitzero"`
	Connect   time.Duration `json:"connect,omitzero"`
	TLS       time.Duration `json:"tls,omitzero"`
	FirstByte time.Duration `json:"first_byte,omitzero"`
}

func viewPhases(p hook.Phases) phasesView {
	const least = 100 * time.Microsecond
	return phasesView{
		DNS: p.DNS.Truncate(least), Connect: p.Connect.Truncate(least), TLS: p.TLS.Truncate(least),
		FirstByte: p.FirstByte.Truncate(least),
	}
}

type attemptView struct {
	Delivery  hook.DeliveryID `json:"delivery_id"`
	Endpoint  hook.EndpointID `json:"endpoint_id"`
	Number    int             `json:"number"`
	Trigger   hook.Trigger    `json:"trigger"`
	StartedAt time.Time       `json:"started_at"`
	outcomeView
	NextAttemptAt time.Time      `json:"next_attempt_at,omitzero"`
	Batch         *coalescedView `json:"batch,omitzero"`
}

// coalescedView is the request of an attempt that had the events of a window.
type coalescedView struct {
	ID     hook.BatchID   `json:"id"`
	Size   int            `json:"size"`
	Events []hook.EventID `json:"events,omitempty"`
}

// viewBatch returns nil for a request with one event in the plain form.
func viewBatch(b *hook.Batch) *coalescedView {
	if b == nil {
		return nil
	}
	v := &coalescedView{ID: b.ID, Size: b.Size}
	for _, d := range b.Members {
		v.Events = append(v.Events, d.Event)
	}
	return v
}

// deliveryDetailView is a delivery with past and planned attempts.
type deliveryDetailView struct {
	deliveryView
	History   []attemptView `json:"history"`
	PlannedAt []time.Time   `json:"planned_at"`
}

func viewEvent(e hook.Event) eventView {
	v := viewOf[eventView](e)
	v.TraceID = trace.Of(&e).String()
	v.Endpoints = each(e.Targets, func(t hook.Target) hook.EndpointID { return t.Endpoint })
	return v
}

func viewListedEvent(e status.ListedEvent) listedEventView {
	return listedEventView{viewEvent(e.Event), e.States}
}

// viewDelivery returns the delivery as shown to the caller.
func (c *call) viewDelivery(d hook.Delivery) deliveryView {
	v := viewOf[deliveryView](d)
	v.Event, v.Endpoint, v.Generation, v.ReplayedAt = d.ID.Event, d.ID.Endpoint, d.ID.Generation, d.Replayed.At
	if d.Replayed.Generation != 0 {
		v.ReplayedAs = d.Successor().DeliveryID
	}
	if d.Number > 0 {
		v.Ordering = &orderingView{Key: d.OrderingKey, Number: d.Number}
	}
	if d.Attempts > 0 {
		last := c.viewOutcome(d.Last)
		last.Headers, last.Sent = nil, nil // the attempt has them
		v.Last = &last
	}
	return v
}

// stand adds how the delivery stands among those with its ordering key.
func (v *deliveryView) stand(s status.Standing) {
	if s.WaitsFor != nil {
		v.Ordering.WaitsFor = s.WaitsFor
	} else if s.Head {
		v.Ordering.Behind = &s.Behind
	}
}

// listOfDeliveries responds with a page of deliveries that read reads.
func (h *manage) listOfDeliveries(
	ctx context.Context, c *call, q *params, read func(page.Request) (page.List[hook.Delivery], error),
) (reply, error) {
	var ahead map[hook.DeliveryID]status.Outlook
	return viewList(q, func(req page.Request) (list page.List[hook.Delivery], err error) {
		if list, err = read(req); err != nil {
			return list, err
		}
		ahead, err = h.Status.Outlooks(ctx, c.tenant, list.Data)
		return list, err
	}, func(d hook.Delivery) deliveryView {
		v := c.viewDelivery(d)
		v.Outlook = ahead[d.ID]
		return v
	})
}

// viewOutcome returns the outcome as shown to the caller. Without the scope read, the URL, the
// error and the body are masked and the headers left out, because they contain the endpoint's
// address and what the receiver says.
func (c *call) viewOutcome(o hook.Outcome) outcomeView {
	v := viewOf[outcomeView](o)
	v.Duration, v.Phases, v.Body = o.Duration.Truncate(time.Millisecond), viewPhases(o.Phases), string(o.Body)
	if !c.principal.May(hook.ScopeRead) {
		v.Error, v.URL, v.Body = mask(v.Error), mask(v.URL), mask(v.Body)
		v.Headers, v.Sent = nil, nil
	}
	return v
}

// mask returns the mask of a text; an empty text stays empty.
func mask(text string) string {
	if text == "" {
		return ""
	}
	return hook.Masked
}

func (c *call) viewAttempt(a hook.Attempt) attemptView {
	v := viewOf[attemptView](a)
	v.Delivery, v.Endpoint = a.Delivery.DeliveryID, a.Delivery.Endpoint
	v.outcomeView, v.Batch = c.viewOutcome(a.Outcome), viewBatch(a.Outcome.Batch)
	return v
}

func (c *call) viewDeliveryDetail(s status.DeliveryDetail) deliveryDetailView {
	v := deliveryDetailView{deliveryView: c.viewDelivery(s.Delivery), History: each(s.Attempts, c.viewAttempt), PlannedAt: s.Planned}
	v.Outlook = s.Outlook
	v.stand(s.Standing)
	return v
}

const textParam = "q"

// search finds records by an id, of the tenant in the path or of all tenants. Replay jobs are
// only found with the scope that reads them.
func (h *manage) search(ctx context.Context, c *call) (reply, error) {
	q := query(c, textParam)
	of := search.Query{Text: q.Get(textParam), Tenant: cmp.Or(c.tenant, hook.AllTenants), Jobs: c.principal.May(hook.ScopeReplay)}
	return q.answer(func() (any, error) {
		found, err := h.Searcher.Search(ctx, of)
		return allView[search.Found]{found}, err
	})
}
