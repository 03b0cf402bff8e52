package deliver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/hook"
	"surehook/internal/rule/settlement"
	"surehook/internal/rule/sign"
)

// settleReserve is the part of the invocation's time kept for settling after the
// attempt.
const settleReserve = 5 * time.Second

var (
	errNoHeader = errors.New("the sealed text is not of this header")
	errNoAuth   = errors.New("the sealed text is not of this authentication")
	errNoTime   = errors.New("too little time is left in this invocation")
)

// opened holds the opened secrets and headers of an endpoint.
type opened struct {
	keys  []sign.Key        // valid at the first attempt of the batch, newest first
	own   map[string]string // the endpoint's headers, and the header of an authentication by password or token
	grant *send.Grant       // nil: no access token is needed
	tls   send.TLS
}

// opener returns a function that opens the secrets and headers of the endpoint at its
// first call, once for all attempts of a batch. An error is the error of all of them:
// their messages return together.
func (d *Deliverer) opener(ctx context.Context, e *hook.Endpoint) func() (*opened, error) {
	return sync.OnceValues(func() (_ *opened, err error) {
		o := new(opened)
		if o.keys, err = d.signingKeys(ctx, e, d.Now()); err != nil {
			return nil, fmt.Errorf("open secrets of endpoint %s: %w", e.ID, err)
		}
		if o.own, err = d.openHeaders(ctx, e); err != nil {
			return nil, fmt.Errorf("open headers of endpoint %s: %w", e.ID, err)
		}
		if err = d.openAuth(ctx, e, o); err != nil {
			return nil, fmt.Errorf("open authentication of endpoint %s: %w", e.ID, err)
		}
		if o.tls, err = d.openTLS(ctx, e); err != nil {
			return nil, fmt.Errorf("open TLS settings of endpoint %s: %w", e.ID, err)
		}
		return o, nil
	})
}

// makeAttempt sends the request and settles the outcome.
func (d *Deliverer) makeAttempt(ctx context.Context, s *subject, open func() (*opened, error)) (gate.Result, error) {
	a, err := d.sendRequest(ctx, s, s.Event, open)
	if err != nil {
		return gate.Result{}, err
	}
	return d.settleAttempt(ctx, s, a)
}

// request is a request that was made.
type request struct {
	outcome        hook.Outcome
	started, ended time.Time
}

// sendRequest sends the content to the endpoint of the delivery.
func (d *Deliverer) sendRequest(ctx context.Context, s *subject, content *hook.Event, open func() (*opened, error)) (*request, error) {
	if !d.hasTime(ctx, timeOf(s.Endpoint)) {
		return nil, errNoTime
	}
	started := d.Now()
	secret, err := open()
	if err != nil {
		return nil, err
	}
	outcome, err := d.send(ctx, s, send.Request{
		Endpoint: s.Endpoint,
		Own:      secret.own,
		Keys:     secret.keys,
		Grant:    secret.grant,
		TLS:      secret.tls,
		Event:    content,
		Delivery: s.Token.Delivery.DeliveryID,
		Attempt:  s.Token.Attempt,
	})
	if err != nil {
		return nil, err
	}
	return &request{outcome: outcome, started: started, ended: d.Now()}, nil
}

// settleAttempt settles the delivery after the request.
func (d *Deliverer) settleAttempt(ctx context.Context, s *subject, r *request) (gate.Result, error) {
	written, err := d.settleDelivery(ctx, s, settlement.Attempted(&r.outcome, r.started, r.ended))
	d.logAttempted(ctx, s, &r.outcome, written.record, r.ended)
	return resultOf(s, &r.outcome, written, r.ended), err
}

// hasTime reports whether the invocation has the time for an attempt and the settling.
func (d *Deliverer) hasTime(ctx context.Context, attempt time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(d.Now()) >= attempt+settleReserve
}

// signingKeys opens the endpoint's secrets valid at now, of the chosen schemes.
func (d *Deliverer) signingKeys(ctx context.Context, e *hook.Endpoint, now time.Time) ([]sign.Key, error) {
	var keys []sign.Key
	for _, secret := range e.Signing(now) {
		text, err := d.Vault.Open(ctx, secret.Sealed, e.Tenant, e.ID)
		if err != nil {
			return nil, fmt.Errorf("open: %w", err)
		}
		key, err := sign.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// openHeaders opens the values of the endpoint's headers.
func (d *Deliverer) openHeaders(ctx context.Context, e *hook.Endpoint) (map[string]string, error) {
	headers := make(map[string]string, len(e.SealedHeaders))
	for name, sealed := range e.SealedHeaders {
		text, err := d.Vault.Open(ctx, sealed, e.Tenant, e.ID)
		if err != nil {
			return nil, fmt.Errorf("open: %w", err)
		}
		value, ok := hook.HeaderValue(name, text)
		if !ok {
			return nil, fmt.Errorf("open %s: %w", name, errNoHeader)
		}
		headers[name] = value
	}
	return headers, nil
}

// openAuth adds the header of the endpoint's authentication, or the grant of an access
// token. The header belongs to the endpoint's own headers: a redirect to another origin
// leaves them out.
func (d *Deliverer) openAuth(ctx context.Context, e *hook.Endpoint, o *opened) error {
	if e.Auth.Type == hook.AuthNone {
		return nil
	}
	text, err := d.Vault.Open(ctx, e.Auth.Sealed, e.Tenant, e.ID)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	secret, ok := hook.AuthSecret(e.Auth.Type, text)
	if !ok {
		return errNoAuth
	}
	if e.Auth.Type == hook.AuthOAuth2 {
		o.grant = &send.Grant{For: e.ID, OAuth: e.Auth.OAuth, Secret: secret}
		return nil
	}
	o.own[hook.AuthorizationHeader] = e.Auth.Authorization(secret)
	return nil
}
