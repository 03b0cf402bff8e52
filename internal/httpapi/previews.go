package httpapi

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/hook"
)

// requestPreviewBody is an event, with settings to try in place of the endpoint's. Absent fields
// are nil.
type requestPreviewBody struct {
	Event          *hook.EventID  `json:"event_id"`
	Type           *string        `json:"event_type"`
	Payload        jsontext.Value `json:"payload"`
	Filter         *[]byte        `json:"filter"`
	Envelope       *hook.Envelope `json:"envelope"`
	Transformation *string        `json:"transformation"`
}

// previewEndpoint shows the request that the endpoint would get for an event. Nothing is
// stored or sent.
func (h *manage) previewEndpoint(ctx context.Context, c *call, body requestPreviewBody, wrong hook.Fields) (reply, error) {
	q, wrong := body.query(wrong)
	if err := refusal(wrong); err != nil {
		return reply{}, err
	}
	q.Endpoint = c.r.PathValue("endpoint")
	return answer(h.Previewer.Preview(ctx, c.tenant, q))
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
	set(&q.ID, b.Event)
	set(&q.Type, b.Type)
	return q, hook.AlsoWrong(errs, wrong)
}
