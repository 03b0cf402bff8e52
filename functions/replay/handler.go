package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/aws/apigateway"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// worker processes the next page of a job, or the next steps of an erasure.
type worker interface {
	Work(ctx context.Context, m replay.Message) error
}

type handler struct {
	api               apigateway.Function
	replays, erasures worker

	batches lambdafn.Batches
}

// work processes a message by its kind of job.
func (h *handler) work(ctx context.Context, m replay.Message) error {
	if m.Erasure != "" {
		return h.erasures.Work(ctx, m) //nolint:wrapcheck // the message is complete
	}
	return h.replays.Work(ctx, m) //nolint:wrapcheck // as above
}

// input is an event of the function: a batch of the replay-jobs queue, or a
// request of the API. The two events have no field in common.
type input struct {
	events.SQSEvent
	events.APIGatewayV2HTTPRequest
}

// Handle processes one event. SQS deletes the messages of a batch, and delivers
// failed messages again within seconds at first.
func (h *handler) Handle(ctx context.Context, in input) (any, error) {
	switch {
	case in.Records != nil:
		return lambdafn.EachMessage(ctx, h.batches, in.Records, "replay_job.decode_failed", replay.DecodeMessage, h.work), nil
	case in.RequestContext.HTTP.Method != "":
		answer, err := h.api(ctx, in.APIGatewayV2HTTPRequest)
		if err != nil {
			return nil, fmt.Errorf("answer request: %w", err)
		}
		return answer, nil
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the replay-jobs queue nor a request"}
}
