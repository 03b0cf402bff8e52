package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"surehook.example/surehook/internal/hook"
)

// retryAfter is the Retry-After of 429 and 503 responses without a known wait.
const retryAfter = 5 * time.Second

// problem is the error response: a problem document of RFC 9457. The type is
// about:blank, so the title is the text of the status. Code identifies the problem.
type problem struct {
	Type   string            `json:"type"`
	Title  string            `json:"title"`
	Status int               `json:"status"`
	Code   string            `json:"code"`
	Detail string            `json:"detail"`
	Errors []hook.FieldError `json:"errors,omitempty"`
}

// problemOf returns the problem for the caller: the message and the fields of an error with a
// code, or a constant text for an internal error.
func problemOf(err error) problem {
	known, ok := errors.AsType[*hook.Error](err)
	if !ok || known.Code == hook.CodeInternal {
		return newProblem(http.StatusInternalServerError, hook.CodeInternal.String(), "something went wrong on our side")
	}
	p := newProblem(statusOf(known.Code), known.Code.String(), known.Message)
	p.Errors = slices.Clone(known.Fields)
	// Checks that loop over maps find fields in random order. Sorting makes the response
	// deterministic.
	slices.SortStableFunc(p.Errors, func(a, b hook.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	p.Errors = p.Errors[:min(len(p.Errors), maxWrong)]
	return p
}

func newProblem(status int, code, detail string) problem {
	return problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func statusOf(c hook.Code) int {
	switch c {
	case hook.CodeInvalid:
		return http.StatusBadRequest
	case hook.CodeMismatch, hook.CodeUnverified:
		return http.StatusUnprocessableEntity
	case hook.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case hook.CodeUnsupported:
		return http.StatusUnsupportedMediaType
	case hook.CodeUnauthorized:
		return http.StatusUnauthorized
	case hook.CodeForbidden, hook.CodeLoop:
		return http.StatusForbidden
	case hook.CodeNotFound:
		return http.StatusNotFound
	case hook.CodeConflict, hook.CodeInProgress, hook.CodeReplayed, hook.CodeTenantClosing:
		return http.StatusConflict
	case hook.CodeStale:
		return http.StatusPreconditionFailed
	case hook.CodeThrottled:
		return http.StatusTooManyRequests
	case hook.CodeUnavailable:
		return http.StatusServiceUnavailable
	case hook.CodeInternal:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// reply returns the response with the problem p of err.
func (p problem) reply(err error) reply {
	a := reply{status: p.Status, body: p, code: p.Code}.with("Content-Type", "application/problem+json")
	switch p.Status {
	case http.StatusUnauthorized:
		a = a.with("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		a = a.with("Retry-After", retryAfterOf(err))
	}
	_ = a.encode() // strings and numbers encode without an error
	return a
}

// retryAfterOf returns the Retry-After for err: whole seconds, rounded up.
func retryAfterOf(err error) string {
	wait := retryAfter
	if known, ok := errors.AsType[*hook.Error](err); ok && known.RetryAfter > 0 {
		wait = known.RetryAfter
	}
	return strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
}
