// Package sqs carries tokens, dead letters, looks and replay jobs on Amazon SQS.
//
// It knows how to put messages on queues and what to do when a part of a batch
// does not go, how to look through the dead letters, and how deep queues are.
// It knows nothing of receiving from the others, which Lambda does, and nothing
// of what a token means.
package sqs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"surehook/internal/hook"
)

const (
	batchSize   = 10               // messages, the most that SQS takes in one request
	concurrency = 8                // requests of one Send under way at once
	callTimeout = 10 * time.Second // of one request, the SDK's own retries included

	service = "the queue" // in errors
)

var errNoAnswer = errors.New("SQS did not answer in time")

// URLs names the queues. One that its function never sends to may be empty.
type URLs struct {
	Live   string
	Retry  string
	Replay string
}

// Queue sends tokens to the lanes. It is safe for concurrent use.
//
// Every message carries its endpoint's id as MessageGroupId, which makes a
// standard queue a fair one: an endpoint with many messages, or slow ones,
// does not make those of the others wait.
type Queue struct {
	// Wait blocks for d, or returns an error if ctx ends first.
	Wait func(ctx context.Context, d time.Duration) error
	// Rand returns a value in [0, 1), for the jitter of retries.
	Rand func() float64

	client *awssqs.Client
	urls   URLs
}

// New returns the queue that sends to urls.
func New(cfg aws.Config, urls URLs) *Queue {
	return &Queue{
		Wait:   wait,
		Rand:   rand.Float64,
		client: awssqs.NewFromConfig(cfg),
		urls:   urls,
	}
}

// Send puts the tokens on the lane, to be received after the delay: 0 to
// hook.MaxQueueDelay, rounded up to whole seconds. It returns nil when the queue has
// them all, else one entry per token: nil for those it has, CodeUnavailable
// for those that may go another time.
//
// A delay of 0 leaves the choice to the queue, whose own default must be 0.
func (q *Queue) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	if len(tokens) == 0 {
		return nil
	}
	errs := make([]error, len(tokens))
	to, err := q.destination(lane, delay)
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}

	var group errgroup.Group
	group.SetLimit(concurrency)
	for start := 0; start < len(tokens); start += batchSize {
		end := min(start+batchSize, len(tokens))
		b := batch{queue: q, to: to, tokens: tokens[start:end], errs: errs[start:end]}
		group.Go(func() error {
			b.send(ctx)
			return nil // each token has its own error
		})
	}
	_ = group.Wait()

	for _, err := range errs {
		if err != nil {
			return errs
		}
	}
	return nil
}

// destination is where and when the messages of one Send go.
type destination struct {
	lane  hook.Lane
	url   string
	delay int32 // seconds
}

func (q *Queue) destination(lane hook.Lane, delay time.Duration) (destination, error) {
	to := destination{lane: lane}
	switch lane {
	case hook.LaneLive:
		to.url = q.urls.Live
	case hook.LaneRetry:
		to.url = q.urls.Retry
	case hook.LaneReplay:
		to.url = q.urls.Replay
	}
	if to.url == "" {
		return to, &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("the %s lane has no queue", lane)}
	}
	if delay < 0 || delay > hook.MaxQueueDelay {
		return to, &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("a delay of %s is not within 0 to %s", delay, hook.MaxQueueDelay)}
	}
	to.delay = seconds(delay)
	return to, nil
}

// seconds returns the delay, at most hook.MaxQueueDelay, as SQS takes it: rounded up.
func seconds(delay time.Duration) int32 {
	return int32((delay + time.Second - 1) / time.Second) //nolint:gosec // at most 900
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-ctx.Done():
		return fmt.Errorf("wait %s: %w", d, context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}
