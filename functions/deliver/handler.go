package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/delivery/deliver"
)

// batcher works on messages and returns the ids of those that must come again.
type batcher interface {
	ProcessBatch(ctx context.Context, messages []deliver.Message) (failed []string)
}

type handler struct {
	deliverer batcher
}

// Handle works on one batch of a lane. Messages that it reports as failed come
// again after the queue's visibility timeout; the others are deleted.
func (h *handler) Handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	messages := make([]deliver.Message, len(e.Records))
	for i, r := range e.Records {
		messages[i] = deliver.Message{ID: r.MessageId, Body: r.Body}
	}
	return lambdafn.BatchResponse(h.deliverer.ProcessBatch(ctx, messages)), nil
}
