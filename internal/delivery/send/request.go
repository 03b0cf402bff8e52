package send

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
	"surehook.example/surehook/internal/rule/trace"
)

// header returns the headers set by Surehook. All requests of an attempt carry the
// same headers, so a redirected request carries the signature, too.
func (s *Sender) header(r *Request, now time.Time) http.Header {
	event := string(r.Event.ID)
	h := make(http.Header)
	add := func(name, value string) { h[name] = []string{value} }
	add("Content-Type", r.Content.ContentType)
	add("User-Agent", s.UserAgent)
	add("Accept", "*/*")
	add("X-Webhook-Event", r.Event.Type)
	add(hook.DeliveryHeader, r.Delivery.String())
	add("X-Webhook-Attempt", strconv.Itoa(r.Attempt))
	if o := r.Event.Ordering; o != nil {
		add("X-Webhook-Ordering-Key", o.Key)
		add("X-Webhook-Ordering-Number", strconv.FormatInt(o.Number, 10))
		if len(o.Skipped) > 0 {
			add("X-Webhook-Ordering-Skipped", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Skipped), " ", ","), "[]"))
		}
	}
	if parent := trace.Header(r.Event, r.Delivery, r.Attempt); parent != "" {
		add("Traceparent", parent)
	}

	sign.Headers(r.Endpoint.Profiles, r.Keys, sign.Request{
		ID: event, Type: r.Event.Type, IdempotencyKey: r.Event.IdempotencyKey, Delivery: r.Delivery.String(),
		Timestamp: now, URL: r.Endpoint.URL, Body: r.Content.Body,
	}, func(name, value string) { add(headerKey(name), value) })
	return h
}

// headerKey returns the canonical form of a name, but lower case for Idempotency-Key and
// X-Idempotency-Key. net/http looks for these two in canonical form: it repeats a POST that has
// one of them if the receiver closes a reused connection, once for every idle connection to the
// receiver.
func headerKey(name string) string {
	name = http.CanonicalHeaderKey(name)
	if name == "Idempotency-Key" || name == "X-Idempotency-Key" {
		name = strings.ToLower(name)
	}
	return name
}

// ownHeaders returns the headers of the endpoint's owner. Those of the endpoint take precedence
// over those of its transformation, because they may authenticate Surehook.
func ownHeaders(r *Request) map[string]string {
	own := make(map[string]string, len(r.Own)+len(r.Content.Headers))
	for _, headers := range []map[string]string{r.Content.Headers, r.Own} {
		for name, value := range headers {
			own[http.CanonicalHeaderKey(name)] = value
		}
	}
	return own
}

// Headers returns the headers of the request to URL, with those of the owner.
func (p *Prepared) Headers() http.Header { return withCustom(p.Header, p.Own) }

// withCustom returns the headers with the endpoint's own headers, except those with a name that is
// reserved for Surehook or HTTP. A header set by Surehook takes precedence, except Accept.
func withCustom(ours http.Header, own map[string]string) http.Header {
	h := make(http.Header, len(ours)+len(own))
	for name, value := range own {
		if !hook.ReservedHeader(name) {
			h[headerKey(name)] = []string{value}
		}
	}
	for name, values := range ours {
		if _, given := h[name]; !given || name != "Accept" {
			h[name] = values
		}
	}
	return h
}

// leftOut ends the error of an attempt that was redirected away from the endpoint's origin.
const leftOut = " It was redirected to another origin, without the endpoint's own headers and client certificate: set the URL to the last one."

// describe adds the headers of the last request to the outcome of an attempt that failed or whose
// headers are recorded, except one that Surehook blocked. The values of the owner's headers and of
// the access token are masked. whole reports whether the last request had them; the error says so
// if not.
func (p *Prepared) describe(o *hook.Outcome, whole bool) {
	if o.Class == hook.ClassDelivered && !p.RecordHeaders || o.Class == hook.ClassBlocked {
		return
	}
	own := make(map[string]string, len(p.Own))
	if whole {
		for name := range p.Own {
			own[name] = hook.Masked
		}
	} else if len(p.Own) > 0 || p.TLS.Certificate != "" {
		o.Error += leftOut
	}
	headers := withCustom(p.Header, own)
	o.Sent = make(map[string]string, len(headers))
	for name := range headers {
		o.Sent[name] = strings.Join(headers[name], ", ")
	}
}

// answer is the result of one request.
type answer struct {
	outcome  hook.Outcome
	from     *url.URL // URL of the request
	location *url.URL // redirect target; nil without a valid Location
}

// post makes one request and reads the response. It follows no redirect.
func (s *Sender) post(ctx context.Context, via http.RoundTripper, to string, h http.Header, p *Prepared) answer {
	traced, seen, release := watch(ctx, s.Now)
	defer release()
	req, err := http.NewRequestWithContext(traced, http.MethodPost, to, bytes.NewReader(p.Body))
	if err != nil {
		return answer{outcome: hook.Outcome{Class: hook.ClassBlocked, URL: to, Error: "The URL is not valid."}}
	}
	req.Header = h

	resp, err := via.RoundTrip(req)
	if err != nil {
		f := seen.failure(ctx, err)
		class, text := classify(f)
		return answer{outcome: hook.Outcome{Class: class, URL: to, Error: text, Phases: seen.phases(), Stale: class == hook.ClassReset && f.stale()}}
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{outcome: s.readOutcome(resp, p.RecordHeaders), from: req.URL}
	a.outcome.URL, a.outcome.Phases = to, seen.phases()
	if location, err := resp.Location(); err == nil {
		a.location = location
	}
	return a
}
