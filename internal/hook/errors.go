package hook

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is the kind of an error. Callers decide by it.
type Code uint8

// The codes. The zero Code is not valid.
const (
	CodeInvalid       Code = iota + 1 // wrong input; repeating the call cannot help
	CodeMismatch                      // an event that does not fit its event type
	CodeUnverified                    // the receiver of a URL did not confirm that the endpoint is its own
	CodeTooLarge                      // input past a size limit
	CodeUnsupported                   // a body in a form that Surehook does not read
	CodeUnauthorized                  // unknown caller
	CodeForbidden                     // known caller without permission, or past a limit
	CodeLoop                          // a request that Surehook sent to itself
	CodeNotFound                      // no such resource, or the resource of another tenant
	CodeConflict                      // the state of the resource forbids the operation, or another writer came first
	CodeStale                         // the resource does not have the version that the caller requires
	CodeInProgress                    // a conflict: the delivery to replay is not settled
	CodeReplayed                      // a conflict: the delivery was already replayed
	CodeTenantClosing                 // a conflict: the tenant is being erased
	CodeThrottled                     // too many requests; try again later
	CodeUnavailable                   // a dependency did not respond; try again later
	CodeInternal                      // a fault in Surehook
)

// String returns the code as it appears in the API and in logs.
func (c Code) String() string {
	return Names[Code]{
		CodeInvalid: "invalid", CodeMismatch: "event_type_mismatch", CodeUnverified: "url_not_verified", CodeTooLarge: "too_large", CodeUnsupported: "unsupported_media_type",
		CodeUnauthorized: "unauthorized", CodeForbidden: "forbidden", CodeLoop: "loop", CodeNotFound: "not_found",
		CodeConflict: "conflict", CodeStale: "precondition_failed", CodeInProgress: "in_progress",
		CodeReplayed: "already_replayed", CodeTenantClosing: "tenant_closing", CodeThrottled: "throttled",
		CodeUnavailable: "unavailable", CodeInternal: "internal",
	}.Of(c)
}

// FieldError is a wrong field of an input. Field is the path in the JSON
// document, such as "retry.schedule[2]".
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is a failure with a code. Message and Fields are safe for API responses.
// Err is the cause, for logs only.
type Error struct {
	Code    Code
	Message string
	Fields  []FieldError
	Err     error
	// RetryAfter is how long to wait until the call can succeed; 0: unknown.
	RetryAfter time.Duration
}

// Error returns the message, the fields and the cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for _, f := range e.Fields {
		b.WriteString("; " + f.Field + ": " + f.Message)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in the tree of err, and
// CodeInternal for all other errors.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// NotFound returns the error for a missing resource, and for a resource of another tenant.
func NotFound(resource string) *Error {
	return &Error{Code: CodeNotFound, Message: "no such " + resource}
}

// Conflict returns the error for an operation that the state or version of a resource forbids.
func Conflict(message string) *Error {
	return &Error{Code: CodeConflict, Message: message}
}

// OverLimit returns the error for an operation past a limit; the message names the limit.
func OverLimit(message string) *Error {
	return &Error{Code: CodeForbidden, Message: message}
}

// TooManyForURL returns the error for an endpoint past MaxEndpointsPerURL.
func TooManyForURL() *Error {
	return OverLimit(fmt.Sprintf("a tenant has at most %d endpoints with one URL", MaxEndpointsPerURL))
}

// TooManyForHost returns the error for an endpoint past most, the limit of a tenant's
// endpoints with one host.
func TooManyForHost(most int) *Error {
	return OverLimit(fmt.Sprintf("a tenant has at most %d endpoints with one host", most))
}

// PayloadTooLarge returns the error for an event with a payload past MaxPayload.
func PayloadTooLarge() *Error {
	return &Error{Code: CodeTooLarge, Message: "the event is too large", Fields: []FieldError{
		{Field: "payload", Message: fmt.Sprintf("must be at most %d bytes", MaxPayload)},
	}}
}

// TenantChanged returns the error for a write that requires another version of the tenant.
func TenantChanged() *Error {
	return Conflict("the endpoints of the tenant are being changed by others; try again")
}

// Invalid returns the error for wrong input, with the wrong fields.
func Invalid(fields ...FieldError) *Error {
	return &Error{Code: CodeInvalid, Message: "the request is not valid", Fields: fields}
}
