package httpapi

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/hook"
)

// requestPreviewBody is an event, with settings to try in place of the endpoint's. Absent fields
// are nil.
type requestPreviewBody struct {
	Event          *string        `json:"event_id"`
	Type           *string        `json:"event_type"`
	Payload        jsontext.Value `json:"payload"`
	Filter         *[]byte        `json:"filter"`
	Envelope       *hook.Envelope `json:"envelope"`
	Transformation *string        `json:"transformation"`
}

type requestPreview struct {
	Request    requestView       `json:"request"`
	Shape      string            `json:"shape"`
	Secret     string            `json:"secret"`
	Subscribed bool              `json:"subscribed"`
	Matches    bool              `json:"matches"`
	Problems   []hook.FieldError `json:"problems"`
}

type requestView struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// previewEndpoint shows the request that the endpoint would get for an event. Nothing is
// stored or sent.
func (h *manage) previewEndpoint(ctx context.Context, c *call, body requestPreviewBody, wrong hook.Fields) (reply, error) {
	q, wrong := body.query(wrong)
	if err := refusal(wrong); err != nil {
		return reply{}, err
	}
	q.Endpoint = c.r.PathValue("endpoint")
	return shown(viewPreview)(h.Previewer.Preview(ctx, c.tenant, q))
}

func (b requestPreviewBody) query(errs hook.Fields) (preview.Query, hook.Fields) {
	q := preview.Query{Payload: b.Payload, Filter: b.Filter, Envelope: b.Envelope, Transformation: b.Transformation}
	var wrong hook.Fields
	switch {
	case (b.Event != nil) == (b.Type != nil):
		wrong.Add("event_type", "must be given, or event_id, and not both")
	case b.Event != nil && b.Payload != nil:
		wrong.Add("payload", "must be absent with event_id")
	case len(b.Payload) > hook.MaxPayload:
		wrong.Add("payload", "must be at most %d bytes", hook.MaxPayload)
	}
	if b.Event != nil {
		q.ID = hook.EventID(*b.Event)
	}
	set(&q.Type, b.Type)
	return q, hook.AlsoWrong(errs, wrong)
}

func viewPreview(p preview.Preview) requestPreview {
	sent := p.Request.Headers()
	headers := make(map[string]string, len(sent))
	for name, values := range sent {
		headers[http.CanonicalHeaderKey(name)] = values[0]
	}
	return requestPreview{
		Request: requestView{Method: p.Method, URL: p.Request.URL, Headers: headers, Body: string(p.Request.Body)},
		Shape:   p.Shape, Secret: preview.Secret, Subscribed: p.Subscribed, Matches: p.Matches, Problems: append([]hook.FieldError{}, p.Problems...),
	}
}
