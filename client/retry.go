package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	maxAnswer = 16 << 20         // bytes; a page can have 100 events of 256 KiB, but most are small
	maxWait   = 30 * time.Second // between two attempts, even if Retry-After is longer
)

// doer sends requests, repeats them if that is safe, and turns every answer but 2xx into an
// error.
type doer struct {
	http     http.Client
	attempts uint
	wait     time.Duration
}

// Do sends the request. The body of the answer has been read into memory.
func (d doer) Do(r *http.Request) (*http.Response, error) {
	r, err := withKeys(r)
	if err != nil {
		return nil, err
	}
	again := repeatable(r)
	var last error // kept here because package backoff replaces the error of a response with Retry-After
	send := func() (*http.Response, error) {
		answer, err := d.once(r)
		if err == nil {
			return answer, nil
		}
		last = err
		p, answered := errors.AsType[*Problem](err)
		// A throttled request had no effect, so any request may then be repeated.
		if answered && (!p.Temporary() || !again && p.Status != http.StatusTooManyRequests) || !answered && !again {
			return nil, backoff.Permanent(err)
		}
		if answered {
			if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
				return nil, backoff.RetryAfter(min(seconds, int(maxWait/time.Second)))
			}
		}
		return nil, err
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = d.wait, maxWait
	answer, err := backoff.Retry(r.Context(), send, backoff.WithBackOff(waits), backoff.WithMaxTries(d.attempts))
	switch {
	case err == nil:
		return answer, nil
	case r.Context().Err() == nil && last != nil:
		return nil, last
	}
	return nil, fmt.Errorf("call %s: %w", r.URL.Host, err)
}

// once sends the request once. With a *Problem it returns the answer, too.
func (d doer) once(r *http.Request) (*http.Response, error) {
	one := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fmt.Errorf("read the body again: %w", err)
		}
		one.Body = body
	}
	answer, err := d.http.Do(one) //nolint:gosec // the caller chooses the address of the API
	if err != nil {
		return nil, &UnreachableError{Address: r.URL.Host, Err: err}
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, &UnreachableError{Address: r.URL.Host, Err: err}
	}
	answer.Body = io.NopCloser(bytes.NewReader(raw))
	if answer.StatusCode/100 != 2 {
		return answer, problemOf(answer, raw)
	}
	// The operations expect JSON, but another server may answer with a web page.
	kind := answer.Header.Get("Content-Type")
	if len(raw) > 0 && strings.Contains(r.URL.Path, "/v1/") && !strings.Contains(kind, "json") && !strings.Contains(kind, "yaml") {
		return answer, &Problem{Status: answer.StatusCode, Detail: "the answer is " + kind + " and not JSON: the address is not the API's"}
	}
	return answer, nil
}

// repeatable reports whether repeating the request has no further effect: for reads, replacements
// and deletions, for events, which have idempotency keys, and for the dry run of a replay.
func repeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		switch {
		case strings.HasSuffix(r.URL.Path, "/events"), strings.HasSuffix(r.URL.Path, "/events/batch"):
			return r.GetBody != nil
		case strings.HasSuffix(r.URL.Path, "/replays"):
			return dryRun(r)
		}
	}
	return false
}
