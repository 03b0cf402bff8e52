package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"surehook/internal/names"
)

const (
	requestTimeout = 35 * time.Second // API Gateway answers after 29 s at the latest
	maxAnswer      = 16 << 20         // bytes; a page has at most 100 events
	maxTries       = 4                // of a request that may be repeated
	firstPause     = time.Second / 2  // before the second try, then longer
	maxPause       = 30 * time.Second // between two tries
)

// api calls the API with the settings in effect. Answers stay JSON text, so that
// --output json shows every field of the API, also fields of later versions.
type api struct {
	address *url.URL
	key     string
	http    *http.Client
}

// request is one call. Path segments of callers are escaped by route.
type request struct {
	method, path string
	query        url.Values
	body         []byte // JSON; nil for none
	header       http.Header
	again        bool // the request may be repeated after an unknown result
}

// api returns a client of the configured deployment.
func (p *program) api(ctx context.Context, s settings) (*api, error) {
	address, err := s.address()
	if err != nil {
		return nil, err
	}
	key, err := s.apiKey(ctx)
	if err != nil {
		return nil, err
	}
	return &api{address: address, key: key, http: p.HTTP}, nil
}

// route fills the parameters of a path of the contract, such as {tenant}.
func route(path string, values map[string]string) string {
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	return path
}

// do sends the request, repeats a repeatable request, and returns the body of a
// 2xx answer.
func (a *api) do(ctx context.Context, r request) (json.RawMessage, error) {
	again := r.again || r.method == http.MethodGet
	for try := 1; ; try++ {
		answer, pause, err := a.try(ctx, r)
		if err == nil || !again || pause < 0 || try == maxTries {
			return answer, err
		}
		if pause == 0 {
			pause = firstPause << (try - 1)
		}
		if err := sleep(ctx, min(pause, maxPause)); err != nil {
			return nil, err
		}
	}
}

// try sends the request once. A negative pause means that another try is futile;
// zero leaves the pause to the caller.
func (a *api) try(ctx context.Context, r request) (answer json.RawMessage, pause time.Duration, err error) {
	u := *a.address
	full := a.address.EscapedPath() + r.path
	u.RawPath = full
	if u.Path, err = url.PathUnescape(full); err != nil {
		return nil, -1, usagef("path %s: %w", full, err)
	}
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, -1, usagef("make the request: %w", err)
	}
	if r.header != nil {
		req.Header = r.header.Clone()
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	req.Header.Set("User-Agent", names.UserAgent()+" surehook-cli")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	response, err := a.http.Do(req)
	if err != nil {
		return nil, 0, &unreachableError{address: a.address.Host, err: err}
	}
	defer response.Body.Close() //nolint:errcheck // the body was read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, 0, &unreachableError{address: a.address.Host, err: err}
	}
	if response.StatusCode/100 == 2 {
		return text, 0, nil
	}
	refused := newProblem(response, text)
	if !refused.later() {
		return nil, -1, refused
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return nil, time.Duration(max(seconds, 0)) * time.Second, refused
}

// refuseRedirect keeps the key at the configured address.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// unreachableError is a request without an answer.
type unreachableError struct {
	address string
	err     error
}

func (e *unreachableError) Error() string {
	cause := e.err
	var of *url.Error
	if errors.As(e.err, &of) {
		cause = of.Err // the URL may hold names of a tenant; the address suffices
	}
	return fmt.Sprintf("no answer from %s: %v", e.address, cause)
}
func (e *unreachableError) Unwrap() error { return e.err }

// problem is a refusal by the API.
type problem struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Errors []struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"errors"`
}

// newProblem reads a refusal. API Gateway's own answers are no problem documents.
func newProblem(r *http.Response, text []byte) *problem {
	p := &problem{}
	if err := json.Unmarshal(text, p); err != nil || p.Code == "" {
		p = &problem{Detail: http.StatusText(r.StatusCode)}
	}
	p.Status = r.StatusCode
	return p
}

// later reports whether the same request may succeed later.
func (p *problem) later() bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= http.StatusInternalServerError || p.Code == "in_progress"
}

func (p *problem) Error() string {
	text := fmt.Sprintf("the API answered %d", p.Status)
	if p.Code != "" {
		text += " " + p.Code
	}
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	for _, e := range p.Errors {
		text += "\n  " + e.Field + ": " + e.Message
	}
	return text
}

// advice names the remedy for a refusal; empty for none.
func (p *problem) advice() string {
	switch {
	case p.Status == http.StatusUnauthorized:
		return "check the key: --key-file, " + envKey + ", or the configuration file"
	case p.Status == http.StatusForbidden:
		return "use a key with the scope and the tenant of this command: surehook keys list"
	case p.Code == "precondition_failed":
		return "the version changed: read again, and change with the new version"
	case p.Status == http.StatusNotFound:
		return "check the tenant and the id"
	case p.later():
		return "try again later"
	}
	return ""
}

// describe returns the text of an error with its remedy.
func describe(err error) string {
	text := err.Error()
	var p *problem
	var u *unreachableError
	switch {
	case errors.As(err, &p) && p.advice() != "":
		text += "\n" + p.advice()
	case errors.As(err, &u):
		text += "\ncheck --url or " + envURL + ", and that Surehook runs there"
	}
	return printable(text)
}

// sleep waits, or returns an error at the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errInterrupted
	}
}
