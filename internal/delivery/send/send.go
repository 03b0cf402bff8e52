// Package send makes one attempt: a signed POST of an event to the endpoint. The
// result is a hook.Outcome, whether or not the endpoint responds.
//
// The package knows HTTP only. The caller decides whether to make the attempt,
// stores the outcome and schedules the next attempt.
package send

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"

	"surehook.example/surehook/internal/cache"
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
	TLS      TLS               // zero: the roots of the system, and no client certificate
	Event    *hook.Event
	Content  shape.Content // the body, and headers of a transformation
	Delivery hook.DeliveryID
	Attempt  int  // from 1
	Fresh    bool // the request gets a new connection
}

// Prepared is a signed request, ready to be sent from any origin. The origin needs no signing
// key, because all requests of an attempt carry the same headers. With a Grant, the origin gets
// the access token. Its JSON travels to origins of other builds, see package remote.
type Prepared struct {
	URL     string            `json:"url"`             // empty: only the access token is asked for
	Header  http.Header       `json:"header"`          // set by Surehook, with the signature
	Own     map[string]string `json:"own,omitempty"`   // set by the endpoint's owner; for the origin of URL only
	Body    []byte            `json:"body"`            // in base64
	Timeout time.Duration     `json:"-"`               // of the attempt, redirects and access token included
	Grant   *Grant            `json:"grant,omitempty"` // nil: no access token is needed
	TLS     TLS               `json:"tls,omitzero"`    // for the origin of URL only
	Fresh   bool              `json:"fresh,omitempty"` // each request gets a new connection
	// RecordHeaders keeps the headers of an attempt that succeeds, as of one that fails.
	RecordHeaders bool `json:"record_headers,omitempty"`

	// OneOrigin ends the attempt at a redirect to another origin.
	OneOrigin bool `json:"one_origin,omitempty"`
	// Private is the tenant of a private endpoint, whose requests go to the receivers that are listed
	// for the tenant; empty for every other endpoint.
	Private hook.TenantID `json:"private,omitempty"`
}

// Sender makes attempts. A Sender is safe for concurrent use. One that only prepares needs no New.
type Sender struct {
	Client *http.Client  // from egress.NewClient; Post uses only its transport, and follows redirects itself
	Policy egress.Policy // the policy of Client

	UserAgent string // "Surehook/<version>"; Prepare only
	OneOrigin bool   // of all requests that it prepares: only the receiver at the URL has been asked
	Now       func() time.Time

	// The access tokens of the process, for the requests with a Grant. A token is used until shortly
	// before its end, or until the endpoint refuses it.
	tokens  *cache.Cache[Grant, accessToken]
	flights *singleflight.Group // requests for tokens, by Grant.key
	// One transport for each TLS, so that attempts reuse connections. Two different TLS never share a
	// connection.
	transports *cache.Cache[TLS, *http.Transport]
}

// Transit is the longest time of a request to another origin and back, beyond the attempt
// itself: a cold start of the sender and two ocean crossings take about a second.
const Transit = 5 * time.Second

// New returns a Sender that makes requests with the client of the policy. Without a user agent it
// can only post what another Sender prepared.
func New(client *http.Client, policy egress.Policy, userAgent string, now func() time.Time) *Sender {
	return &Sender{
		Client: client, Policy: policy, UserAgent: userAgent, Now: now, tokens: cache.New[Grant, accessToken](maxTokens, nil), flights: new(singleflight.Group),
		transports: cache.New[TLS](maxTransports, func(t *http.Transport) { t.CloseIdleConnections() }),
	}
}

// ErrNotSent means that no request of the attempt was made: the endpoint received
// nothing, and the attempt can be made from another origin.
var ErrNotSent = errors.New("no request was made")

// ErrDeadline is the cause with which a context ends at the endpoint's timeout.
var ErrDeadline = errors.New("the endpoint's timeout is over")

// Send signs the request and makes the attempt from here.
func (s *Sender) Send(ctx context.Context, r Request) hook.Outcome {
	if r.Endpoint.Private() { // every caller sends it by another function: see remote.Sender
		return hook.Outcome{Class: hook.ClassBlocked, URL: r.Endpoint.URL, Error: "The endpoint's requests leave from the private network alone."}
	}
	return s.Post(ctx, s.Prepare(r))
}

// Prepare signs the request at the current time. Prepare makes no request.
func (s *Sender) Prepare(r Request) Prepared {
	p := Prepared{
		URL:     r.Endpoint.URL,
		Header:  s.header(&r, s.Now()),
		Own:     ownHeaders(&r),
		Body:    r.Content.Body,
		Timeout: r.Endpoint.Timeout,
		Grant:   r.Grant,
		TLS:     r.TLS,
		Fresh:   r.Fresh,

		RecordHeaders: r.Endpoint.RecordHeaders, OneOrigin: s.OneOrigin,
	}
	if r.Endpoint.Private() {
		p.Private = r.Endpoint.Tenant
	}
	return p
}

// Post makes one attempt and returns the outcome. The attempt, with its redirects and the access
// token, ends at the endpoint's timeout or at the end of ctx. Both give ClassTimeout, with
// different texts, so the caller must allow more time than the endpoint's timeout; otherwise the
// caller's deadline counts as a failure of the endpoint.
//
// The status alone decides the outcome. A body that stalls or breaks off does not change it.
//
// Post sends one request to each URL. It sends a second one only with a new access token, after a
// 401. The transport never repeats a request of which it has written a byte, even if a reused
// connection turns out to be closed.
//
// A hostile receiver cannot prolong the attempt: the connection is closed shortly after its end,
// see stopHard.
func (s *Sender) Post(ctx context.Context, p Prepared) hook.Outcome {
	start := s.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, ErrDeadline)
	defer cancel()

	outcome := s.postPrepared(ctx, &p)
	outcome.Duration = s.Now().Sub(start)
	return outcome
}
