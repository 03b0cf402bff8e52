package sqs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

var _ status.Queues = (*Depths)(nil)

// Depths reads the depths of queues. The numbers of SQS are approximate and lag by up to a minute.
// Depths is safe for concurrent use.
type Depths struct {
	client *awssqs.Client
	urls   names.Queues[string]
}

// NewDepths returns a reader of the queues at the URLs.
func NewDepths(cfg aws.Config, urls names.Queues[string]) *Depths {
	return &Depths{client: awssqs.NewFromConfig(cfg), urls: urls}
}

// Depths makes one request for each queue. A failed one fails the call.
func (d *Depths) Depths(ctx context.Context) (depths names.Queues[status.Depth], err error) {
	read := depths.All()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for name, url := range d.urls.All() {
		group.Go(func() (err error) {
			if *read[name], err = readDepth(ctx, d.client, *url); err != nil {
				return fmt.Errorf("read depth of queue %s: %w", name, err)
			}
			return nil
		})
	}
	err = group.Wait()
	return depths, err
}

func readDepth(ctx context.Context, client *awssqs.Client, url string) (status.Depth, error) {
	var depth status.Depth
	counts := map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &depth.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &depth.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &depth.Delayed,
	}
	in := &awssqs.GetQueueAttributesInput{QueueUrl: aws.String(url)}
	for name := range counts {
		in.AttributeNames = append(in.AttributeNames, name)
	}
	out, err := awserr.Call(ctx, callTimeout, service, client.GetQueueAttributes, in)
	if err != nil {
		return status.Depth{}, err
	}
	for name, count := range counts {
		if *count, err = strconv.Atoi(out.Attributes[string(name)]); err != nil {
			return status.Depth{}, &hook.Error{Code: hook.CodeInternal, Message: "the queue reports no " + string(name), Err: err}
		}
	}
	return depth, nil
}
