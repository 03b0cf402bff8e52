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

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// Request is the input of one attempt.
type Request struct {
	Endpoint *hook.Endpoint    // Send reads URL, Timeout and Profiles
	Own      map[string]string // the endpoint's own headers, in clear
	Keys     []sign.Key        // active keys, newest first
	Grant    *Grant            // of the access token; nil: none is needed
	TLS      TLS               // zero: the roots of the system, and no certificate
	Event    *hook.Event
	Content  shape.Content // the body, and headers of a transformation
	Delivery hook.DeliveryID
	Attempt  int // from 1
}

// Prepared is a signed request, ready to be sent from any origin. The origin needs no
// key: all requests of an attempt carry the same headers. With a Grant, the origin gets
// the access token.
type Prepared struct {
	URL     string
	Header  http.Header       // set by Surehook, with the signature
	Own     map[string]string // set by the endpoint's owner; for the origin of URL only
	Body    []byte
	Timeout time.Duration // of the attempt, redirects and access token included
	Grant   *Grant        // nil: no access token is needed
	TLS     TLS           // for the origin of URL only
}

// Sender makes attempts. A Sender is safe for concurrent use.
type Sender struct {
	Client *http.Client  // from egress.NewClient; Post uses the transport only, and follows redirects itself
	Policy egress.Policy // the policy of Client
	Tokens *Tokens       // for the requests with a Grant

	Transports *Transports // for the requests with TLS
	UserAgent  string      // "Surehook/<version>"; Prepare only
	Now        func() time.Time
}

// ErrNotSent means that no request of the attempt was made: the endpoint received
// nothing, and the attempt can be made from another origin.
var ErrNotSent = errors.New("no request was made")

// ErrDeadline is the cause of a context after the endpoint's timeout.
var ErrDeadline = errors.New("the endpoint's timeout is over")

// Send prepares an attempt and makes the attempt here: Prepare, Post and Describe.
func (s *Sender) Send(ctx context.Context, r Request) hook.Outcome {
	prepared := s.Prepare(r)
	outcome := s.Post(ctx, prepared)
	prepared.Describe(&outcome)
	return outcome
}

// Prepare signs the request at the current time. Prepare makes no request.
func (s *Sender) Prepare(r Request) Prepared {
	return Prepared{
		URL:     r.Endpoint.URL,
		Header:  s.header(&r, s.Now()),
		Own:     ownHeaders(&r),
		Body:    r.Content.Body,
		Timeout: r.Endpoint.Timeout,
		Grant:   r.Grant,
		TLS:     r.TLS,
	}
}

// Post makes one attempt and returns the outcome. The attempt ends at the
// endpoint's timeout, redirects and the access token included, or at the end of ctx. Both ends have
// ClassTimeout, with different texts. So the caller must leave more time than the
// endpoint's timeout; otherwise the caller's deadline counts as a failure of the
// endpoint.
//
// The status alone decides the outcome. A stalled or broken body does not change
// the outcome.
//
// Post sends one request to each URL, and a second one only with another access token
// after the answer 401. The transport sends no request again after a
// byte of the request is written, even if a reused connection is already closed.
//
// A hostile receiver cannot prolong the attempt: shortly after its end the
// connection is closed, see stopHard.
func (s *Sender) Post(ctx context.Context, p Prepared) hook.Outcome {
	start := s.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, ErrDeadline)
	defer cancel()

	outcome := s.postPrepared(ctx, &p)
	outcome.Duration = s.Now().Sub(start)
	return outcome
}
