// Package ownership asks the receiver of an endpoint whether it wants the endpoint. It sends a
// challenge, which the receiver must repeat in its answer. So nobody can direct events to somebody
// else's server.
//
// The request for a new endpoint is signed. The request for a changed URL is not, because the
// function that manages endpoints cannot read stored secrets (docs/adr/35-challenge.md).
//
// The package knows neither HTTP nor the storage of endpoints.
package ownership

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

// Bounds of the requests.
const (
	// Timeout bounds one request, including redirects, unless the endpoint's timeout is shorter.
	Timeout = 5 * time.Second
	// PerMinute is the limit of challenges per tenant and minute. After a pause, as many are sent
	// at once.
	PerMinute = 10
)

// Sender signs requests, and makes them from here.
type Sender interface {
	// Prepare signs the request.
	Prepare(r send.Request) send.Prepared
	// Post makes one request within the timeout of p.
	Post(ctx context.Context, p send.Prepared) hook.Outcome
}

// Remote makes requests from other origins.
type Remote interface {
	// Post makes one request from the region, or from the fixed addresses if the region is empty.
	// After an error the answer is unknown.
	Post(ctx context.Context, region string, p send.Prepared) (hook.Outcome, error)
}

// Prover asks receivers. All fields are required. A Prover is safe for concurrent use.
type Prover struct {
	Limits settle.Spender
	Sender Sender
	Remote Remote
	Now    func() time.Time
}

// Prove posts a challenge to the URL of the endpoint, signed with the secret, which is the v1 secret
// in clear. With an empty secret, the request has no signature. It carries no headers and no
// credentials of the endpoint: a server that was not asked must get nothing that its owner did not
// choose. The TLS settings that e has in clear apply. A redirect to another origin is not followed.
//
// Errors: CodeUnverified names the url and says why; CodeThrottled past PerMinute; CodeUnavailable
// if the sender at the endpoint's origin did not answer.
func (p *Prover) Prove(ctx context.Context, e hook.Endpoint, secret string) error {
	now := p.Now().UTC()
	if err := p.spend(ctx, e.Tenant, now); err != nil {
		return err
	}
	challenge := rand.Text()
	request, err := p.request(e, secret, challenge, now)
	if err != nil {
		return fmt.Errorf("make the challenge of endpoint %s: %w", e.ID, err)
	}
	outcome, err := p.post(ctx, &e, request)
	if err != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the challenge could not be sent; try again", Err: err}
	}
	if problem := judge(outcome, e.URL, challenge); problem != "" {
		return unverified("the receiver did not confirm that the endpoint is its own", "url", problem+hint(&e))
	}
	return nil
}

// ProveToken asks the token endpoint of e for an access token. A token proves that the token
// endpoint knows the client of the endpoint's owner.
//
// Errors: CodeUnverified names auth.token_url and says why; CodeThrottled and CodeUnavailable as
// for Prove.
func (p *Prover) ProveToken(ctx context.Context, e hook.Endpoint) error {
	if err := p.spend(ctx, e.Tenant, p.Now().UTC()); err != nil {
		return err
	}
	blank := e
	blank.Profiles = nil
	request := p.Sender.Prepare(send.Request{Endpoint: &blank, Event: new(hook.Event), Grant: &send.Grant{For: e.ID, OAuth: e.Auth.OAuth, Secret: e.Auth.Secret}})
	request.URL, request.Timeout = "", min(Timeout, e.Timeout)
	outcome, err := p.post(ctx, &e, request)
	if err != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the token endpoint could not be asked; try again", Err: err}
	}
	if outcome.Class != hook.ClassDelivered {
		return unverified("the token endpoint did not give an access token", "auth.token_url", sentence(outcome))
	}
	return nil
}

// spend counts one request of the tenant.
func (p *Prover) spend(ctx context.Context, tenant hook.TenantID, now time.Time) error {
	wait, err := p.Limits.Spend(ctx, tenant, hook.NewSpend(hook.SpentChallenges, 1, PerMinute, time.Minute, now))
	if err != nil {
		return fmt.Errorf("count challenges of tenant %s: %w", tenant, err)
	}
	if wait > 0 {
		return &hook.Error{Code: hook.CodeThrottled, Message: fmt.Sprintf("a tenant can have %d URLs verified a minute", PerMinute), RetryAfter: wait}
	}
	return nil
}

func unverified(message, field, problem string) error {
	return &hook.Error{Code: hook.CodeUnverified, Message: message, Fields: []hook.FieldError{{Field: field, Message: "could not be verified: " + problem}}}
}

// request returns the request with the challenge. It is like a delivery, but always in the standard
// envelope, so that a receiver that echoes its requests does not give the right answer.
func (p *Prover) request(e hook.Endpoint, secret, challenge string, now time.Time) (send.Prepared, error) {
	event := hook.Event{ID: hook.NewEventID(), Type: hook.ChallengeType, Payload: fmt.Appendf(nil, `{"challenge":%q}`, challenge), AcceptedAt: now}
	e.Timeout, e.Envelope, e.Transformation = min(Timeout, e.Timeout), hook.EnvelopeStandard, ""
	content, err := new(shape.Shaper).Shape(nil, &e, &event)
	if err != nil {
		return send.Prepared{}, err
	}
	var keys []sign.Key
	if secret != "" && slices.Contains(e.Schemes, hook.SchemeV1) {
		key, err := sign.Parse(secret)
		if err != nil {
			return send.Prepared{}, err
		}
		keys = []sign.Key{key}
	} else {
		e.Profiles = nil
	}
	r := send.Request{
		Endpoint: &e, Keys: keys, Event: &event, Content: content, Attempt: 1,
		Delivery: hook.DeliveryID{Event: event.ID, Endpoint: e.ID, Generation: 1},
	}
	if m := e.TLS.Material; m != nil {
		r.TLS.CA = m.CA
		if m.Key != "" {
			r.TLS.Certificate, r.TLS.Key = m.Certificate, m.Key
		}
	}
	prepared := p.Sender.Prepare(r)
	prepared.OneOrigin = true
	return prepared, nil
}

// post makes the request from the endpoint's origin.
func (p *Prover) post(ctx context.Context, e *hook.Endpoint, r send.Prepared) (hook.Outcome, error) {
	if !e.Remote() {
		return p.Sender.Post(ctx, r), nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout+send.Transit)
	defer cancel()
	return p.Remote.Post(ctx, e.Region, r)
}

// judge returns what is wrong with the answer of the receiver at the URL, or "" for the right answer.
// The text reveals no more of the answer than its status and the target of a redirect.
func judge(o hook.Outcome, url, challenge string) string {
	if o.URL != url { // even if the other address fails, because its status must not be revealed
		return "the endpoint redirects to another address"
	}
	if o.Class != hook.ClassDelivered {
		return sentence(o)
	}
	var answer struct {
		Challenge string `json:"challenge"`
	}
	if json.NewDecoder(bytes.NewReader(o.Body)).Decode(&answer) != nil || answer.Challenge != challenge {
		return fmt.Sprintf(`the endpoint answered %d without the challenge of the request, which it must answer as {"challenge": "..."}`, o.Status)
	}
	return ""
}

// sentence returns the error of the outcome as a part of a sentence.
func sentence(o hook.Outcome) string {
	text := strings.TrimSuffix(o.Error, ".")
	if text == "" {
		return "the endpoint did not answer"
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// hint names what deliveries to the endpoint carry, and the challenge does not.
func hint(e *hook.Endpoint) string {
	switch {
	case e.TLS.Client && (e.TLS.Material == nil || e.TLS.Material.Key == ""):
		return "; a stored client key is not used for the challenge: give it again in this request"
	case len(e.Headers) > 0, len(e.SealedHeaders) > 0, e.Auth.Secret != "", len(e.Auth.Sealed) > 0:
		return "; the challenge carries no headers and no credentials of the endpoint: the receiver must answer it without"
	}
	return ""
}
