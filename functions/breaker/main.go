// Function breaker reconciles endpoints with parked deliveries or with a circuit
// that is not closed: for every message of the circuits queue, and every minute.
// The function also reviews active endpoints, reconciles dead letters with
// deliveries, records deliveries that are still queued some minutes after their event,
// and sends tasks in place of lost tasks.
package main

import (
	"context"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "breaker", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	store := wire.Store(f, f.Metrics)
	notifier := wire.Notifier(f, store)
	q := f.Queues
	queue := sqs.New(f.SDK, sqs.URLs{hook.QueueLive: q.Live, hook.QueueRetry: q.Retry, hook.QueueReplay: q.Replay, hook.QueueSlot: q.Slot, hook.QueueOverflow: q.Overflow, hook.QueueCoalesce: q.Coalesce})
	circuits := sqs.NewCircuitQueue(f.SDK, q.Circuits)
	h := &handler{
		breaker: &breaker.Breaker{
			Store:        store,
			Queue:        queue,
			DeadLetters:  sqs.NewDeadLetters(f.SDK, q.DeadLetters),
			CircuitQueue: circuits,
			Notifier:     notifier,
			Metrics:      f.Metrics,
			Log:          f.Log,
			Now:          f.Now,
		},
		batches: wire.Batches(f),
		log:     f.Log,
	}
	return h.Handle, nil
}
