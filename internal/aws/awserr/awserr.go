// Package awserr maps errors of the AWS SDK to hook.Errors, independent of the
// service.
package awserr

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"surehook.example/surehook/internal/hook"
)

var errNoAnswer = errors.New("no answer in time")

// Call makes the request, the retries of the SDK included, within the timeout. An error is one of Of.
func Call[I, O, P any](
	ctx context.Context, timeout time.Duration, what string, request func(context.Context, I, ...func(P)) (O, error), in I,
) (O, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errNoAnswer)
	defer cancel()

	out, err := request(ctx, in)
	if err != nil {
		err = Of(ctx, err, what)
	}
	return out, err
}

// Of returns err, not nil, as a hook.Error:
//   - CodeUnavailable when ctx, the context of the call, has ended; the error then
//     includes the context's cause;
//   - CodeUnavailable when err is Retryable or Refused;
//   - CodeInternal in all other cases.
//
// what names the service in messages, for example "the queue".
func Of(ctx context.Context, err error, what string) error {
	if cause := context.Cause(ctx); cause != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: what + " did not answer", Err: errors.Join(cause, err)}
	}
	if Retryable(err) {
		return &hook.Error{Code: hook.CodeUnavailable, Message: what + " is not available", Err: err}
	}
	if Refused(err) {
		return &hook.Error{Code: hook.CodeUnavailable, Message: what + " is missing, disabled or not permitted", Err: err}
	}
	return &hook.Error{Code: hook.CodeInternal, Message: what + " refused the request", Err: err}
}

// Refused reports whether the resource of a request is missing, is disabled, or does not permit
// the request: somebody changed the deployment, and the request succeeds once that is undone.
func Refused(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "AccessDenied", "AccessDeniedException", "AuthorizationError", // the caller may not
		"NotFound", "NotFoundException", "ResourceNotFoundException", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", // is missing
		"DisabledException", "KMSInvalidStateException", // a key of ours
		"KmsAccessDenied", "KmsDisabled", "KmsInvalidState", "KmsNotFound", "KMSAccessDeniedException", "KMSDisabledException": // a key of the resource
		return true
	}
	return false
}

// Retryable reports whether the same request may succeed later. Retryable errors
// are the errors retried by the SDK (throttling, server faults, a broken
// connection), a truncated answer, and the end of a context.
func Retryable(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
