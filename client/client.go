// Package client calls the API of Surehook. It wraps the client in package openapi, which is
// generated from the contract: every operation of the contract is a method of Client, with the
// suffix WithResponse.
//
// A Client repeats requests if that is safe. It returns every refusal of the API as a *Problem, and
// a request without an answer as an *UnreachableError. Post and PostBatch give every event an
// idempotency key, so that they can be repeated. The package does not use the server's code.
package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"surehook.example/surehook/client/openapi"
)

// Client calls the API. A Client is safe for concurrent use.
type Client struct {
	*openapi.ClientWithResponses

	address *url.URL // without a slash at the end
	doer    doer
	edit    openapi.RequestEditorFn
}

// Options configures New. The zero Options are ready to use.
type Options struct {
	HTTP      *http.Client  // nil: a client with a timeout of 35 s. New uses a copy that follows no redirects, so that the key is only sent to the address
	Attempts  uint          // of one call; 1: no repetition; 0: 5
	Wait      time.Duration // before the second attempt; later waits are longer, at most 30 s; 0: 500 ms
	UserAgent string        // of every request; empty: that of net/http
}

// timeout of an attempt. API Gateway answers after 29 s at the latest.
const timeout = 35 * time.Second

// New returns a client for the API at the address, such as https://hooks.example.com, with an API
// key such as shk_.... If the key is empty, the client sends none, and can only call the operations
// that need no key.
func New(address, key string, o Options) (*Client, error) {
	parsed, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil {
		return nil, fmt.Errorf("make client of %s: %w", address, err)
	}
	d := doer{http: http.Client{Timeout: timeout}, attempts: o.Attempts, wait: o.Wait}
	if o.HTTP != nil {
		d.http = *o.HTTP
	}
	d.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if d.attempts == 0 {
		d.attempts = 5
	}
	if d.wait == 0 {
		d.wait = 500 * time.Millisecond
	}
	edit := func(_ context.Context, r *http.Request) error {
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		if o.UserAgent != "" {
			r.Header.Set("User-Agent", o.UserAgent)
		}
		return nil
	}
	c, err := openapi.NewClientWithResponses(parsed.String(), openapi.WithHTTPClient(d), openapi.WithRequestEditorFn(edit))
	if err != nil {
		return nil, fmt.Errorf("make client of %s: %w", address, err)
	}
	return &Client{ClientWithResponses: c, address: parsed, doer: d, edit: edit}, nil
}

// Post posts an event. An event without an idempotency key gets a random one, so that repetitions
// within one call make one event. A caller that may call Post again after a crash must set the
// key itself. The JSON encoder removes white space from the payload.
func (c *Client) Post(ctx context.Context, tenant string, e openapi.EventRequest) (*openapi.Accepted, error) {
	if e.IdempotencyKey == nil {
		e.IdempotencyKey = new(rand.Text())
	}
	r, err := c.PostEventWithResponse(ctx, tenant, nil, e)
	if err != nil {
		return nil, fmt.Errorf("post event: %w", err)
	}
	return r.JSON202, nil
}

// PostBatch posts up to 100 events. Events without an idempotency key get a random one.
// The result has one item per event, in order: an openapi.Accepted or an openapi.Refused.
func (c *Client) PostBatch(ctx context.Context, tenant string, events []openapi.BatchEvent) (*openapi.BatchResult, error) {
	keyed := append([]openapi.BatchEvent(nil), events...)
	for i := range keyed {
		if keyed[i].IdempotencyKey == nil {
			keyed[i].IdempotencyKey = new(rand.Text())
		}
	}
	r, err := c.PostEventsWithResponse(ctx, tenant, nil, openapi.BatchRequest{Events: keyed})
	if err != nil {
		return nil, fmt.Errorf("post events: %w", err)
	}
	if r.JSON207 != nil {
		return r.JSON207, nil
	}
	return r.JSON202, nil
}
