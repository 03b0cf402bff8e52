package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/sign"
)

// mostHeaders is how many headers Surehook sets at most.
const mostHeaders = 11

// header returns the headers that Surehook sets: always the same for an
// attempt, so that a redirected request carries a signature too.
func (s *Sender) header(r Request, now time.Time) http.Header {
	event := string(r.Event.ID)
	h := make(http.Header, mostHeaders)
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", s.UserAgent)
	h.Set("X-Webhook-Event", r.Event.Type)
	h.Set("X-Webhook-Delivery", r.Delivery.String())
	h.Set("X-Webhook-Attempt", strconv.Itoa(r.Attempt))
	if r.Event.TraceParent != "" {
		h.Set("Traceparent", r.Event.TraceParent)
	}

	seconds := strconv.FormatInt(now.Unix(), 10)
	switch r.Endpoint.Style {
	case hook.StyleStandard:
		h.Set("Webhook-Id", event)
		h.Set("Webhook-Timestamp", seconds)
		h.Set("Webhook-Signature", sign.Standard(r.Keys, sign.Message{ID: event, Timestamp: now, Body: r.Event.Payload}))
		// Sends no header, and tells the transport that the request may be
		// sent again when a kept connection fails.
		h["X-Idempotency-Key"] = nil
	case hook.StyleClassic:
		h.Set("X-Webhook-Id", event)
		h.Set("X-Webhook-Timestamp", seconds)
		h.Set("X-Webhook-Signature", classic(r))
		h.Set("X-Event-Id", event)
		h.Set("X-Idempotency-Key", event)
		if r.Event.IdempotencyKey != "" {
			h.Set("X-Idempotency-Key", r.Event.IdempotencyKey)
		}
	}
	return h
}

// classic signs with the newest v1 key, the only one the header has room for.
func classic(r Request) string {
	for _, k := range r.Keys {
		if k.Scheme() == hook.SchemeV1 {
			return sign.Classic(k, r.Event.Payload)
		}
	}
	return ""
}

// withCustom returns the headers with the endpoint's own added, those that
// Surehook or HTTP sets left out.
func withCustom(ours http.Header, e hook.Endpoint) http.Header {
	if len(e.Headers) == 0 {
		return ours
	}
	h := make(http.Header, len(ours)+len(e.Headers))
	for name, value := range e.Headers {
		if !hook.ReservedHeader(name) {
			h.Set(name, value)
		}
	}
	for name, values := range ours {
		h[name] = values
	}
	return h
}

// answer is what came of one request.
type answer struct {
	outcome  hook.Outcome
	from     *url.URL // what was asked
	location *url.URL // where it redirects to; nil without a valid Location
}

// post makes one request and reads its answer.
func (s *Sender) post(ctx context.Context, to string, h http.Header, body []byte) answer {
	var handshake atomic.Bool // failed; written from the transport's own goroutine
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshake.Store(err != nil) },
	})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return answer{outcome: hook.Outcome{Class: hook.ClassBlocked, URL: to, Error: "The URL is not valid."}}
	}
	req.Header = h

	resp, err := s.Client.Transport.RoundTrip(req)
	if err != nil {
		class, text := classify(failure{err: err, ended: context.Cause(ctx), handshake: handshake.Load()})
		return answer{outcome: hook.Outcome{Class: class, URL: to, Error: text}}
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{outcome: s.read(resp), from: req.URL}
	a.outcome.URL = to
	if location, err := resp.Location(); err == nil {
		a.location = location
	}
	return a
}
