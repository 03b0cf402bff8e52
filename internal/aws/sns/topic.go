// Package sns publishes operational events to an Amazon SNS topic.
//
// The contract of [Topic] is documented at the port notify.Topic.
package sns

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/delivery/notify"
)

var _ notify.Topic = (*Topic)(nil)

// callTimeout bounds one call, retries of the SDK included.
const callTimeout = 5 * time.Second

// typeAttribute is the message attribute by which subscriptions can filter. CloudWatch alarms on
// the same topic do not have it.
const typeAttribute = "type"

// Topic publishes to one SNS topic. Topic is safe for concurrent use.
type Topic struct {
	client *awssns.Client
	arn    string
}

// New returns the topic with the ARN.
func New(cfg aws.Config, arn string) *Topic {
	return &Topic{client: awssns.NewFromConfig(cfg), arn: arn}
}

// Publish sends the message with eventType as subject and as message attribute.
// After CodeUnavailable, the caller may retry.
func (t *Topic) Publish(ctx context.Context, eventType string, message []byte) error {
	_, err := awserr.Call(ctx, callTimeout, "the topic", t.client.Publish, &awssns.PublishInput{
		TopicArn: aws.String(t.arn),
		Subject:  aws.String(eventType),
		Message:  aws.String(string(message)),
		MessageAttributes: map[string]types.MessageAttributeValue{
			typeAttribute: {DataType: aws.String("String"), StringValue: aws.String(eventType)},
		},
	})
	if err != nil {
		return fmt.Errorf("publish %s: %w", eventType, err)
	}
	return nil
}
