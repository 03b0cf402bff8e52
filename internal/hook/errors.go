package hook

import (
	"errors"
	"strings"
)

// Code says what kind of failure an error is, for whoever must decide what to do about it.
type Code uint8

// The codes. The zero Code is not valid.
const (
	CodeInvalid      Code = iota + 1 // the caller's input is wrong; sending it again cannot help
	CodeTooLarge                     // the caller's input is past a size limit
	CodeUnauthorized                 // the caller is unknown
	CodeForbidden                    // the caller is known and may not do this
	CodeNotFound                     // there is no such thing, or it is another tenant's
	CodeConflict                     // the thing's state or version does not allow this
	CodeInProgress                   // a conflict: the delivery to be replayed is not settled
	CodeReplayed                     // a conflict: the delivery to be replayed was replayed
	CodeThrottled                    // too many requests; try again later
	CodeUnavailable                  // something of ours did not answer; try again later
	CodeInternal                     // a fault of ours
)

// String returns the code as it appears in the API and in logs.
func (c Code) String() string {
	switch c {
	case CodeInvalid:
		return "invalid"
	case CodeTooLarge:
		return "too_large"
	case CodeUnauthorized:
		return "unauthorized"
	case CodeForbidden:
		return "forbidden"
	case CodeNotFound:
		return "not_found"
	case CodeConflict:
		return "conflict"
	case CodeInProgress:
		return "in_progress"
	case CodeReplayed:
		return "already_replayed"
	case CodeThrottled:
		return "throttled"
	case CodeUnavailable:
		return "unavailable"
	case CodeInternal:
		return "internal"
	}
	return "unknown"
}

// FieldError is one wrong field of an input. Field is the path in the JSON
// document, such as "retry.schedule[2]".
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is a failure with a code. Message is safe to show to the caller; Err,
// the cause, is for the log only.
type Error struct {
	Code    Code
	Message string
	Fields  []FieldError
	Err     error
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

// CodeOf returns the code of the first Error in err's tree; an error that is
// not ours is CodeInternal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// NotFound returns the error for a thing that does not exist or belongs to another tenant.
func NotFound(what string) *Error {
	return &Error{Code: CodeNotFound, Message: "no such " + what}
}

// Conflict returns the error for a state that does not allow what was asked.
func Conflict(message string) *Error {
	return &Error{Code: CodeConflict, Message: message}
}

// Invalid returns the error for wrong input, naming each wrong field.
func Invalid(fields ...FieldError) *Error {
	return &Error{Code: CodeInvalid, Message: "the request is not valid", Fields: fields}
}
