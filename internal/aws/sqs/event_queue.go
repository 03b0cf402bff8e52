package sqs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/delivery/source"
)

var (
	_ source.Queue = (*EventQueue)(nil)
	_ reject.Queue = (*EventQueue)(nil)
)

// EventQueue is the queue of events, and the queue of rejects. EventQueue is safe for
// concurrent use.
type EventQueue struct {
	events, rejects mailbox
}

// NewEventQueue returns the queues at the URLs.
func NewEventQueue(cfg aws.Config, events, rejects string) *EventQueue {
	client := awssqs.NewFromConfig(cfg)
	return &EventQueue{mailbox{client, events}, mailbox{client, rejects}}
}

// Return sends the message to the events queue.
func (q *EventQueue) Return(ctx context.Context, m source.Message, group string, delay time.Duration) error {
	return q.events.send(ctx, "send event", bodyOf(m), message{m.Attributes, group, delay})
}

// Reject sends the message to the rejects.
func (q *EventQueue) Reject(ctx context.Context, m source.Message) error {
	return q.rejects.send(ctx, "send reject", bodyOf(m), message{attributes: m.Attributes})
}

// bodyOf is the encoder of a message that has its body.
func bodyOf(m source.Message) func() (string, error) {
	return func() (string, error) { return m.Body, nil }
}

// Receive makes one request. On an empty queue, Receive waits one second for a message.
func (q *EventQueue) Receive(ctx context.Context) ([]source.Message, error) {
	received, err := q.rejects.receive(ctx, awssqs.ReceiveMessageInput{
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameSentTimestamp},
	})
	if err != nil {
		return nil, fmt.Errorf("receive rejects: %w", err)
	}
	messages := make([]source.Message, len(received))
	for i, m := range received {
		attributes := make(map[string]string, len(m.MessageAttributes))
		for name, value := range m.MessageAttributes {
			attributes[name] = aws.ToString(value.StringValue)
		}
		sent, _ := strconv.ParseInt(m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)], 10, 64) // SQS's own
		messages[i] = source.Message{
			ID: aws.ToString(m.MessageId), Body: aws.ToString(m.Body), Attributes: attributes, SentAt: time.UnixMilli(sent), Receipt: aws.ToString(m.ReceiptHandle),
		}
	}
	return messages, nil
}

// Release makes one request for ten messages. The error joins one error for each message that stays hidden.
func (q *EventQueue) Release(ctx context.Context, messages []source.Message) error {
	after := make(map[string]time.Duration, len(messages))
	for _, m := range messages {
		after[m.Receipt] = 0
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)
	defer cancel()
	return changeVisibility(ctx, q.rejects.client, q.rejects.url, after)
}

// Remove makes one request, for at most ten messages. The error joins one error for each
// message still on the queue.
func (q *EventQueue) Remove(ctx context.Context, messages []source.Message) error {
	return removeAll(ctx, q.rejects, "rejects", messages, func(m source.Message) string { return m.Receipt })
}
