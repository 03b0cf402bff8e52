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

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

// Depth is the number of messages of a queue. The numbers of SQS are approximate
// and lag by up to a minute.
type Depth struct {
	Visible  int // ready to be received
	InFlight int // received and hidden
	Delayed  int // not yet visible for the first time
}

// Depths reads the depths of queues. Depths is safe for concurrent use.
type Depths struct {
	client *awssqs.Client
}

// NewDepths returns a reader of the account's queues.
func NewDepths(cfg aws.Config) *Depths {
	return &Depths{client: awssqs.NewFromConfig(cfg)}
}

// Depths returns the depth of each queue. urls maps a name, chosen by the caller,
// to the URL of the queue. A failed request for one queue fails the call.
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
		return nil, err
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
			return Depth{}, &hook.Error{Code: hook.CodeInternal, Message: "the queue reports no " + string(name), Err: err}
		}
	}
	return depth, nil
}
