package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/hook"
)

// reconciler reconciles and reviews endpoints.
type reconciler interface {
	Reconcile(ctx context.Context, check hook.CircuitCheck) error
	Tick(ctx context.Context) error
	Review(ctx context.Context) error
	ReviewPage(ctx context.Context, page hook.ReviewPage) error
	ReconcileDeadLetters(ctx context.Context) error
	Sweep(ctx context.Context) error
}

type handler struct {
	breaker reconciler
	batches lambdafn.Batches
}

// input is an event of the function: a batch of the circuits queue, or
// {"tick": true}, {"review": true}, {"reconcile": true} or {"sweep": true} from a
// schedule.
type input struct {
	events.SQSEvent
	Tick      bool `json:"tick"`
	Review    bool `json:"review"`
	Reconcile bool `json:"reconcile"`
	Sweep     bool `json:"sweep"`
}

// Handle processes one event. SQS deletes the messages of a batch, and delivers
// failed messages again within seconds at first.
func (h *handler) Handle(ctx context.Context, in input) (any, error) {
	switch {
	case in.Records != nil:
		return lambdafn.EachMessage(ctx, h.batches, in.Records, "circuit_check.decode_failed", hook.DecodeCircuitTask, h.work), nil
	case in.Tick:
		if err := h.breaker.Tick(ctx); err != nil {
			return nil, fmt.Errorf("tick: %w", err)
		}
		return nil, nil
	case in.Review:
		if err := h.breaker.Review(ctx); err != nil {
			return nil, fmt.Errorf("review: %w", err)
		}
		return nil, nil
	case in.Reconcile:
		if err := h.breaker.ReconcileDeadLetters(ctx); err != nil {
			return nil, fmt.Errorf("reconcile dead letters: %w", err)
		}
		return nil, nil
	case in.Sweep:
		if err := h.breaker.Sweep(ctx); err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		return nil, nil
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the circuits queue nor an event of a schedule"}
}

// work processes one message of the circuits queue.
func (h *handler) work(ctx context.Context, task hook.CircuitTask) error {
	if task.Review != nil {
		return h.breaker.ReviewPage(ctx, *task.Review) //nolint:wrapcheck // logged by the breaker
	}
	return h.breaker.Reconcile(ctx, task.Check) //nolint:wrapcheck // logged by the breaker
}
