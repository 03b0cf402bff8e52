package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/localstack/tools/picture"
)

// depths reads the queue depths from SQS, as CloudWatch shows them.
type depths struct {
	stack  *stack.Stack
	values *picture.Values
}

// take records each queue's number of waiting messages.
func (d depths) take(ctx context.Context) error {
	client := sqs.NewFromConfig(d.stack.AWS)
	queues, err := client.ListQueues(ctx, &sqs.ListQueuesInput{})
	if err != nil {
		return fmt.Errorf("list the queues: %w", err)
	}
	const visible = types.QueueAttributeNameApproximateNumberOfMessages
	for _, url := range queues.QueueUrls {
		got, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{visible}})
		if err != nil {
			return fmt.Errorf("read the depth of %s: %w", url, err)
		}
		waiting, err := strconv.ParseFloat(got.Attributes[string(visible)], 64)
		if err != nil {
			return fmt.Errorf("read the depth of %s: %w", url, err)
		}
		name := url[strings.LastIndex(url, "/")+1:]
		d.values.Add("AWS/SQS", "ApproximateNumberOfMessagesVisible", map[string]string{"QueueName": name}, time.Now().UTC(), waiting)
	}
	return nil
}

// queueNames returns the names of the stack's queues by logical id.
func queueNames(ctx context.Context, s *stack.Stack) (map[string]string, error) {
	names := map[string]string{}
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(s.AWS), &cloudformation.ListStackResourcesInput{StackName: aws.String(stack.Name)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the resources of %s: %w", stack.Name, err)
		}
		for _, r := range page.StackResourceSummaries {
			if aws.ToString(r.ResourceType) == "AWS::SQS::Queue" {
				url := aws.ToString(r.PhysicalResourceId)
				names[aws.ToString(r.LogicalResourceId)] = url[strings.LastIndex(url, "/")+1:]
			}
		}
	}
	return names, nil
}
