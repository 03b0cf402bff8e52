package lambdafn

import (
	"context"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"surehook/internal/names"
)

// BatchResponse returns the response to a batch with the failed messages. SQS
// delivers failed messages again after the queue's visibility timeout, and
// deletes the other messages. The list is empty, not null, without failures.
func BatchResponse(failed []string) events.SQSEventResponse {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, id := range failed {
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return response
}

// EachMessage decodes the messages and calls work for each message concurrently.
// A failed message does not affect other messages. EachMessage logs a failure
// to decode with the log message undecoded; work logs its own errors.
func EachMessage[T any](
	ctx context.Context, log *slog.Logger, records []events.SQSMessage,
	undecoded string, decode func(body string) (T, error), work func(ctx context.Context, message T) error,
) events.SQSEventResponse {
	errs := make([]error, len(records))
	var wg sync.WaitGroup
	for i, r := range records {
		message, err := decode(r.Body)
		if err != nil {
			log.LogAttrs(ctx, slog.LevelError, undecoded, //nolint:sloglint // a constant of the function
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
	return BatchResponse(failed)
}
