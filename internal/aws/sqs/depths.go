package sqs

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"surehook/internal/aws/awserr"
	"surehook/internal/hook"
)

// Depth is how many messages a queue has. SQS's numbers are approximate: they
// may lag up to a minute behind.
type Depth struct {
	Visible  int // to be received now
	InFlight int // received, and neither deleted nor shown again
	Delayed  int // held back until their time comes
}

// Depths reads how deep queues are. It is safe for concurrent use.
type Depths struct {
	client *awssqs.Client
}

// NewDepths returns what reads the depths of queues.
func NewDepths(cfg aws.Config) *Depths {
	return &Depths{client: awssqs.NewFromConfig(cfg)}
}

// Depths returns the depth of each queue, given as its URL under a name that is
// the caller's. One that does not answer is an error: CodeUnavailable if it may
// be asked again.
func (d *Depths) Depths(ctx context.Context, urls map[string]string) (map[string]Depth, error) {
	var (
		mu     sync.Mutex
		depths = make(map[string]Depth, len(urls))
	)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for name, url := range urls {
		group.Go(func() error {
			depth, err := readDepth(ctx, d.client, url)
			if err != nil {
				return fmt.Errorf("read depth of queue %s: %w", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			depths[name] = depth
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // it names the queue
	}
	return depths, nil
}

func readDepth(ctx context.Context, client *awssqs.Client, url string) (Depth, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	var depth Depth
	counts := map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &depth.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &depth.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &depth.Delayed,
	}
	in := &awssqs.GetQueueAttributesInput{QueueUrl: aws.String(url)}
	for name := range counts {
		in.AttributeNames = append(in.AttributeNames, name)
	}
	out, err := client.GetQueueAttributes(ctx, in)
	if err != nil {
		return Depth{}, awserr.Of(ctx, err, service)
	}
	for name, count := range counts {
		if *count, err = strconv.Atoi(out.Attributes[string(name)]); err != nil {
			return Depth{}, &hook.Error{Code: hook.CodeInternal, Message: "the queue does not say its " + string(name), Err: err}
		}
	}
	return depth, nil
}
