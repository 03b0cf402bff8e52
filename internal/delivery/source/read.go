package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
)

// maxMessage leaves 1 KiB of the 272 KiB of a message for the attributes that are added when it
// is sent again.
const maxMessage = hook.MaxPayload + 15<<10

// Reader reads the four forms of a message.
//
//   - With the attribute tenant or event_type: the body is the payload, byte for byte.
//   - An event of EventBridge: detail-type is the event type, detail the payload, byte for
//     byte, and id the idempotency key.
//   - A record of a DynamoDB stream, of a new item of an outbox: the item has the texts tenant,
//     event_type and payload, which is JSON, and perhaps key, the idempotency key.
//   - Anything else: the body of a post to the API, with an additional field tenant.
type Reader struct {
	// Tenant is the path of the tenant in an event of EventBridge: names separated by dots.
	Tenant string
	// Body reads the last form. Malformed fields are reported in the request.
	Body func(body []byte, traceParent string) (tenant string, r ingest.Request, err error)
}

// read returns the event of the message. The error names the wrong field.
func (r Reader) read(m Message) (hook.TenantID, ingest.Request, error) {
	if m.size() > maxMessage {
		return "", ingest.Request{}, &hook.Error{Code: hook.CodeTooLarge, Message: fmt.Sprintf("the message must be at most %d bytes with its attributes", maxMessage)}
	}
	tenant, request, err := r.form(m)
	if err != nil {
		return "", ingest.Request{}, err
	}
	if request.IdempotencyKey == "" {
		request.IdempotencyKey, _ = m.First()
	}
	id, err := hook.ParseTenantID(tenant)
	if err != nil {
		wrong := hook.FieldError{Field: "tenant", Message: "is missing"}
		if invalid, ok := errors.AsType[*hook.Error](err); ok && tenant != "" {
			wrong = invalid.Fields[0]
		}
		return "", ingest.Request{}, hook.Invalid(append(request.Wrong, wrong)...)
	}
	return id, request, nil
}

func (r Reader) form(m Message) (tenant string, request ingest.Request, err error) {
	parent := m.Attributes[AttrTraceParent]
	if m.Attributes[AttrTenant] != "" || m.Attributes[AttrEventType] != "" {
		return payload(m, parent)
	}
	var envelope map[string]jsontext.Value
	if json.Unmarshal([]byte(m.Body), &envelope) == nil && envelope["detail-type"] != nil && envelope["detail"] != nil {
		return r.envelope(envelope)
	}
	if envelope["eventName"] != nil && envelope["dynamodb"] != nil {
		return record(envelope)
	}
	return r.Body([]byte(m.Body), parent)
}

func payload(m Message, parent string) (string, ingest.Request, error) {
	body, err := checked(m.Body, "payload", "the body is not valid JSON in UTF-8")
	return m.Attributes[AttrTenant], ingest.Request{
		Type: m.Attributes[AttrEventType], Payload: body, IdempotencyKey: m.Attributes[AttrIdempotencyKey], OrderingKey: m.Attributes[AttrOrderingKey],
		TraceParent: trace.Received(parent),
	}, err
}

// checked returns the payload if it is one; field and wrong are for the error.
func checked(payload, field, wrong string) (jsontext.Value, error) {
	switch v := jsontext.Value(payload); {
	case len(v) > hook.MaxPayload:
		return nil, hook.PayloadTooLarge()
	case !v.IsValid():
		return nil, hook.Invalid(hook.FieldError{Field: field, Message: wrong})
	default:
		return v, nil
	}
}

// envelope reads an event of EventBridge.
// https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html
func (r Reader) envelope(e map[string]jsontext.Value) (string, ingest.Request, error) {
	if len(e["detail"]) > hook.MaxPayload {
		return "", ingest.Request{}, hook.PayloadTooLarge()
	}
	texts, err := textsAt(e, r.Tenant, "detail-type", "id")
	return texts[0], ingest.Request{Type: texts[1], Payload: e["detail"], IdempotencyKey: texts[2]}, err
}

// record reads a record of a stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
func record(r map[string]jsontext.Value) (string, ingest.Request, error) {
	if change, err := textAt(r, "eventName"); err != nil || change != "INSERT" {
		return "", ingest.Request{}, hook.Invalid(hook.FieldError{Field: "eventName", Message: "must be INSERT: an item is an event once"})
	}
	const image = "dynamodb.NewImage."
	texts, err := textsAt(r, image+"tenant.S", image+"event_type.S", image+"payload.S")
	if err != nil {
		return "", ingest.Request{}, err
	}
	payload, err := checked(texts[2], image+"payload.S", "is not valid JSON")
	key, missing := textAt(r, image+"key.S")
	if missing != nil {
		key, _ = textAt(r, "eventID") // without one, the message's id is the key
	}
	return texts[0], ingest.Request{Type: texts[1], Payload: payload, IdempotencyKey: key}, err
}

// textsAt returns the texts at the paths.
func textsAt(object map[string]jsontext.Value, paths ...string) ([]string, error) {
	texts := make([]string, len(paths))
	for i, path := range paths {
		var err error
		if texts[i], err = textAt(object, path); err != nil {
			return texts, err
		}
	}
	return texts, nil
}

// textAt returns the text at the path.
func textAt(object map[string]jsontext.Value, path string) (text string, err error) {
	name, rest, deeper := strings.Cut(path, ".")
	for ; deeper && err == nil; name, rest, deeper = strings.Cut(rest, ".") {
		var inner map[string]jsontext.Value
		err = json.Unmarshal(object[name], &inner)
		object = inner
	}
	if err == nil {
		err = json.Unmarshal(object[name], &text)
	}
	if err != nil || text == "" {
		return "", hook.Invalid(hook.FieldError{Field: path, Message: "must be a string, and not empty"})
	}
	return text, nil
}
