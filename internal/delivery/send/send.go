// Package send makes one attempt: a signed POST of an event to its endpoint,
// whose answer, or lack of one, it reads as a hook.Outcome.
//
// It knows HTTP and nothing of what comes before and after: whether the attempt
// may be made, where its outcome is kept, when the next one is due.
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

// Request is what one attempt needs.
type Request struct {
	Endpoint hook.Endpoint // its URL, headers, timeout and header style
	Keys     []sign.Key    // active keys, newest first
	Event    hook.Event
	Delivery hook.DeliveryID
	Attempt  int // from 1
}

// Sender makes attempts. It may be used by many goroutines at once.
type Sender struct {
	Client    *http.Client  // of egress.NewClient; only its transport is used, Send follows redirects itself
	Policy    egress.Policy // the one the client was made with
	UserAgent string        // "Surehook/<version>"
	Now       func() time.Time
}

// errDeadline is the cause of a context that ends with the endpoint's timeout.
var errDeadline = errors.New("the endpoint's timeout is over")

// Send makes one attempt and says what came of it. It ends with the endpoint's
// timeout, redirects included, or with ctx, whichever is earlier. Both are
// ClassTimeout, with different texts; so whoever calls must leave more time
// than the endpoint's timeout, or its own haste counts against the endpoint.
//
// The status decides as soon as it was read: an answer whose body stalls or
// breaks off is still an answer.
//
// The request is marked as replayable to the transport: when a connection that
// was kept from an earlier request proves to be closed, it is sent again on a
// new one. Delivery is at least once, and the event's id tells duplicates.
func (s *Sender) Send(ctx context.Context, r Request) hook.Outcome {
	start := s.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, r.Endpoint.Timeout, errDeadline)
	defer cancel()

	outcome := s.follow(ctx, r, start)
	outcome.Duration = s.Now().Sub(start)
	return outcome
}
