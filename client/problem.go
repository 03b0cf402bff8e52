package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"surehook.example/surehook/client/openapi"
)

// Problem is an error of the API. Code identifies the problem. The code is empty for a
// request refused by API Gateway, which has a body of its own.
type Problem struct { //nolint:errname // the name in the contract
	Status int
	Code   openapi.ProblemCode
	Detail string
	Fields []openapi.FieldError // of an invalid request
}

// Error returns the status, the code, the detail and the wrong fields.
func (p *Problem) Error() string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "the API answered %d", p.Status)
	if p.Code != "" {
		b.WriteString(" " + string(p.Code))
	}
	if p.Detail != "" {
		b.WriteString(": " + p.Detail)
	}
	for _, f := range p.Fields {
		b.WriteString("; " + f.Field + ": " + f.Message)
	}
	return b.String()
}

// Temporary reports whether the same request may succeed later.
func (p *Problem) Temporary() bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= http.StatusInternalServerError || p.Code == openapi.ProblemCodeInProgress
}

// ProblemOf returns the problem of one item in a list of results, such as a refused event
// of a batch.
func ProblemOf(item openapi.Problem) *Problem {
	p := &Problem{Status: item.Status, Code: item.Code, Detail: item.Detail}
	if item.Errors != nil {
		p.Fields = *item.Errors
	}
	return p
}

// answered returns the body of an answer, which is under one of the statuses of the contract.
func answered[T any](status int, bodies ...*T) (*T, error) {
	for _, body := range bodies {
		if body != nil {
			return body, nil
		}
	}
	return nil, &Problem{Status: status, Detail: "the status of the answer is not the contract's"}
}

// UnreachableError means that a request got no answer. The API may or may not have done what it
// asked for.
type UnreachableError struct {
	Address string // host and port of the API
	Err     error
}

// Error names the host and the cause, but not the URL, which may contain names of a tenant.
func (e *UnreachableError) Error() string {
	cause := e.Err
	if of, ok := errors.AsType[*url.Error](e.Err); ok {
		cause = of.Err
	}
	return fmt.Sprintf("no answer from %s: %v", e.Address, cause)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// problemOf reads the problem in an answer with this body.
func problemOf(r *http.Response, raw []byte) *Problem {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
		var body openapi.Problem
		if json.Unmarshal(raw, &body) == nil {
			body.Status = r.StatusCode
			return ProblemOf(body)
		}
	}
	p := &Problem{Status: r.StatusCode, Detail: http.StatusText(r.StatusCode)}
	var body struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &body) == nil && body.Message != "" {
		p.Detail = body.Message
	}
	return p
}
