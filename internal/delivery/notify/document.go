package notify

import (
	"encoding/json"
	"time"

	"surehook.example/surehook/internal/hook"
)

// document is the JSON form of a notification: the payload of the system event and
// the message of the topic.
type document struct {
	Type     string             `json:"event_type"`
	At       string             `json:"at"` // RFC 3339, UTC, milliseconds
	Tenant   hook.TenantID      `json:"tenant"`
	Endpoint hook.EndpointID    `json:"endpoint_id"`
	Delivery string             `json:"delivery_id,omitempty"`
	Event    hook.EventID       `json:"event_id,omitempty"`
	Reason   string             `json:"reason"`
	Figures  map[string]float64 `json:"figures,omitempty"`
	Loss     string             `json:"first_loss_at,omitempty"` // as At
}

func stamp(t time.Time) string {
	return t.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

func encode(n hook.Notification) ([]byte, error) {
	d := document{
		Type:     n.Type,
		At:       stamp(n.At),
		Tenant:   n.Tenant,
		Endpoint: n.Endpoint,
		Event:    n.Delivery.Event,
		Reason:   n.Reason,
		Figures:  n.Figures,
	}
	if !n.FirstLoss.IsZero() {
		d.Loss = stamp(n.FirstLoss)
	}
	if n.Delivery.Generation > 0 {
		d.Delivery = n.Delivery.String()
	}
	return json.Marshal(d)
}
