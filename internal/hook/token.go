package hook

import (
	"encoding/json"
	"fmt"
	"time"
)

// MaxQueueDelay is the longest that a queue can hold a message back: the limit
// of SQS's DelaySeconds.
const MaxQueueDelay = 15 * time.Minute

// Lane is one of the queues that carry tokens.
type Lane uint8

// The lanes. The zero Lane is not valid.
const (
	LaneLive   Lane = iota + 1 // first attempts
	LaneRetry                  // later attempts
	LaneReplay                 // first attempts of replays
)

// String returns the lane's name.
func (l Lane) String() string {
	switch l {
	case LaneLive:
		return "live"
	case LaneRetry:
		return "retry"
	case LaneReplay:
		return "replay"
	}
	return "unknown"
}

// Token is the message, or the schedule, that makes the next attempt of a
// delivery happen. Two tokens for the same attempt differ in their nonce, so
// the one whose attempt was recorded is known when it is seen again.
type Token struct {
	Delivery      DeliveryID    `json:"delivery"`
	Tenant        TenantID      `json:"tenant"`
	Attempt       int           `json:"attempt"`
	Nonce         string        `json:"nonce"`
	Reserved      bool          `json:"reserved,omitempty"` // it waited for the slot that the rate limit gave it
	Delays        int           `json:"delays,omitempty"`   // how often the gate sent it back to wait, for this attempt
	ReplayRequest ReplayRequest `json:"replay,omitzero"`    // of the first token of a replay
}

// NewToken returns a fresh token for attempt number of the delivery.
func NewToken(tenant TenantID, d DeliveryID, number int) Token {
	return Token{Delivery: d, Tenant: tenant, Attempt: number, Nonce: NewNonce()}
}

// Encode returns the token as the body of a message.
func (t Token) Encode() (string, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("encode token of %s: %w", t.Delivery, err)
	}
	return string(b), nil
}

// DecodeToken is the inverse of Encode. A dead letter is read as the token that it stands for.
func DecodeToken(body string) (Token, error) {
	var t Token
	if err := json.Unmarshal([]byte(body), &t); err != nil {
		return Token{}, &Error{Code: CodeInvalid, Message: "the message is no token", Err: err}
	}
	if t.Nonce == "" {
		if letter, err := DecodeDeadLetter(body); err == nil {
			t = letter.Token()
		}
	}
	if t.Delivery.Generation == 0 || t.Delivery.Generation > MaxGeneration || t.Attempt < 1 || t.Attempt > MaxAttempts || t.Nonce == "" || t.Delays < 0 || t.ReplayRequest.JobIndex < 0 {
		return Token{}, &Error{Code: CodeInvalid, Message: "the message is no token: delivery, attempt or nonce is missing"}
	}
	if _, err := ParseTenantID(string(t.Tenant)); err != nil {
		return Token{}, &Error{Code: CodeInvalid, Message: "the message is no token", Err: err}
	}
	return t, nil
}

// DeadLetter is what the dead-letters queue holds of a delivery that gave up.
type DeadLetter struct {
	Delivery   DeliveryID `json:"delivery"`
	Tenant     TenantID   `json:"tenant"`
	Event      EventID    `json:"event"`
	Endpoint   EndpointID `json:"endpoint"`
	EventType  string     `json:"event_type"`
	Reason     Reason     `json:"reason"`
	Attempts   int        `json:"attempts"`
	LastStatus int        `json:"last_status,omitempty"`
	LastClass  string     `json:"last_class,omitempty"`
	LastError  string     `json:"last_error,omitempty"`
	DiedAt     time.Time  `json:"died_at"`
}

// DeadLetterOf returns the message for a dead delivery.
func DeadLetterOf(d Delivery) DeadLetter {
	letter := DeadLetter{
		Delivery:   d.ID,
		Tenant:     d.Tenant,
		Event:      d.ID.Event,
		Endpoint:   d.ID.Endpoint,
		EventType:  d.EventType,
		Reason:     d.Reason,
		Attempts:   d.Attempts,
		LastStatus: d.Last.Status,
		LastError:  d.Last.Error,
		DiedAt:     d.UpdatedAt,
	}
	if d.Attempts > 0 {
		letter.LastClass = d.Last.Class.String()
	}
	return letter
}

// Encode returns the dead letter as the body of a message.
func (l DeadLetter) Encode() (string, error) {
	b, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("encode dead letter of %s: %w", l.Delivery, err)
	}
	return string(b), nil
}

// DecodeDeadLetter is the inverse of Encode.
func DecodeDeadLetter(body string) (DeadLetter, error) {
	var l DeadLetter
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		return DeadLetter{}, &Error{Code: CodeInvalid, Message: "the message is no dead letter", Err: err}
	}
	if l.Delivery.Generation == 0 || l.DiedAt.IsZero() {
		return DeadLetter{}, &Error{Code: CodeInvalid, Message: "the message is no dead letter: delivery or time is missing"}
	}
	return l, nil
}
