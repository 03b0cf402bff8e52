package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// BatchType is the value of the header X-Webhook-Event of a batch: the events of a window,
// for an endpoint with coalescing.
const BatchType = "webhook.batch"

// ErrBatch means that a body is not the document of a batch.
var ErrBatch = errors.New("the body is not a batch")

// Event is an event of a batch.
type Event struct {
	ID         string          `json:"id"` // tells repetitions apart
	Type       string          `json:"type"`
	AcceptedAt time.Time       `json:"accepted_at"`
	DeliveryID string          `json:"delivery_id"`
	Attempt    int             `json:"attempt"` // of this event, from 1
	Payload    json.RawMessage `json:"payload"` // the posted bytes
}

// Events returns the events of a batch, the oldest first. The body must be verified.
func Events(body []byte) ([]Event, error) {
	var document struct {
		Type   string  `json:"type"`
		Events []Event `json:"events"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBatch, err)
	}
	if document.Type != BatchType || len(document.Events) == 0 {
		return nil, ErrBatch
	}
	return document.Events, nil
}
