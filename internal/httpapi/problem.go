package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"surehook/internal/hook"
)

// retryAfter is how many seconds a caller is asked to wait before it tries again.
const retryAfter = "5"

// problem is an error as callers see it: a problem document of RFC 9457. Its
// type is about:blank, so its title is that of the status; Code tells problems apart.
type problem struct {
	Type   string            `json:"type"`
	Title  string            `json:"title"`
	Status int               `json:"status"`
	Code   string            `json:"code"`
	Detail string            `json:"detail"`
	Errors []hook.FieldError `json:"errors,omitempty"`
}

// problemOf returns what may be told about the error: the message and the
// fields of an error with a code, and nothing of one that is a fault of ours.
func problemOf(err error) problem {
	if e, ok := isMethodError(err); ok {
		return newProblem(http.StatusMethodNotAllowed, "method_not_allowed", e.Error())
	}
	known, ok := errors.AsType[*hook.Error](err)
	if !ok || known.Code == hook.CodeInternal {
		return newProblem(http.StatusInternalServerError, hook.CodeInternal.String(), "something went wrong on our side")
	}
	p := newProblem(statusOf(known.Code), known.Code.String(), known.Message)
	p.Errors = slices.Clone(known.Fields)
	// Some fields are found in maps; callers get the same order every time.
	slices.SortStableFunc(p.Errors, func(a, b hook.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	return p
}

func newProblem(status int, code, detail string) problem {
	return problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func statusOf(c hook.Code) int {
	switch c {
	case hook.CodeInvalid:
		return http.StatusBadRequest
	case hook.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case hook.CodeUnauthorized:
		return http.StatusUnauthorized
	case hook.CodeForbidden:
		return http.StatusForbidden
	case hook.CodeNotFound:
		return http.StatusNotFound
	case hook.CodeConflict, hook.CodeInProgress, hook.CodeReplayed:
		return http.StatusConflict
	case hook.CodeThrottled:
		return http.StatusTooManyRequests
	case hook.CodeUnavailable:
		return http.StatusServiceUnavailable
	case hook.CodeInternal:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// reply returns the answer that says p of err.
func (p problem) reply(err error) reply {
	a := reply{status: p.Status, body: p}.with("Content-Type", "application/problem+json")
	switch p.Status {
	case http.StatusUnauthorized:
		a = a.with("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		a = a.with("Retry-After", retryAfter)
	case http.StatusMethodNotAllowed:
		if e, ok := isMethodError(err); ok {
			a = a.with("Allow", e.allow)
		}
	}
	_ = a.encode() // plain strings and numbers always encode
	return a
}
