package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/trace"
)

const (
	idempotencyHeader = "Idempotency-Key"
	lineIngested      = names.LineIngested
)

// slowPost is the shortest duration that the line of a single post mentions. The access log has
// the duration of every request.
const slowPost = 100 * time.Millisecond

// events serves the routes of Events.
type events struct {
	acceptor Acceptor
	log      *slog.Logger
}

type eventBody struct {
	Type           string         `json:"event_type"`
	Payload        jsontext.Value `json:"payload"`
	IdempotencyKey *string        `json:"idempotency_key"`
	OrderingKey    *string        `json:"ordering_key"`
	RetainFor      *string        `json:"retain_for"` // a duration; kept as text, so that a batch refuses only this event
}

// messageBody is the body of a post in a message of the events queue.
type messageBody struct {
	eventBody

	Tenant string `json:"tenant"`
}

type batchBody struct {
	Events []eventBody `json:"events"`
}

type acceptedView struct {
	ID         hook.EventID `json:"id"`
	Deliveries int          `json:"deliveries"`
	Duplicate  bool         `json:"duplicate"`
	Reason     string       `json:"reason,omitzero"` // of no deliveries

	Warnings []hook.FieldError `json:"warnings,omitempty"`
}

type refusedView struct {
	Error problem `json:"error"`
}

func (h *events) post(ctx context.Context, c *call, body eventBody, wrong hook.Fields) (reply, error) {
	if values := c.r.Header.Values(idempotencyHeader); len(values) > 0 {
		key := strings.Join(values, ", ")
		wrong.Refuse(body.IdempotencyKey != nil && *body.IdempotencyKey != key, "idempotency_key", "differs from the header "+idempotencyHeader)
		body.IdempotencyKey = &key
	}
	r, err := body.request(c.r.Header.Get("Traceparent"), wrong)
	if err != nil {
		return reply{}, err
	}
	result, err := h.acceptor.Accept(ctx, c.tenant, r)
	if err != nil {
		return reply{}, fmt.Errorf("accept event: %w", err)
	}
	more := []slog.Attr{slog.String(names.LogKey, string(c.principal.Key))}
	if took := time.Since(c.began); took >= slowPost { //nolint:forbidigo // for the log
		more = append(more, slog.Int64(names.LogDuration, took.Milliseconds()))
	}
	h.logIngested(ctx, c, r.Type, result, more...)
	return reply{status: http.StatusAccepted, body: viewAccepted(result), logged: true}, nil
}

// postBatch accepts each event independently and responds with one result per event: 202 if all
// events were accepted, otherwise 207, so that a 202 never hides a refusal. Only a request that
// cannot be read, and one past the tenant's limit of events per second, are errors. The limit
// refuses all events of the request.
func (h *events) postBatch(ctx context.Context, c *call, body batchBody) (reply, error) {
	if body.Events == nil {
		return reply{}, hook.Invalid(hook.FieldError{Field: "events", Message: "is missing"})
	}
	if len(body.Events) == 0 || len(body.Events) > hook.MaxBatchEvents {
		return reply{}, hook.Invalid(hook.FieldError{Field: "events", Message: fmt.Sprintf("must hold 1 to %d events", hook.MaxBatchEvents)})
	}
	if len(c.r.Header.Values(idempotencyHeader)) > 0 {
		return reply{}, hook.Invalid(hook.FieldError{
			Field: "idempotency_key", Message: "each event of a batch has its own; the header " + idempotencyHeader + " is for single events",
		})
	}

	results := make([]ingest.Result, len(body.Events))
	var (
		requests []ingest.Request
		position []int // of each request in the batch
	)
	for i, e := range body.Events {
		r, err := e.request(c.r.Header.Get("Traceparent"), nil)
		if err != nil {
			results[i].Err = err
			continue
		}
		requests, position = append(requests, r), append(position, i)
	}
	if len(requests) > 0 {
		for i, result := range h.acceptor.AcceptBatch(ctx, c.tenant, requests) {
			if result.Err != nil && hook.CodeOf(result.Err) == hook.CodeThrottled {
				return reply{}, fmt.Errorf("accept batch: %w", result.Err)
			}
			results[position[i]] = result
		}
	}

	view, status := allView[any]{Data: make([]any, len(results))}, http.StatusAccepted // acceptedView or refusedView
	for i, result := range results {
		if result.Err != nil {
			status = http.StatusMultiStatus
			view.Data[i] = h.refused(ctx, c.tenant, result.Err)
			continue
		}
		h.logIngested(ctx, c, body.Events[i].Type, result)
		view.Data[i] = viewAccepted(result)
	}
	return reply{status: status, body: view}, nil
}

// refused returns the view of a refused event. The request as a whole succeeds, so internal
// faults are logged here.
func (h *events) refused(ctx context.Context, tenant hook.TenantID, err error) refusedView {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError {
		h.log.LogAttrs(ctx, slog.LevelError, "event.refused",
			slog.String(names.LogTenant, string(tenant)), slog.String(names.LogCode, p.Code), slog.Any(names.LogError, err))
	}
	return refusedView{Error: p}
}

// ReadEvent reads the body of a post that has the additional field tenant. Malformed fields are
// reported in the request. An error means that the body is not a JSON object, or is too large.
func ReadEvent(body []byte, traceParent string) (tenant string, r ingest.Request, err error) {
	var m messageBody
	wrong, err := unmarshal(bytes.TrimPrefix(body, []byte(byteOrderMark)), &m)
	if err == nil {
		r, err = m.request(traceParent, wrong)
	}
	return m.Tenant, r, err
}

// request translates the body and checks the size of the payload and the forms of the key and the
// retention. The acceptor checks the rest. wrong are the malformed fields.
func (b eventBody) request(traceParent string, wrong hook.Fields) (ingest.Request, error) {
	if len(b.Payload) > hook.MaxPayload {
		return ingest.Request{}, hook.PayloadTooLarge()
	}
	r := ingest.Request{Type: b.Type, Payload: b.Payload, TraceParent: trace.Received(traceParent)}
	r.IdempotencyKey = optionalText(&wrong, "idempotency_key", b.IdempotencyKey)
	r.OrderingKey = optionalText(&wrong, "ordering_key", b.OrderingKey)
	if b.RetainFor != nil {
		given, ok := parseDuration(*b.RetainFor)
		wrong.Refuse(!ok, "retain_for", durationForm)
		r.RetainFor = limitOf(&given)
	}
	r.Wrong = wrong
	return r, nil
}

func viewAccepted(r ingest.Result) acceptedView {
	v := acceptedView{ID: r.ID, Deliveries: r.Deliveries, Duplicate: r.Duplicate, Warnings: r.Warnings}
	if r.Deliveries == 0 {
		v.Reason = "no endpoint subscribes, or its filter leaves the event out"
	}
	return v
}

// logIngested logs an accepted event. more are the fields of the request, for a request
// of one event.
func (h *events) logIngested(ctx context.Context, c *call, eventType string, r ingest.Result, more ...slog.Attr) {
	if h.log.Enabled(ctx, slog.LevelInfo) {
		h.log.LogAttrs(ctx, slog.LevelInfo, lineIngested, append(r.Attrs(c.tenant, eventType), more...)...)
	}
}
