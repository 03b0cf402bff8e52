package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// reconciler reconciles and reviews endpoints, and records begun deliveries.
type reconciler interface {
	scheduled
	Reconcile(ctx context.Context, check hook.CircuitCheck) error
	ReviewPage(ctx context.Context, page hook.ReviewPage) error
	Record(ctx context.Context, begun []hook.DeliveryRef) error
}

// scheduled is the work of the schedules.
type scheduled interface {
	Tick(ctx context.Context) error
	Review(ctx context.Context) error
	ReconcileDeadLetters(ctx context.Context) error
	Sweep(ctx context.Context) error
}

type handler struct {
	breaker reconciler
	batches lambdafn.Batches
	log     *slog.Logger
}

// input is an event of the function: a batch of the circuits queue or of the table's
// stream, or {"tick": true}, {"review": true}, {"reconcile": true} or {"sweep": true}
// from a schedule.
type input struct {
	Records   []record `json:"Records"`
	Tick      bool     `json:"tick"`
	Review    bool     `json:"review"`
	Reconcile bool     `json:"reconcile"`
	Sweep     bool     `json:"sweep"`
}

// record is a message of the queue or, with the eventSource of streams, a change of the
// table.
type record struct {
	events.SQSMessage
	EventID string `json:"eventID"`
	Change  struct {
		NewImage json.RawMessage `json:"NewImage"`
	} `json:"dynamodb"`
}

// eventSourceStream is the eventSource of a record of the table's stream.
const eventSourceStream = "aws:dynamodb"

// Handle processes one event. SQS deletes the messages of a batch, except failed ones, which it
// delivers again, at first within seconds. After an error, Lambda repeats a batch of the stream in
// halves, until it succeeds or its records leave the stream after a day.
func (h *handler) Handle(ctx context.Context, in input) (any, error) {
	switch {
	case len(in.Records) > 0 && in.Records[0].EventSource == eventSourceStream:
		if err := h.breaker.Record(ctx, h.begun(ctx, in.Records)); err != nil {
			return nil, fmt.Errorf("record deliveries: %w", err)
		}
		return nil, nil
	case in.Records != nil:
		messages := make([]events.SQSMessage, len(in.Records))
		for i, r := range in.Records {
			messages[i] = r.SQSMessage
		}
		return lambdafn.EachMessage(ctx, h.batches, messages, "circuit_check.decode_failed", hook.DecodeCircuitMessage, h.work), nil
	}
	for _, s := range []struct {
		asked bool
		name  string
		do    func(context.Context) error
	}{
		{in.Tick, "tick", h.breaker.Tick},
		{in.Review, "review", h.breaker.Review},
		{in.Reconcile, "reconcile dead letters", h.breaker.ReconcileDeadLetters},
		{in.Sweep, "sweep", h.breaker.Sweep},
	} {
		if s.asked {
			if err := s.do(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			return nil, nil
		}
	}
	return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the event is neither a batch of the circuits queue or of the table's stream nor an event of a schedule"}
}

// begun returns the deliveries that the changes queued. A change that this build cannot read is
// logged and left out, because repeating it would hold up all others for a day.
func (h *handler) begun(ctx context.Context, changes []record) []hook.DeliveryRef {
	var all []hook.DeliveryRef
	for _, r := range changes {
		refs, err := dynamo.Begun(r.Change.NewImage)
		if err != nil {
			h.log.ErrorContext(ctx, "change.decode_failed", slog.String(names.LogMessage, r.EventID), slog.Any(names.LogError, err))
		}
		all = append(all, refs...)
	}
	return all
}

// work processes one message of the circuits queue.
func (h *handler) work(ctx context.Context, task hook.CircuitMessage) error {
	if task.Review != nil {
		return h.breaker.ReviewPage(ctx, *task.Review)
	}
	return h.breaker.Reconcile(ctx, task.CircuitCheck)
}
