// Package scheduler holds tasks in one-time schedules of Amazon EventBridge
// Scheduler, beyond the longest delay of a queue.
//
// The package maps tasks to schedules. Callers choose the time, and function
// deliver receives the tasks from the retry queue. The contract of [Schedules] is
// documented at the port settle.Schedules.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

var _ settle.Schedules = (*Schedules)(nil)

const (
	callTimeout = 10 * time.Second // per request, retries of the SDK included

	// Both values are the maximum of the service. It retries a failed target for up to a day, and
	// then sends the task to DeadLetterARN.
	targetRetries = 185
	targetMaxAge  = 24 * 60 * 60 // seconds
)

// Config names the resources of a schedule.
type Config struct {
	Group         string // schedule group
	RoleARN       string // role that may send to both queues
	TargetARN     string // ARN of the retry queue
	DeadLetterARN string // queue for tasks that the target did not take
}

// Schedules creates schedules. Schedules is safe for concurrent use.
type Schedules struct {
	client *awsscheduler.Client
	cfg    Config
}

// New returns the schedules of the group in c.
func New(cfg aws.Config, c Config) *Schedules {
	return &Schedules{client: awsscheduler.NewFromConfig(cfg), cfg: c}
}

// At rounds the time up to a whole second; the service adds up to a minute. The
// time must be in the future. Delays of up to 15 minutes belong on a queue.
//
// A name is taken until the schedule is deleted, some minutes after it fired. Names
// contain the time, and the time is in the future, so a conflict means that the same
// schedule exists and has not fired: At then succeeds.
//
// After CodeUnavailable, the caller may retry.
//
// The message has no MessageGroupId, because EventBridge Scheduler supports it only
// for FIFO queues. A fair queue treats the message as a group of its own.
func (s *Schedules) At(ctx context.Context, task hook.Task, at time.Time) error {
	body, err := task.Encode()
	if err != nil {
		return fmt.Errorf("schedule attempt %d of %s: %w", task.Attempt, task.Delivery, err)
	}
	at = wholeSecond(at)
	_, err = awserr.Call(ctx, callTimeout, "the scheduler", s.client.CreateSchedule, &awsscheduler.CreateScheduleInput{
		Name:                       aws.String(settle.ScheduleName(task, at)),
		GroupName:                  aws.String(s.cfg.Group),
		ScheduleExpression:         aws.String(at.Format("at(2006-01-02T15:04:05)")),
		ScheduleExpressionTimezone: aws.String("UTC"),
		FlexibleTimeWindow:         &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		ActionAfterCompletion:      types.ActionAfterCompletionDelete,
		Target: &types.Target{
			Arn:              aws.String(s.cfg.TargetARN),
			RoleArn:          aws.String(s.cfg.RoleARN),
			Input:            aws.String(body),
			DeadLetterConfig: &types.DeadLetterConfig{Arn: aws.String(s.cfg.DeadLetterARN)},
			RetryPolicy: &types.RetryPolicy{
				MaximumRetryAttempts:     aws.Int32(targetRetries),
				MaximumEventAgeInSeconds: aws.Int32(targetMaxAge),
			},
		},
	})
	if _, exists := errors.AsType[*types.ConflictException](err); exists {
		return nil
	}
	if _, full := errors.AsType[*types.ServiceQuotaExceededException](err); full { // schedules that fire free the quota
		err = &hook.Error{Code: hook.CodeUnavailable, Message: "the scheduler is full", Err: err}
	}
	if err != nil {
		return fmt.Errorf("schedule attempt %d of %s: %w", task.Attempt, task.Delivery, err)
	}
	return nil
}

// wholeSecond rounds the time up to a whole second of UTC.
func wholeSecond(at time.Time) time.Time {
	return at.UTC().Add(time.Second - 1).Truncate(time.Second)
}
