package main

import (
	"context"
	"path"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// batcher processes messages and returns the ids of those that must be delivered again.
type batcher interface {
	ProcessBatch(ctx context.Context, messages []deliver.Message) (failed []string)
}

type handler struct {
	deliverer batcher
	batches   lambdafn.Batches
	queues    map[string]hook.Queue // by the name of the queue; only queues that deliver treats differently
}

// queuesOf returns the queues of single tasks, and the queue coalesce, by the names of their
// queues. The name is the last part of a queue's URL and ARN, and is unique in the account and
// region.
func queuesOf(q names.Queues[string]) map[string]hook.Queue {
	return map[string]hook.Queue{path.Base(q.Slot): hook.QueueSlot, path.Base(q.Overflow): hook.QueueOverflow, path.Base(q.Coalesce): hook.QueueCoalesce}
}

// Handle processes one batch of a queue. SQS deletes the messages, except failed ones, which it
// delivers again, at first within seconds.
func (h *handler) Handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	messages := make([]deliver.Message, len(e.Records))
	for i, r := range e.Records {
		queue := r.EventSourceARN[strings.LastIndexByte(r.EventSourceARN, ':')+1:]
		messages[i] = deliver.Message{ID: r.MessageId, Body: r.Body, Queue: h.queues[queue]}
	}
	return h.batches.Respond(ctx, e.Records, h.deliverer.ProcessBatch(ctx, messages)), nil
}
