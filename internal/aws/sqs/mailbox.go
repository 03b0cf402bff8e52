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

// message is a message to send.
type message struct {
	body       string
	attributes map[string]string // texts, none empty
	group      string            // empty for none
	delay      time.Duration
}

// send sends the encoded message, without attributes. op names the operation in an error.
func (m mailbox) send(ctx context.Context, op string, encode func() (string, error), group string, delay time.Duration) error {
	body, err := encode()
	if err == nil {
		err = m.sendMessage(ctx, message{body: body, group: group, delay: delay})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// sendMessage sends the message with its delay, rounded up to whole seconds and cut to 0
// to hook.MaxQueueDelay.
//
// A delay of 0 is the default delay of the queue, so the queue's default must be 0.
func (m mailbox) sendMessage(ctx context.Context, message message) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	in := awssqs.SendMessageInput{
		QueueUrl:     aws.String(m.url),
		MessageBody:  aws.String(message.body),
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
	if _, err := m.client.SendMessage(ctx, &in); err != nil {
		return awserr.Of(ctx, err, service)
	}
	return nil
}

// receive makes one request for the wanted attributes of at most batchSize messages. On an
// empty queue, receive waits for receiveWait.
func (m mailbox) receive(ctx context.Context, wanted awssqs.ReceiveMessageInput) ([]types.Message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	wanted.QueueUrl, wanted.MaxNumberOfMessages = aws.String(m.url), batchSize
	wanted.VisibilityTimeout, wanted.WaitTimeSeconds = seconds(receiveVisibility), seconds(receiveWait)
	out, err := m.client.ReceiveMessage(ctx, &wanted)
	if err != nil {
		return nil, awserr.Of(ctx, err, service)
	}
	return out.Messages, nil
}

// removeAll removes at most batchSize received messages, of which what is the name in an error.
func removeAll[M any](ctx context.Context, m mailbox, what string, messages []M, receipt func(M) string) error {
	receipts := make([]string, len(messages))
	for i, message := range messages {
		receipts[i] = receipt(message)
	}
	if err := m.remove(ctx, receipts); err != nil {
		return fmt.Errorf("remove %s: %w", what, err)
	}
	return nil
}

// remove removes at most batchSize received messages. The error joins one error for each
// message still on the queue.
func (m mailbox) remove(ctx context.Context, receipts []string) error {
	if len(receipts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()

	entries := make([]types.DeleteMessageBatchRequestEntry, len(receipts))
	for i, receipt := range receipts {
		entries[i] = types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(receipt)}
	}
	out, err := m.client.DeleteMessageBatch(ctx, &awssqs.DeleteMessageBatchInput{QueueUrl: aws.String(m.url), Entries: entries})
	if err != nil {
		return fmt.Errorf("remove %d messages: %w", len(receipts), awserr.Of(ctx, err, service))
	}
	var errs []error
	for _, f := range out.Failed {
		errs = append(errs, fmt.Errorf("remove message %s of %d: %w", aws.ToString(f.Id), len(receipts), translateEntry(f)))
	}
	return errors.Join(errs...)
}
