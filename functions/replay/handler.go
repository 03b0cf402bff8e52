package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/delivery/replay"
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
		return h.erasures.Work(ctx, m)
	}
	return h.replays.Work(ctx, m)
}

// Handle processes one event. SQS deletes the messages of a batch, and delivers
// failed messages again within seconds at first.
func (h *handler) Handle(ctx context.Context, in lambdafn.Input) (any, error) {
	return in.Answer(ctx, "replay-jobs", h.workAll, h.api)
}

// workAll processes the messages of a batch.
func (h *handler) workAll(ctx context.Context, records []events.SQSMessage) events.SQSEventResponse {
	return lambdafn.EachMessage(ctx, h.batches, records, "replay_job.decode_failed", replay.DecodeMessage, h.work)
}
