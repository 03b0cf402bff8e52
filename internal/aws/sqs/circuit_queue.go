package sqs

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

var _ breaker.CircuitQueue = (*CircuitQueue)(nil)

// CircuitQueue sends circuit checks and review pages to the breaker. CircuitQueue is safe for
// concurrent use.
type CircuitQueue struct{ mailbox mailbox }

// NewCircuitQueue returns the circuit queue at the URL.
func NewCircuitQueue(cfg aws.Config, url string) *CircuitQueue {
	return &CircuitQueue{mailbox{awssqs.NewFromConfig(cfg), url}}
}

// Enqueue rounds the delay up to whole seconds. A delay below 0 is 0.
func (c *CircuitQueue) Enqueue(ctx context.Context, check hook.CircuitCheck, delay time.Duration) error {
	encode := hook.CircuitMessage{CircuitCheck: check}.Encode
	return c.mailbox.send(ctx, "enqueue circuit check of "+string(check.Endpoint), encode, message{group: string(check.Endpoint), delay: delay})
}

// EnqueueReview sends all pages in one message group, so that circuit checks do not
// wait behind the pages of a large review.
func (c *CircuitQueue) EnqueueReview(ctx context.Context, page hook.ReviewPage) error {
	encode := hook.CircuitMessage{Review: &page}.Encode
	return c.mailbox.send(ctx, fmt.Sprintf("enqueue review of %d endpoints", len(page.Endpoints)), encode, message{group: "review"})
}
