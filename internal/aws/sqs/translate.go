package sqs

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook/internal/hook"
)

var errNoAnswer = errors.New("SQS did not answer in time")

// translate turns an error of the SDK into ours: CodeUnavailable for what the
// SDK itself holds worth retrying (throttling, server faults, a broken
// connection) and for a context that ended, CodeInternal for the rest.
func translate(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the queue did not answer", Err: errors.Join(cause, err)}
	}
	if retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the queue is not available", Err: err}
	}
	return &hook.Error{Code: hook.CodeInternal, Message: "the queue refused the request", Err: err}
}

// translateEntry is translate for one message of a batch.
func translateEntry(f types.BatchResultErrorEntry) error {
	e := &hook.Error{
		Code:    hook.CodeUnavailable,
		Message: "the queue did not take the message",
		Err:     fmt.Errorf("code %q: %s", aws.ToString(f.Code), aws.ToString(f.Message)),
	}
	if f.SenderFault {
		e.Code = hook.CodeInternal
	}
	return e
}
