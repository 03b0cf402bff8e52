package main

import (
	"context"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
)

var _ status.Queues = depths{}

// depths implements status.Queues over SQS.
type depths struct {
	reader *sqs.Depths
	urls   map[string]string
}

// urlsOf returns the URLs of all queues, by their names in the API.
func urlsOf(q config.Queues) map[string]string {
	return map[string]string{
		"events": q.Events, "rejects": q.Rejects, "live": q.Live, "retry": q.Retry, "replay": q.Replay, "slot": q.Slot, "overflow": q.Overflow,
		"coalesce": q.Coalesce, "replay_jobs": q.ReplayJobs, "circuits": q.Circuits, "dead_letters": q.DeadLetters,
		"undeliverable": q.Undeliverable, "undeliverable_retry": q.UndeliverableRetry,
	}
}

// Depths returns the depth of each queue. The API has one number for the messages set aside,
// although those of the retry queue are in a queue of their own, from which all of them return to
// that queue.
func (d depths) Depths(ctx context.Context) (map[string]status.Depth, error) {
	read, err := d.reader.Depths(ctx, d.urls)
	if err != nil {
		return nil, err
	}
	found := make(map[string]status.Depth, len(read))
	for name, depth := range read {
		if name == "undeliverable_retry" {
			name = "undeliverable"
		}
		sum := found[name]
		found[name] = status.Depth{Visible: sum.Visible + depth.Visible, InFlight: sum.InFlight + depth.InFlight, Delayed: sum.Delayed + depth.Delayed}
	}
	return found, nil
}
