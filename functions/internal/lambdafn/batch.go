package lambdafn

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/retry"
)

// Visibility changes the time until SQS delivers received messages again.
type Visibility interface {
	// Change makes SQS deliver the messages of the queue again after the time of
	// each message. The keys are receipt handles.
	Change(ctx context.Context, queueARN string, after map[string]time.Duration) error
}

// Batches answers SQS about batches of messages. All fields are required.
type Batches struct {
	Visibility Visibility
	Rand       func() float64 // in [0, 1)
	Metrics    emf.Set
	Log        *slog.Logger
	Now        func() time.Time
}

// Respond returns the response to a batch of which some messages failed, given by their ids. SQS
// deletes the other messages, and delivers the failed ones again after retry.Redelivery of their
// number of receives. Without that change of visibility, SQS would wait for the rest of the
// queue's visibility timeout, six minutes or more. If the visibility cannot be changed, this is
// logged, and the message waits.
//
// Lambda does not count a failed message as an error of the function, and SQS ignores messages
// with three or more receives in the age of the oldest message. So Respond counts the failed
// messages and their receives, by queue.
//
// The list in the response is empty, not null, if no message failed.
func (b Batches) Respond(ctx context.Context, records []events.SQSMessage, failed []string) events.SQSEventResponse {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	after := make(map[string]time.Duration, len(failed))
	var most int // the most receives of a failed message
	for _, r := range records {
		if !slices.Contains(failed, r.MessageId) {
			continue
		}
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: r.MessageId})
		receives, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"]) // 0 if unknown, which counts as 1
		after[r.ReceiptHandle] = retry.Redelivery(receives, b.Rand())
		most = max(most, receives)
	}
	if len(after) == 0 {
		return response
	}
	arn := records[0].EventSourceARN
	queue := emf.Queue(arn[strings.LastIndex(arn, ":")+1:])
	b.Log.LogAttrs(ctx, slog.LevelInfo, "batch.failed", b.Metrics.Append(nil, b.Now(),
		emf.Count(names.MetricPutBack, len(after)).By(queue), emf.Count(names.MetricReceives, most).By(queue))...)
	if err := b.Visibility.Change(ctx, arn, after); err != nil {
		b.Log.ErrorContext(ctx, "message.visibility_failed", slog.Any(names.LogError, err))
	}
	return response
}

// EachMessage decodes the messages and calls work for each one, concurrently. A failed message
// does not affect the others. If a message cannot be decoded, EachMessage logs the line
// undecoded; work logs its own errors.
func EachMessage[T any](
	ctx context.Context, b Batches, records []events.SQSMessage,
	undecoded string, decode func(body string) (T, error), work func(ctx context.Context, message T) error,
) events.SQSEventResponse {
	errs := make([]error, len(records))
	var wg sync.WaitGroup
	for i, r := range records {
		message, err := decode(r.Body)
		if err != nil {
			b.Log.LogAttrs(ctx, slog.LevelError, undecoded, //nolint:sloglint // a constant of the function
				slog.String(names.LogMessage, r.MessageId), slog.Any(names.LogError, err))
			errs[i] = err
			continue
		}
		wg.Go(func() { errs[i] = work(ctx, message) })
	}
	wg.Wait()

	var failed []string
	for i, r := range records {
		if errs[i] != nil {
			failed = append(failed, r.MessageId)
		}
	}
	return b.Respond(ctx, records, failed)
}
