package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/delivery/deliver"
)

// batcher processes messages and returns the ids of the messages for another delivery.
type batcher interface {
	ProcessBatch(ctx context.Context, messages []deliver.Message) (failed []string)
}

type handler struct {
	deliverer batcher
	batches   lambdafn.Batches
}

// Handle processes one batch of a lane. SQS deletes the messages, and delivers
// failed messages again within seconds at first.
func (h *handler) Handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	messages := make([]deliver.Message, len(e.Records))
	for i, r := range e.Records {
		messages[i] = deliver.Message{ID: r.MessageId, Body: r.Body}
	}
	return h.batches.Respond(ctx, e.Records, h.deliverer.ProcessBatch(ctx, messages)), nil
}
