// Package webhook reads what a receiver gets from Surehook itself: batches, and challenges, for the
// command line and the tests. Receivers in Go have package verify, which is a module of its own.
package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// The values of the header X-Webhook-Event of what Surehook itself asks or puts together.
const (
	BatchType     = "webhook.batch"
	ChallengeType = "webhook.challenge"
)

// Event is an event of a batch.
type Event struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	AcceptedAt time.Time       `json:"accepted_at"`
	DeliveryID string          `json:"delivery_id"`
	Attempt    int             `json:"attempt"`
	Payload    json.RawMessage `json:"payload"`
}

// Events returns the events of a batch, the oldest first.
func Events(body []byte) ([]Event, error) {
	var document struct {
		Type   string  `json:"type"`
		Events []Event `json:"events"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, fmt.Errorf("read the batch: %w", err)
	}
	if document.Type != BatchType || len(document.Events) == 0 {
		return nil, errors.New("the body is not a batch")
	}
	return document.Events, nil
}

// Challenge returns the body of the answer to a challenge; nil for any other request.
func Challenge(header http.Header, body []byte) []byte {
	var document struct {
		Type string `json:"type"`
		Data struct {
			Challenge string `json:"challenge"`
		} `json:"data"`
	}
	if header.Get("X-Webhook-Event") != ChallengeType || json.Unmarshal(body, &document) != nil || document.Type != ChallengeType || document.Data.Challenge == "" {
		return nil
	}
	answer, _ := json.Marshal(document.Data) //nolint:errchkjson // a text
	return answer
}
