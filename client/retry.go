package client

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// doer sends requests, repeats those that may be repeated, and makes a *Problem of every
// response with a status of 400 or more.
type doer struct {
	http     *http.Client
	attempts uint
	wait     time.Duration
}

// Do sends the request.
func (d doer) Do(r *http.Request) (*http.Response, error) {
	again := repeatable(r)
	var last error                           // the package backoff replaces the error of a response with Retry-After
	send := func() (*http.Response, error) { //nolint:contextcheck // the request has the context
		one := r.Clone(r.Context())
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, backoff.Permanent(err)
			}
			one.Body = body
		}
		answer, err := d.http.Do(one) //nolint:gosec // the caller chooses the address of the API
		switch {
		case err != nil && again:
			last = err
			return nil, err //nolint:wrapcheck // wrapped below
		case err != nil:
			return nil, backoff.Permanent(err)
		case answer.StatusCode < http.StatusBadRequest:
			return answer, nil
		}
		p := problemOf(answer)
		last = p
		// A throttled request had no effect, so any may be repeated.
		if p.Status != http.StatusTooManyRequests && (p.Status < http.StatusInternalServerError || !again) {
			return nil, backoff.Permanent(p)
		}
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			return nil, backoff.RetryAfter(seconds)
		}
		return nil, p
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = d.wait
	answer, err := backoff.Retry(r.Context(), send, backoff.WithBackOff(waits), backoff.WithMaxTries(d.attempts))
	if err == nil {
		return answer, nil
	}
	if r.Context().Err() == nil && last != nil {
		err = last
	}
	return nil, fmt.Errorf("call %s %s: %w", r.Method, r.URL.Path, err)
}

// repeatable reports whether a repetition has no second effect: for reads, replacements
// and deletions, and for events, which have an idempotency key from Post and PostBatch.
func repeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		if strings.HasSuffix(r.URL.Path, "/events/batch") {
			return keyed(r)
		}
		return strings.HasSuffix(r.URL.Path, "/events") && (r.Header.Get("Idempotency-Key") != "" || keyed(r))
	}
	return false
}

// keyed reports whether the body of a post has an idempotency key for every event. Post
// and PostBatch give every event a key; a caller of the generated operations may not.
func keyed(r *http.Request) bool {
	if r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(body)
	return err == nil && everyEventHasKey(raw)
}
