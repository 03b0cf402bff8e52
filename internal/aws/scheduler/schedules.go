// Package scheduler keeps tokens that are due later than a queue can delay, as
// one-time schedules of Amazon EventBridge Scheduler.
//
// It knows how a token becomes a schedule. It knows nothing of why the token
// waits, and nothing of what happens to it on the retry lane.
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
	callTimeout = 10 * time.Second // of one request, the SDK's own retries included

	// The most that the service allows: a token that cannot be put on the lane
	// is tried for a day before it goes to the dead-letter queue of the stack.
	targetRetries = 185
	targetMaxAge  = 24 * 60 * 60 // seconds
)

// Config names what a schedule needs.
type Config struct {
	Group         string // schedule group
	RoleARN       string // role that may send to target and dead-letter queue
	TargetARN     string // queue of the retry lane
	DeadLetterARN string // queue for tokens that cannot be put on the lane
}

// Schedules plans tokens. It is safe for concurrent use.
type Schedules struct {
	client *awsscheduler.Client
	cfg    Config
}

// New returns the schedules of the group.
func New(cfg aws.Config, c Config) *Schedules {
	return &Schedules{client: awsscheduler.NewFromConfig(cfg), cfg: c}
}

// At puts the token on the retry lane at the time given, rounded up to a whole
// second; the service adds up to a minute. There is one schedule per delivery
// and attempt: if it exists, that is success. It goes away when it has fired.
//
// The time must be in the future; what a queue can delay should be given to the queue.
//
// The message has no MessageGroupId, which the target's parameters offer for
// FIFO queues only. A fair queue treats such a message as a group of its own.
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

// name returns <delivery id>_<attempt>, and _<delays> for a token that the gate
// sent back: the schedule that brought it may still be there. An attempt is
// delayed so seldom by more than a queue can hold that the name stays within
// the 64 characters that it may have.
func name(token hook.Token) string {
	n := token.Delivery.String() + "_" + strconv.Itoa(token.Attempt)
	if token.Delays > 0 {
		n += "_" + strconv.Itoa(token.Delays)
	}
	return n
}

// expression returns the one-time expression of the first whole second that is not before at.
func expression(at time.Time) string {
	return at.UTC().Add(time.Second - 1).Format("at(2006-01-02T15:04:05)")
}
