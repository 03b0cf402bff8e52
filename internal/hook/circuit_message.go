package hook

import (
	"encoding/json"
	"time"
)

// ReviewPage is the message that makes the breaker review some endpoints. A review of all
// active endpoints is split into pages.
type ReviewPage struct {
	At        time.Time      `json:"at"` // time of the review: every page, however often it is received, is judged as of this time
	Endpoints []CircuitCheck `json:"endpoints"`
}

// CircuitMessage is a message of the circuits queue: a check of one endpoint, or a page
// of a review.
type CircuitMessage struct {
	Check  CircuitCheck
	Review *ReviewPage // nil: Check
}

// reviewBody is a review page as it is sent on the circuits queue. Its key distinguishes pages
// from checks.
type reviewBody struct {
	Review *ReviewPage `json:"review"`
}

// Encode returns the page as a message body.
func (p ReviewPage) Encode() (string, error) {
	return encode(reviewBody{&p}, "review page")
}

// DecodeCircuitMessage is the inverse of CircuitCheck.Encode and ReviewPage.Encode. Any other text
// gives CodeInvalid.
func DecodeCircuitMessage(body string) (CircuitMessage, error) {
	var b reviewBody
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		return CircuitMessage{}, &Error{Code: CodeInvalid, Message: "invalid circuit check", Err: err}
	}
	if b.Review == nil {
		check, err := DecodeCircuitCheck(body)
		return CircuitMessage{Check: check}, err
	}
	if b.Review.At.IsZero() {
		return CircuitMessage{}, &Error{Code: CodeInvalid, Message: "invalid review page: at is required"}
	}
	for _, c := range b.Review.Endpoints {
		if err := c.validate(); err != nil {
			return CircuitMessage{}, err
		}
	}
	return CircuitMessage{Review: b.Review}, nil
}
