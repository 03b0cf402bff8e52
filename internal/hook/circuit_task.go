package hook

import (
	"encoding/json"
	"time"
)

// ReviewPage is the message to the breaker to review some endpoints. A page is one
// share of a review of all active endpoints.
type ReviewPage struct {
	At        time.Time      `json:"at"` // of the review: all pages and all receipts judge as of this time
	Endpoints []CircuitCheck `json:"endpoints"`
}

// CircuitTask is a message of the circuits queue: a check of one endpoint, or a page
// of a review.
type CircuitTask struct {
	Check  CircuitCheck
	Review *ReviewPage // nil: Check
}

// reviewBody is the form of a review page in the circuits queue. The key separates
// pages from checks.
type reviewBody struct {
	Review *ReviewPage `json:"review"`
}

// Encode returns the page as a message body.
func (p ReviewPage) Encode() (string, error) {
	b, err := json.Marshal(reviewBody{&p})
	return string(b), err
}

// DecodeCircuitTask is the inverse of the methods Encode of CircuitCheck and
// ReviewPage. CodeInvalid for all other text.
func DecodeCircuitTask(body string) (CircuitTask, error) {
	var b reviewBody
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		return CircuitTask{}, &Error{Code: CodeInvalid, Message: "invalid circuit check", Err: err}
	}
	if b.Review == nil {
		check, err := DecodeCircuitCheck(body)
		return CircuitTask{Check: check}, err
	}
	if b.Review.At.IsZero() {
		return CircuitTask{}, &Error{Code: CodeInvalid, Message: "invalid review page: at is required"}
	}
	for _, c := range b.Review.Endpoints {
		if err := c.validate(); err != nil {
			return CircuitTask{}, err
		}
	}
	return CircuitTask{Review: b.Review}, nil
}
