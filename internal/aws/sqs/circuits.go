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

var _ gate.Attention = (*Circuits)(nil)

// Circuits asks the breaker, by messages, to look at endpoints. It is safe for
// concurrent use. Its messages are grouped by endpoint, as those of the lanes are.
type Circuits struct{ mailbox mailbox }

// NewCircuits returns what sends to the queue with the url.
func NewCircuits(cfg aws.Config, url string) *Circuits {
	return &Circuits{mailbox{awssqs.NewFromConfig(cfg), url}}
}

// Ask makes the breaker look at the endpoint after the delay, rounded up to
// whole seconds and cut to hook.MaxQueueDelay; one below 0 is none. CodeUnavailable if it
// may be asked another time.
func (c *Circuits) Ask(ctx context.Context, look hook.Look, delay time.Duration) error {
	body, err := look.Encode()
	if err != nil {
		return fmt.Errorf("ask for a look at %s: %w", look.Endpoint, err)
	}
	if err := c.mailbox.send(ctx, body, string(look.Endpoint), delay); err != nil {
		return fmt.Errorf("ask for a look at %s: %w", look.Endpoint, err)
	}
	return nil
}
