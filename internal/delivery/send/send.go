// Package send makes one attempt: a signed POST of an event to the endpoint. The
// result is a hook.Outcome, with or without a response from the endpoint.
//
// Package send knows HTTP only. The caller decides about the attempt, keeps the
// outcome and schedules the next attempt.
package send

import (
	"context"
	"errors"
	"net/http"
	"time"

	"surehook/internal/delivery/egress"
	"surehook/internal/hook"
	"surehook/internal/rule/sign"
)

// Request is the input of one attempt.
type Request struct {
	Endpoint hook.Endpoint // Send reads URL, Headers, Timeout and Style
	Keys     []sign.Key    // active keys, newest first
	Event    hook.Event
	Delivery hook.DeliveryID
	Attempt  int // from 1
}

// Sender makes attempts. A Sender is safe for concurrent use.
type Sender struct {
	Client    *http.Client  // from egress.NewClient; Send uses the transport only, and follows redirects itself
	Policy    egress.Policy // the policy of Client
	UserAgent string        // "Surehook/<version>"
	Now       func() time.Time
}

// errDeadline is the cause of a context after the endpoint's timeout.
var errDeadline = errors.New("the endpoint's timeout is over")

// Send makes one attempt and returns the outcome. The attempt ends at the
// endpoint's timeout, redirects included, or at the end of ctx. Both ends have
// ClassTimeout, with different texts. So the caller must leave more time than the
// endpoint's timeout; otherwise the caller's deadline counts as a failure of the
// endpoint.
//
// The status alone decides the outcome. A stalled or broken body does not change
// the outcome.
//
// Send sends one request to each URL. The transport sends no request again after a
// byte of the request is written, even if a reused connection is already closed.
//
// A hostile receiver cannot prolong the attempt: shortly after its end the
// connection is closed, see stopHard.
func (s *Sender) Send(ctx context.Context, r Request) hook.Outcome {
	start := s.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, r.Endpoint.Timeout, errDeadline)
	defer cancel()

	outcome := s.postAndFollow(ctx, &r, start)
	outcome.Duration = s.Now().Sub(start)
	return outcome
}
