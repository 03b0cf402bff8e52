package sqs

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

var _ breaker.DeadLetters = (*DeadLetters)(nil)

// DeadLetters is the dead-letter queue. DeadLetters is safe for concurrent use.
type DeadLetters struct{ mailbox mailbox }

// NewDeadLetters returns the dead-letter queue at the URL.
func NewDeadLetters(cfg aws.Config, url string) *DeadLetters {
	return &DeadLetters{mailbox{awssqs.NewFromConfig(cfg), url}}
}

// Send sends one message.
func (d *DeadLetters) Send(ctx context.Context, letter hook.DeadLetter) error {
	return d.mailbox.send(ctx, "send dead letter of "+letter.Delivery.String(), letter.Encode, message{group: string(letter.Endpoint)})
}

// Receive makes one request. On an empty queue, Receive waits one second for a
// message.
func (d *DeadLetters) Receive(ctx context.Context) ([]breaker.Letter, error) {
	received, err := d.mailbox.receive(ctx, awssqs.ReceiveMessageInput{})
	if err != nil {
		return nil, fmt.Errorf("receive dead letters: %w", err)
	}
	letters := make([]breaker.Letter, len(received))
	for i, m := range received {
		letters[i] = breaker.Letter{ID: aws.ToString(m.MessageId), Receipt: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body)}
	}
	return letters, nil
}

// Depth makes one request. The numbers of SQS lag by up to a minute.
func (d *DeadLetters) Depth(ctx context.Context) (int, error) {
	depth, err := readDepth(ctx, d.mailbox.client, d.mailbox.url)
	if err != nil {
		return 0, fmt.Errorf("read depth of the dead letters: %w", err)
	}
	return depth.Visible + depth.InFlight, nil
}

// Remove makes one request. The error joins one error for each letter still on the
// queue.
func (d *DeadLetters) Remove(ctx context.Context, letters []breaker.Letter) error {
	return removeAll(ctx, d.mailbox, "dead letters", letters, func(l breaker.Letter) string { return l.Receipt })
}
