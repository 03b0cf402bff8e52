package sqs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

const (
	// receiveVisibility hides received messages from other receivers.
	receiveVisibility = time.Minute
	// receiveWait makes SQS query all servers. A request without a wait queries only some of
	// them, and may return nothing although there are messages.
	receiveWait = time.Second
)

// mailbox sends single messages to one queue, and receives and removes messages.
type mailbox struct {
	client *awssqs.Client
	url    string
}

// message is a message to send, besides its body.
type message struct {
	attributes map[string]string // texts, none empty
	group      string            // empty for none
	delay      time.Duration
}

// send sends the message with the encoded body, and with its delay, rounded up to whole seconds and
// cut to 0 to hook.MaxQueueDelay. op names the operation in an error.
//
// A delay of 0 is the default delay of the queue, so the queue's default must be 0.
func (m mailbox) send(ctx context.Context, op string, encode func() (string, error), message message) error {
	body, err := encode()
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	in := awssqs.SendMessageInput{
		QueueUrl:     aws.String(m.url),
		MessageBody:  aws.String(body),
		DelaySeconds: seconds(min(max(message.delay, 0), hook.MaxQueueDelay)),
	}
	if message.group != "" {
		in.MessageGroupId = aws.String(message.group)
	}
	if len(message.attributes) > 0 {
		in.MessageAttributes = make(map[string]types.MessageAttributeValue, len(message.attributes))
		for name, value := range message.attributes {
			in.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
		}
	}
	if _, err := awserr.Call(ctx, callTimeout, service, m.client.SendMessage, &in); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// receive makes one request for the wanted attributes of at most batchSize messages. On an
// empty queue, receive waits for receiveWait.
func (m mailbox) receive(ctx context.Context, wanted awssqs.ReceiveMessageInput) ([]types.Message, error) {
	wanted.QueueUrl, wanted.MaxNumberOfMessages = aws.String(m.url), batchSize
	wanted.VisibilityTimeout, wanted.WaitTimeSeconds = seconds(receiveVisibility), seconds(receiveWait)
	out, err := awserr.Call(ctx, callTimeout, service, m.client.ReceiveMessage, &wanted)
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// removeAll removes at most batchSize received messages, of which what is the name in an error. The error
// joins one error for each message still on the queue.
func removeAll[M any](ctx context.Context, m mailbox, what string, messages []M, receipt func(M) string) error {
	if len(messages) == 0 {
		return nil
	}
	entries := make([]types.DeleteMessageBatchRequestEntry, len(messages))
	for i, message := range messages {
		entries[i] = types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(receipt(message))}
	}
	in := &awssqs.DeleteMessageBatchInput{QueueUrl: aws.String(m.url), Entries: entries}
	out, err := awserr.Call(ctx, callTimeout, service, m.client.DeleteMessageBatch, in)
	if err != nil {
		return fmt.Errorf("remove %d %s: %w", len(messages), what, err)
	}
	var errs []error
	for _, f := range out.Failed {
		errs = append(errs, fmt.Errorf("remove %s: message %s of %d: %w", what, aws.ToString(f.Id), len(messages), translateEntry(f)))
	}
	return errors.Join(errs...)
}
