package scheduler

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"surehook/internal/hook"
)

var errNoAnswer = errors.New("EventBridge Scheduler did not answer in time")

// translate turns an error of the SDK into ours: CodeUnavailable for what the
// SDK itself holds worth retrying (throttling, server faults, a broken
// connection), for a full quota, which empties as schedules fire, and for a
// context that ended; CodeInternal for the rest.
func translate(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the scheduler did not answer", Err: errors.Join(cause, err)}
	}
	_, full := errors.AsType[*types.ServiceQuotaExceededException](err)
	if full || retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the scheduler is not available", Err: err}
	}
	return &hook.Error{Code: hook.CodeInternal, Message: "the scheduler refused the request", Err: err}
}
