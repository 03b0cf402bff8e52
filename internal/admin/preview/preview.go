// Package preview shows the exact request that an endpoint would get for an event. It stores and
// sends nothing.
package preview

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/internal/rule/schema"
	"surehook.example/surehook/internal/rule/settlement"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// Secret signs all previews in place of the endpoint's secrets, so that a preview can be tried out on
// a receiver. PrivateKey does the same for the scheme v1a.
const (
	Secret     = "whsec_c3VyZWhvb2sgcHJldmlldyBwbGFjZWhvbGRlciAzMiE=" //nolint:gosec // known to everybody
	PrivateKey = "whsk_c3VyZWhvb2sgcHJldmlldyBwbGFjZWhvbGRlciAzMiE="
)

// Previewer makes previews. All fields are required. A Previewer is safe for concurrent use.
type Previewer struct {
	Endpoints *endpoint.Admin
	Events    *status.Reader
	Types     *eventtype.Admin
	Shaper    *shape.Shaper
	Signer    *send.Sender // signs only
}

// Query asks for a preview.
type Query struct {
	Endpoint string       // id or uid
	ID       hook.EventID // of a stored event; empty: a new event with Type and Payload
	Type     string
	Payload  []byte // nil: the example of the type

	// Settings in place of the endpoint's own; nil keeps the endpoint's.
	Filter         *[]byte
	Envelope       *hook.Envelope
	Transformation *string
}

// Preview is the request for an event, and whether the endpoint would get the event.
type Preview struct {
	Request    Request           `json:"request"`
	Shape      string            `json:"shape"`      // the version of the shape, as in shape.Content
	Secret     string            `json:"secret"`     // that signed it
	Subscribed bool              `json:"subscribed"` // the endpoint gets events of the type
	Matches    bool              `json:"matches"`    // the filter lets the event pass
	Problems   []hook.FieldError `json:"problems"`   // what does not fit the event type, or the filter cannot compare
}

// Request is what would be sent.
type Request struct {
	Method  string            `json:"method"` // of HTTP, or the operation of AWS
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// Preview returns the preview. CodeInvalid names the wrong fields, such as a transformation that
// cannot shape the event; CodeNotFound for an unknown endpoint or event.
func (p *Previewer) Preview(ctx context.Context, tenant hook.TenantID, q Query) (Preview, error) {
	e, err := p.Endpoints.Get(ctx, tenant, q.Endpoint)
	if err != nil {
		return Preview{}, fmt.Errorf("find endpoint: %w", err)
	}
	event, of, err := p.event(ctx, tenant, &q)
	if err != nil {
		return Preview{}, err
	}
	q.apply(&e)
	if wrong := hook.ValidateShape(e); len(wrong) > 0 {
		return Preview{}, hook.Invalid(wrong...)
	}
	to, _ := destination.Of(&e)
	made := Preview{Secret: Secret, Subscribed: e.Subscribes(event.Type)}
	var uncompared []hook.FieldError
	if made.Matches, uncompared, err = matches(e.Filter, event); err != nil {
		return Preview{}, err
	}
	made.Problems = append(problems(of, event), uncompared...)
	prepared, version, err := p.request(ctx, &e, event)
	if err != nil {
		return Preview{}, err
	}
	made.Shape = version
	made.Request = Request{Method: to.Operation(), URL: prepared.URL, Headers: make(map[string]string), Body: string(prepared.Body)}
	for name, values := range prepared.Headers() {
		made.Request.Headers[http.CanonicalHeaderKey(name)] = values[0]
	}
	return made, nil
}

func (q *Query) apply(e *hook.Endpoint) {
	if q.Filter != nil {
		e.Filter = *q.Filter
	}
	if q.Envelope != nil {
		e.Envelope = *q.Envelope
	}
	if q.Transformation != nil {
		e.Transformation = *q.Transformation
	}
}

// eventType returns the type, or the zero type for an unknown name.
func (p *Previewer) eventType(ctx context.Context, name string) (hook.EventType, error) {
	t, err := p.Types.Get(ctx, name)
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return hook.EventType{}, fmt.Errorf("find event type: %w", err)
	}
	return t, nil
}

// event returns the stored event, or a new one with the payload of the query or the example of the
// type, and the type.
func (p *Previewer) event(ctx context.Context, tenant hook.TenantID, q *Query) (*hook.Event, hook.EventType, error) {
	if q.ID != "" {
		event, err := p.Events.Event(ctx, tenant, q.ID)
		if err != nil {
			return nil, hook.EventType{}, fmt.Errorf("find event: %w", err)
		}
		if event.Erased() {
			return nil, hook.EventType{}, hook.Invalid(hook.FieldError{Field: "event_id", Message: "is of an event whose payload was erased"})
		}
		of, err := p.eventType(ctx, event.Type)
		return &event, of, err
	}
	of, err := p.eventType(ctx, q.Type)
	if err != nil {
		return nil, of, err
	}
	event := &hook.Event{
		ID: hook.NewEventID(), Tenant: tenant, Type: q.Type, Payload: q.Payload, AcceptedAt: p.Signer.Now().UTC().Truncate(time.Millisecond),
	}
	if event.Payload == nil {
		event.Payload = of.Example
	}
	wrong := hook.ValidateEvent(*event)
	for i := range wrong {
		if wrong[i].Field == "payload" && event.Payload == nil {
			wrong[i].Message += ", and the event type has no example"
		}
	}
	if len(wrong) > 0 {
		return nil, of, hook.Invalid(wrong...)
	}
	return event, of, nil
}

// matches reports whether the filter lets the event pass, and what it cannot compare.
func matches(pattern []byte, event *hook.Event) (bool, []hook.FieldError, error) {
	if len(pattern) == 0 {
		return true, nil, nil
	}
	f, wrong := filter.Parse(pattern, "filter")
	if len(wrong) > 0 {
		return false, nil, hook.Invalid(wrong...)
	}
	ok, uncompared := f.Explain(filter.NewDocument(event.Type, event.Payload), "filter")
	return ok, uncompared, nil
}

// problems returns what does not fit the type of the event; none for an unknown type, and without a
// schema.
func problems(of hook.EventType, event *hook.Event) []hook.FieldError {
	if len(of.Schema) == 0 {
		return nil
	}
	checker, wrong := schema.Compile(of.Schema, "schema")
	if len(wrong) > 0 {
		return wrong
	}
	unfit, _ := checker.Check(event.Payload, "payload")
	return unfit
}

// request returns the signed request.
func (p *Previewer) request(ctx context.Context, e *hook.Endpoint, event *hook.Event) (send.Prepared, string, error) {
	d := hook.QueuedDelivery(*event, e.Target())
	task := hook.NewTask(event.Tenant, d.Ref(), 1)
	subject := &settlement.Subject{Task: task, Event: event, Endpoint: e, Delivery: &d}
	var content shape.Content
	of := event
	if e.Coalesce.On() {
		_, of = attempt.Document([]*settlement.Subject{subject}, subject)
		content = shape.Content{Body: of.Payload, ContentType: shape.JSON, Version: hook.BatchEventType}
	} else {
		shaped, err := p.Shaper.Shape(ctx.Done(), e, event)
		if err != nil {
			if problem, ok := errors.AsType[*shape.Error](err); ok {
				err = hook.Invalid(hook.FieldError{Field: "transformation", Message: problem.Error()})
			}
			return send.Prepared{}, "", err
		}
		content = shaped
	}
	prepared := p.Signer.Prepare(send.Request{
		Endpoint: e, Own: masked(e), Keys: placeholders(e.Schemes), Event: of, Content: content, Delivery: d.ID, Attempt: task.Attempt,
	})
	return prepared, content.Version, nil
}

// placeholders returns the key for each scheme, of Secret or PrivateKey.
func placeholders(schemes []hook.Scheme) []sign.Key {
	keys := make([]sign.Key, len(schemes))
	for i, scheme := range schemes {
		text := Secret
		if scheme == hook.SchemeV1a {
			text = PrivateKey
		}
		keys[i], _ = sign.Parse(text) // both are keys
	}
	return keys
}

// masked returns the endpoint's own headers with masked values.
func masked(e *hook.Endpoint) map[string]string {
	headers := make(map[string]string, len(e.SealedHeaders)+1)
	for name := range e.SealedHeaders {
		headers[name] = hook.Masked
	}
	if e.Auth.Type != hook.AuthNone {
		headers[hook.AuthorizationHeader] = hook.Masked
	}
	return headers
}
