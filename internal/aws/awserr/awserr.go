// Package awserr says what an error of the AWS SDK means to those who called: it
// may be tried again, or it is a fault of ours. It knows no service.
package awserr

import (
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"surehook/internal/hook"
)

// Of returns err, which is not nil, as a hook.Error: CodeUnavailable when ctx,
// that of the call, has ended, whose cause then is part of the error, and when
// err is Retryable; CodeInternal for the rest. what names the service in the
// messages: "the queue".
func Of(ctx context.Context, err error, what string) error {
	if cause := context.Cause(ctx); cause != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: what + " did not answer", Err: errors.Join(cause, err)}
	}
	if Retryable(err) {
		return &hook.Error{Code: hook.CodeUnavailable, Message: what + " is not available", Err: err}
	}
	return &hook.Error{Code: hook.CodeInternal, Message: what + " refused the request", Err: err}
}

// Retryable reports whether the same request may succeed later: what the SDK
// itself holds worth retrying (throttling, server faults, a broken connection),
// an answer that broke off, and a context that ended.
func Retryable(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}
