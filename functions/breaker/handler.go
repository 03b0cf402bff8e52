package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// attender looks at endpoints.
type attender interface {
	Attend(ctx context.Context, look hook.Look) error
	Tick(ctx context.Context) error
	Review(ctx context.Context) error
	Reconcile(ctx context.Context) error
}

type handler struct {
	breaker attender
	log     *slog.Logger
}

// input is one of the events that the function takes: a batch of the circuits
// queue, or {"tick": true}, {"review": true} or {"reconcile": true} from a schedule.
type input struct {
	events.SQSEvent
	Tick      bool `json:"tick"`
	Review    bool `json:"review"`
	Reconcile bool `json:"reconcile"`
}

// Handle works on one event. Looks of a batch that it reports as failed come
// again after the queue's visibility timeout; the others are deleted.
func (h *handler) Handle(ctx context.Context, in input) (any, error) {
	switch {
	case in.Records != nil:
		return h.looks(ctx, in.Records), nil
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
		if err := h.breaker.Reconcile(ctx); err != nil {
			return nil, fmt.Errorf("reconcile: %w", err)
		}
		return nil, nil
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the circuits queue nor one of a schedule"}
}

// looks attends to the endpoints concurrently; one that fails does not touch the others.
func (h *handler) looks(ctx context.Context, records []events.SQSMessage) events.SQSEventResponse {
	failed := make([]bool, len(records))
	var wg sync.WaitGroup
	for i, r := range records {
		look, err := hook.DecodeLook(r.Body)
		if err != nil {
			h.log.ErrorContext(ctx, "look.not_read", slog.String(names.LogMessage, r.MessageId), slog.Any(names.LogError, err))
			failed[i] = true
			continue
		}
		// Attend logs what came of it.
		wg.Go(func() { failed[i] = h.breaker.Attend(ctx, look) != nil })
	}
	wg.Wait()

	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}} // a list, not null, when all went well
	for i, r := range records {
		if failed[i] {
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
		}
	}
	return response
}
