// Package scheduler holds tokens in one-time schedules of Amazon EventBridge
// Scheduler, beyond the longest delay of a queue.
//
// The package maps tokens to schedules. Callers choose the time, and function
// deliver receives the tokens from the retry lane. The contract of [Schedules] is
// documented at the port deliver.Schedules.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"surehook/internal/hook"
)

const (
	callTimeout = 10 * time.Second // per request, retries of the SDK included

	// Both values are the maximum of the service. The service retries a failed
	// target for a day, then sends the token to the stack's dead-letter queue.
	targetRetries = 185
	targetMaxAge  = 24 * 60 * 60 // seconds
)

// Config names the resources of a schedule.
type Config struct {
	Group         string // schedule group
	RoleARN       string // role with permission to send to target and dead-letter queue
	TargetARN     string // queue of the retry lane
	DeadLetterARN string // queue for tokens after all retries of the target
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
// time must be in the future. Delays of up to 15 minutes belong on a queue. A
// fired schedule is deleted.
//
// After CodeUnavailable, the caller may retry.
//
// The message has no MessageGroupId: EventBridge Scheduler supports the parameter
// for FIFO queues only. A fair queue treats the message as a group of its own.
func (s *Schedules) At(ctx context.Context, token hook.Token, at time.Time) error {
	body, err := token.Encode()
	if err != nil {
		return fmt.Errorf("schedule attempt %d of %s: %w", token.Attempt, token.Delivery, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	_, err = s.client.CreateSchedule(ctx, &awsscheduler.CreateScheduleInput{
		Name:                       aws.String(name(token)),
		GroupName:                  aws.String(s.cfg.Group),
		ScheduleExpression:         aws.String(expression(at)),
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
	if err != nil {
		return fmt.Errorf("schedule attempt %d of %s: %w", token.Attempt, token.Delivery, translate(ctx, err))
	}
	return nil
}

// name returns <delivery id>_<attempt>, followed by _<delays> for a delayed token,
// because the schedule of the previous delay may still exist. The limit of the
// service is 64 characters. Delays beyond 15 minutes are rare, so the number of
// delays stays small.
func name(token hook.Token) string {
	n := token.Delivery.String() + "_" + strconv.Itoa(token.Attempt)
	if token.Delays > 0 {
		n += "_" + strconv.Itoa(token.Delays)
	}
	return n
}

// expression returns the one-time expression of at, rounded up to a whole second.
func expression(at time.Time) string {
	return at.UTC().Add(time.Second - 1).Format("at(2006-01-02T15:04:05)")
}
