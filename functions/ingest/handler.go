package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/aws/apigateway"
	"surehook/internal/delivery/source"
	"surehook/internal/hook"
)

// batcher accepts the events of messages, and returns the ids of the messages for another delivery.
type batcher interface {
	ProcessBatch(ctx context.Context, messages []source.Message) (failed []string)
}

type handler struct {
	api     apigateway.Function
	source  batcher
	batches lambdafn.Batches
}

// input is an event of the function: a batch of the events queue, or a request of the API.
// The two have no field in common.
type input struct {
	events.SQSEvent
	events.APIGatewayV2HTTPRequest
}

// Handle processes one event. SQS deletes the messages of a batch, and delivers failed
// messages again within seconds at first.
func (h *handler) Handle(ctx context.Context, in input) (any, error) {
	switch {
	case in.Records != nil:
		messages := make([]source.Message, len(in.Records))
		for i, r := range in.Records {
			messages[i] = messageOf(r)
		}
		return h.batches.Respond(ctx, in.Records, h.source.ProcessBatch(ctx, messages)), nil
	case in.RequestContext.HTTP.Method != "":
		answer, err := h.api(ctx, in.APIGatewayV2HTTPRequest)
		if err != nil {
			return nil, fmt.Errorf("answer request: %w", err)
		}
		return answer, nil
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the events queue nor a request"}
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
