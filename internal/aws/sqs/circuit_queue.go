package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

var _ gate.CircuitQueue = (*CircuitQueue)(nil)

// CircuitQueue asks the breaker, by messages, to look at endpoints. It is safe for
// concurrent use. Its messages are grouped by endpoint, as those of the lanes are.
type CircuitQueue struct{ mailbox mailbox }

// NewCircuitQueue returns what sends to the queue with the url.
func NewCircuitQueue(cfg aws.Config, url string) *CircuitQueue {
	return &CircuitQueue{mailbox{awssqs.NewFromConfig(cfg), url}}
}

// Enqueue makes the breaker look at the endpoint after the delay, rounded up to
// whole seconds and cut to hook.MaxQueueDelay; one below 0 is none. CodeUnavailable if it
// may be asked another time.
func (c *CircuitQueue) Enqueue(ctx context.Context, look hook.CircuitCheck, delay time.Duration) error {
	body, err := look.Encode()
	if err != nil {
		return fmt.Errorf("ask for a look at %s: %w", look.Endpoint, err)
	}
	if err := c.mailbox.send(ctx, body, string(look.Endpoint), delay); err != nil {
		return fmt.Errorf("ask for a look at %s: %w", look.Endpoint, err)
	}
	return nil
}
