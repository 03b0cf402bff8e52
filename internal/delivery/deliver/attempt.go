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
	"surehook/internal/rule/sign"
)

// settleReserve is the part of the invocation's time kept for settling after the
// attempt.
const settleReserve = 5 * time.Second

var (
	errNoHeader = errors.New("the sealed text is not of this header")
	errNoTime   = errors.New("too little time is left in this invocation")
)

// opened holds the opened secrets and headers of an endpoint.
type opened struct {
	keys    []sign.Key // valid at the first attempt of the batch, newest first
	headers map[string]string
}

// opener returns a function that opens the secrets and headers of the endpoint at its
// first call, once for all attempts of a batch. An error is the error of all of them:
// their messages return together.
func (d *Deliverer) opener(ctx context.Context, e *hook.Endpoint) func() (opened, error) {
	return sync.OnceValues(func() (o opened, err error) {
		if o.keys, err = d.signingKeys(ctx, e, d.Now()); err != nil {
			return o, fmt.Errorf("open secrets of endpoint %s: %w", e.ID, err)
		}
		if o.headers, err = d.openHeaders(ctx, e); err != nil {
			return o, fmt.Errorf("open headers of endpoint %s: %w", e.ID, err)
		}
		return o, nil
	})
}

// makeAttempt sends the request and settles the outcome.
func (d *Deliverer) makeAttempt(ctx context.Context, s *subject, open func() (opened, error)) (gate.Result, error) {
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(d.Now()) < s.endpoint.Timeout+settleReserve {
		return gate.Result{}, errNoTime
	}
	started := d.Now()
	secret, err := open()
	if err != nil {
		return gate.Result{}, err
	}
	endpoint := *s.endpoint
	endpoint.Headers = secret.headers
	outcome := d.Sender.Send(ctx, send.Request{
		Endpoint: endpoint,
		Keys:     secret.keys,
		Event:    s.event,
		Delivery: s.token.Delivery.DeliveryID,
		Attempt:  s.token.Attempt,
	})
	now := d.Now()
	recorded, own, err := d.settleDelivery(ctx, s, attemptOutcome(s, outcome, started, now))
	d.logAttempted(ctx, s, outcome, recorded, now)
	return resultOf(s, outcome, recorded, own, now), err
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
