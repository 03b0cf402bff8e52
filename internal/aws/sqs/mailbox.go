package sqs

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook/internal/aws/awserr"
	"surehook/internal/hook"
)

// mailbox sends single messages to one queue.
type mailbox struct {
	client *awssqs.Client
	url    string
}

// send sends the message with the delay, rounded up to whole seconds and cut to 0
// to hook.MaxQueueDelay.
//
// A delay of 0 is the default delay of the queue, so the queue's default must be 0.
func (m mailbox) send(ctx context.Context, body, group string, delay time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	_, err := m.client.SendMessage(ctx, &awssqs.SendMessageInput{
		QueueUrl:       aws.String(m.url),
		MessageBody:    aws.String(body),
		MessageGroupId: aws.String(group),
		DelaySeconds:   seconds(min(max(delay, 0), hook.MaxQueueDelay)),
	})
	if err != nil {
		return awserr.Of(ctx, err, service)
	}
	return nil
}
