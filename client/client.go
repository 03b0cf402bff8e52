// Package client calls the API of Surehook: client.Events.Create posts an event, and so on for every
// operation of the contract. It wraps the client in package openapi, which is generated from the
// contract; its operations, with the suffix WithResponse, also show the status and the headers of an
// answer.
//
// A Client repeats requests if that is safe, and gives every event an idempotency key, so that it can
// be repeated. It returns every refusal of the API as a *Problem, and a request without an answer as
// an *UnreachableError. The package does not use the server's code.
package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"surehook.example/surehook/client/openapi"
)

// Client calls the API. A Client is safe for concurrent use.
type Client struct {
	Resources
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
func New(address, key string, options ...Options) (*Client, error) {
	o := *first(options)
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
	return &Client{Resources: resources(c), ClientWithResponses: c, address: parsed, doer: d, edit: edit}, nil
}

// Set gives an optional field of a change or a list a value, which may be the zero value.
func Set[T any](value T) *T { return &value }

// first returns what a caller may leave out: a copy of the first value, or of the zero value.
func first[T any](values []T) *T {
	var v T
	if len(values) > 0 {
		v = values[0]
	}
	return &v
}
