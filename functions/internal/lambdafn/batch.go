package lambdafn

import (
	"context"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"surehook/internal/names"
)

// BatchResponse says which messages come again after the queue's visibility timeout;
// the others are deleted. It holds a list, not null, when all went well.
func BatchResponse(failed []string) events.SQSEventResponse {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, id := range failed {
		response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return response
}

// EachMessage reads the messages and works on them concurrently; one that fails does
// not touch the others. That a message cannot be read is logged as unread; what
// came of the work, work logs itself.
func EachMessage[T any](
	ctx context.Context, log *slog.Logger, records []events.SQSMessage,
	unread string, read func(body string) (T, error), work func(ctx context.Context, message T) error,
) events.SQSEventResponse {
	errs := make([]error, len(records))
	var wg sync.WaitGroup
	for i, r := range records {
		message, err := read(r.Body)
		if err != nil {
			log.LogAttrs(ctx, slog.LevelError, unread, //nolint:sloglint // the message is the function's own constant
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
