package attempt

import (
	"encoding/json"
	"fmt"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/settlement"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/trace"
)

// documentEvent is an event in the document of a batch, without its payload.
type documentEvent struct {
	ID          hook.EventID `json:"id"`
	Type        string       `json:"type"`
	AcceptedAt  string       `json:"accepted_at"`
	Delivery    string       `json:"delivery_id"`
	Attempt     int          `json:"attempt"`
	TraceParent string       `json:"traceparent,omitempty"`
}

// Document returns the batch of the members, and its document as an event, because the document
// is signed and sent like the payload of an event. It contains the members' payloads byte for
// byte.
func Document(all []*settlement.Subject, leader *settlement.Subject) (*hook.Batch, *hook.Event) {
	members := make([]hook.DeliveryID, len(all))
	size := 0
	for i, s := range all {
		members[i] = s.Task.Delivery.DeliveryID
		size += len(s.Event.Payload) + documentRoom
	}
	batch := hook.NewBatch(members, leader.Task.Delivery.DeliveryID)
	text := make([]byte, 0, size)
	text = fmt.Appendf(text, `{"type":%q,"id":%q,"events":[`, hook.BatchEventType, batch.ID)
	for i, s := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, memberHead(s)...)
		text = append(append(append(text, `,"payload":`...), s.Event.Payload...), '}')
	}
	text = append(text, "]}"...)
	return batch, &hook.Event{ID: hook.EventID(batch.ID), Type: hook.BatchEventType, Payload: text}
}

// documentRoom is a sufficient number of bytes for a member without its payload.
const documentRoom = 320

// memberHead returns the JSON of the member without the closing brace.
func memberHead(s *settlement.Subject) []byte {
	head, _ := json.Marshal(documentEvent{ //nolint:errchkjson // strings and numbers only: no error
		ID:          s.Event.ID,
		Type:        s.Event.Type,
		AcceptedAt:  s.Event.AcceptedAt.UTC().Format(shape.Time),
		Delivery:    s.Task.Delivery.String(),
		Attempt:     s.Task.Attempt,
		TraceParent: trace.Header(s.Event, s.Task.Delivery.DeliveryID, s.Task.Attempt),
	})
	return head[:len(head)-1]
}
