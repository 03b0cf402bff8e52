package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"surehook/internal/aws/gateway"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/replay"
)

// worker makes jobs go on.
type worker interface {
	Work(ctx context.Context, m replay.Message) error
}

type handler struct {
	api    gateway.Function
	worker worker
	log    *slog.Logger
}

// input is one of the two events that the function takes: a batch of the
// replay-jobs queue, or a request of the API. They have no field in common.
type input struct {
	events.SQSEvent
	events.APIGatewayV2HTTPRequest
}

// Handle works on one event. Messages of a batch that it reports as failed come
// again after the queue's visibility timeout; the others are deleted.
func (h *handler) Handle(ctx context.Context, in input) (any, error) {
	switch {
	case in.Records != nil:
		return h.jobs(ctx, in.Records), nil
	case in.RequestContext.HTTP.Method != "":
		answer, err := h.api(ctx, in.APIGatewayV2HTTPRequest)
		if err != nil {
			return nil, fmt.Errorf("answer request: %w", err)
		}
		return answer, nil
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the replay-jobs queue nor a request"}
}

// jobs makes the jobs go on concurrently; one that fails does not touch the others.
func (h *handler) jobs(ctx context.Context, records []events.SQSMessage) events.SQSEventResponse {
	failed := make([]bool, len(records))
	var wg sync.WaitGroup
	for i, r := range records {
		message, err := replay.DecodeMessage(r.Body)
		if err != nil {
			h.log.ErrorContext(ctx, "job.not_read", slog.String(names.LogMessage, r.MessageId), slog.Any(names.LogError, err))
			failed[i] = true
			continue
		}
		// Work logs what came of it.
		wg.Go(func() { failed[i] = h.worker.Work(ctx, message) != nil })
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
