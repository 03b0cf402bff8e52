package scheduler

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

var errNoAnswer = errors.New("EventBridge Scheduler did not answer in time")

// translate is awserr.Of, except that an exhausted quota is CodeUnavailable, because schedules
// that fire free the quota.
func translate(ctx context.Context, err error) error {
	if _, full := errors.AsType[*types.ServiceQuotaExceededException](err); full {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "the scheduler is full", Err: err}
	}
	return awserr.Of(ctx, err, "the scheduler")
}
