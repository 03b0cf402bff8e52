package main

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/delivery/source"
)

// batcher accepts the events of messages, and returns the ids of the messages that must be
// delivered again.
type batcher interface {
	ProcessBatch(ctx context.Context, messages []source.Message) (failed []string)
}

type handler struct {
	api     apigateway.Function
	source  batcher
	batches lambdafn.Batches
}

// Handle processes one event. SQS deletes the messages of a batch, except failed ones, which it
// delivers again, at first within seconds.
func (h *handler) Handle(ctx context.Context, in lambdafn.Input) (any, error) {
	return in.Answer(ctx, "events", h.acceptAll, h.api)
}

// acceptAll accepts the events of a batch.
func (h *handler) acceptAll(ctx context.Context, records []events.SQSMessage) events.SQSEventResponse {
	messages := make([]source.Message, len(records))
	for i, r := range records {
		messages[i] = messageOf(r)
	}
	return h.batches.Respond(ctx, records, h.source.ProcessBatch(ctx, messages))
}

func messageOf(r events.SQSMessage) source.Message {
	m := source.Message{ID: r.MessageId, Body: r.Body, Attributes: make(map[string]string)}
	for _, name := range source.Attributes() {
		if value := r.MessageAttributes[name].StringValue; value != nil && *value != "" {
			m.Attributes[name] = *value
		}
	}
	sent, _ := strconv.ParseInt(r.Attributes["SentTimestamp"], 10, 64) // SQS's own
	m.SentAt = time.UnixMilli(sent)
	return m
}
