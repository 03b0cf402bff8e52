// Package ownership asks the receiver of an endpoint whether it wants the endpoint: a request
// with a challenge, which the receiver repeats in its answer. So nobody can direct events to the
// server of somebody else.
//
// The request is not signed. A new endpoint's secret is known to nobody before its creation
// succeeds, and who manages endpoints cannot read the secrets of stored ones (docs/adr/35).
//
// The package knows neither HTTP nor storage of endpoints.
package ownership

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// EventType is the type of the request with a challenge.
const EventType = "webhook.verification"

// Bounds of the requests.
const (
	// Timeout bounds one request, redirects included.
	Timeout = 5 * time.Second
	// Transit bounds the way to a sender and back, beside Timeout.
	Transit = 5 * time.Second
	// PerMinute is the most URLs of a tenant that are asked in a minute.
	PerMinute = 10
)

// Sender makes requests from here.
type Sender interface {
	// Post makes one request within the timeout of p.
	Post(ctx context.Context, p send.Prepared) hook.Outcome
}

// Remote makes requests from other origins.
type Remote interface {
	// Post makes one request in the region, or, for an empty region, from the fixed
	// addresses. With an error the answer is unknown.
	Post(ctx context.Context, region string, p send.Prepared) (hook.Outcome, error)
}

// Limits counts what a tenant spends.
type Limits interface {
	// Spend applies hook.Spend.After to the stored next-free time of the tenant.
	Spend(ctx context.Context, tenant hook.TenantID, s hook.Spend) (wait time.Duration, err error)
}

// Prover asks receivers. All fields are required. A Prover is safe for concurrent use.
type Prover struct {
	Limits    Limits
	Sender    Sender
	Remote    Remote
	UserAgent string
	Now       func() time.Time
}

// Prove posts a challenge to the URL of the endpoint. The request carries the headers, the
// authentication and the TLS settings that e has in clear; sealed ones are left out.
//
// Errors: CodeUnverified names the url and says why; CodeThrottled after PerMinute requests for
// the tenant in a minute; CodeUnavailable without an answer of the sender in the endpoint's
// region.
func (p *Prover) Prove(ctx context.Context, e hook.Endpoint) error {
	now := p.Now().UTC()
	wait, err := p.Limits.Spend(ctx, e.Tenant, spend(now))
	if err != nil {
		return fmt.Errorf("count verifications of tenant %s: %w", e.Tenant, err)
	}
	if wait > 0 {
		return &hook.Error{Code: hook.CodeThrottled, Message: fmt.Sprintf("a tenant can have %d URLs verified a minute", PerMinute), RetryAfter: wait}
	}
	challenge := rand.Text()
	request, err := p.request(&e, challenge, now)
	if err != nil {
		return fmt.Errorf("make verification of endpoint %s: %w", e.ID, err)
	}
	outcome, err := p.post(ctx, &e, request)
	if err != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the verification request could not be sent; try again", Err: err}
	}
	if problem := judge(outcome, e.URL, challenge); problem != "" {
		if sealed(&e) {
			problem += "; stored headers and credentials are not sent with the verification: give them again in this request"
		}
		return &hook.Error{
			Code: hook.CodeUnverified, Message: "the receiver did not confirm that the endpoint is its own",
			Fields: []hook.FieldError{{Field: "url", Message: "could not be verified: " + problem}},
		}
	}
	return nil
}

// spend is one request of PerMinute, with a burst of a minute.
func spend(now time.Time) hook.Spend {
	const cost = time.Minute / PerMinute
	return hook.Spend{Of: hook.SpentVerifications, Now: now, Latest: now.Add(time.Minute - cost), Cost: cost}
}

// request returns the request with the challenge.
func (p *Prover) request(e *hook.Endpoint, challenge string, now time.Time) (send.Prepared, error) {
	type data struct {
		Challenge string `json:"challenge"`
	}
	body, err := json.Marshal(struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      data   `json:"data"`
	}{EventType, now.Format("2006-01-02T15:04:05.000Z"), data{challenge}})
	if err != nil {
		return send.Prepared{}, err //nolint:wrapcheck // Prove names the operation
	}
	own := make(map[string]string, len(e.Headers)+1)
	for name, value := range e.Headers {
		own[name] = value
	}
	r := send.Prepared{
		URL: e.URL,
		Header: http.Header{
			"Content-Type": {"application/json"}, "User-Agent": {p.UserAgent}, "X-Webhook-Event": {EventType},
			hook.DeliveryHeader: {"verification"}, // the API refuses the request as a loop
		},
		Own: own, Body: body, Timeout: min(Timeout, e.Timeout),
	}
	switch {
	case e.Auth.Secret == "":
	case e.Auth.Type == hook.AuthOAuth2:
		r.Grant = &send.Grant{For: e.ID, OAuth: e.Auth.OAuth, Secret: e.Auth.Secret}
	default:
		own[hook.AuthorizationHeader] = e.Auth.Authorization(e.Auth.Secret)
	}
	if m := e.TLS.Material; m != nil {
		r.TLS.CA = m.CA
		if m.Key != "" {
			r.TLS.Certificate, r.TLS.Key = m.Certificate, m.Key
		}
	}
	return r, nil
}

// post makes the request from the endpoint's origin.
func (p *Prover) post(ctx context.Context, e *hook.Endpoint, r send.Prepared) (hook.Outcome, error) {
	if !e.Remote() {
		return p.Sender.Post(ctx, r), nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout+Transit)
	defer cancel()
	return p.Remote.Post(ctx, e.Region, r) //nolint:wrapcheck // Prove names the operation
}

// judge returns what is wrong with the answer of the receiver at the URL; empty for the right
// one. The text has nothing of the answer but its status.
func judge(o hook.Outcome, url, challenge string) string {
	if o.URL != url {
		return "the endpoint redirects to another address"
	}
	if o.Class != hook.ClassDelivered {
		text := strings.TrimSuffix(o.Error, ".")
		if text == "" {
			return "the endpoint did not answer"
		}
		return strings.ToLower(text[:1]) + text[1:]
	}
	var answer struct {
		Challenge string `json:"challenge"`
	}
	if json.NewDecoder(bytes.NewReader(o.Body)).Decode(&answer) != nil || answer.Challenge != challenge {
		return fmt.Sprintf(`the endpoint answered %d without the challenge of the request, which it must answer as {"challenge": "..."}`, o.Status)
	}
	return ""
}

// sealed reports whether requests to the endpoint carry something that e does not have in clear.
func sealed(e *hook.Endpoint) bool {
	return len(e.SealedHeaders) > 0 || len(e.Auth.Sealed) > 0 || e.TLS.Client && (e.TLS.Material == nil || e.TLS.Material.Key == "")
}
