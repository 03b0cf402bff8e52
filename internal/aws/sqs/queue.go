// Package sqs sends tasks, dead letters, circuit checks and replay jobs on Amazon
// SQS, receives dead letters, and reads the depths of queues.
//
// Lambda receives from the other queues. The contracts of the types are
// documented at the ports in internal/delivery.
//
// # Message groups
//
// Every message carries a MessageGroupId: hook.Task.Group for tasks, the endpoint for
// dead letters and circuit checks, and the tenant for replay jobs. Group ids turn a standard queue into a fair queue: a group with
// many or slow messages does not delay the messages of other groups.
//
// # Errors
//
// All errors wrap a hook.Error. After CodeUnavailable, the caller may retry.
package sqs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

const (
	batchSize   = 10               // messages per request, the limit of SQS
	concurrency = 8                // concurrent requests of one Send
	callTimeout = 10 * time.Second // per request, retries of the SDK included

	service = "the queue" // in errors
)

var errNoAnswer = errors.New("SQS did not answer in time")

// URLs has the URLs of the task queues. Unused ones may be absent.
type URLs map[hook.Queue]string

// TaskQueues sends tasks to their queues. TaskQueues is safe for concurrent use.
type TaskQueues struct {
	// Wait blocks for d. Wait returns an error when ctx ends first.
	Wait store.Wait
	// Rand returns a value in [0, 1) for the jitter of retries.
	Rand func() float64

	client *awssqs.Client
	urls   URLs
}

// New returns the task queues at urls.
func New(cfg aws.Config, urls URLs) *TaskQueues {
	return &TaskQueues{
		Wait:   store.RealWait,
		Rand:   rand.Float64,
		client: awssqs.NewFromConfig(cfg),
		urls:   urls,
	}
}

// Send sends batches of 10 tasks, at most 8 batches at once. Send retries
// rejected messages up to 3 times, unless SQS reports a fault of the sender.
//
// A delay of 0 is the default delay of the queue, so the queue's default must be 0.
func (q *TaskQueues) Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error {
	if len(tasks) == 0 {
		return nil
	}
	errs := make([]error, len(tasks))
	to, err := q.route(queue, delay)
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}

	var group errgroup.Group
	group.SetLimit(concurrency)
	for start := 0; start < len(tasks); start += batchSize {
		end := min(start+batchSize, len(tasks))
		b := batch{queue: q, to: to, tasks: tasks[start:end], errs: errs[start:end]}
		group.Go(func() error {
			b.send(ctx)
			return nil // each task has its own error
		})
	}
	_ = group.Wait()

	if slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		return errs
	}
	return nil
}

// Visible makes one request. The number lags by up to a minute.
func (q *TaskQueues) Visible(ctx context.Context, queue hook.Queue) (int, error) {
	to, err := q.route(queue, 0)
	if err != nil {
		return 0, err
	}
	depth, err := readDepth(ctx, q.client, to.url)
	if err != nil {
		return 0, fmt.Errorf("read depth of the %s queue: %w", queue, err)
	}
	return depth.Visible, nil
}

// route is the queue and the delay of one Send.
type route struct {
	queue hook.Queue
	url   string
	delay int32 // seconds
}

func (q *TaskQueues) route(queue hook.Queue, delay time.Duration) (route, error) {
	to := route{queue: queue, url: q.urls[queue]}
	if to.url == "" {
		return to, &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("the %s queue has no URL", queue)}
	}
	if delay < 0 || delay > hook.MaxQueueDelay {
		return to, &hook.Error{Code: hook.CodeInternal, Message: fmt.Sprintf("delay %s is out of range 0 to %s", delay, hook.MaxQueueDelay)}
	}
	to.delay = seconds(delay)
	return to, nil
}

// seconds returns the delay in whole seconds, rounded up. The delay is at most
// hook.MaxQueueDelay.
func seconds(delay time.Duration) int32 {
	return int32((delay + time.Second - 1) / time.Second) //nolint:gosec // at most 900
}
