// Function breaker reconciles endpoints with parked deliveries or with a circuit
// that is not closed: for every message of the circuits queue, and every minute.
// The function also reviews active endpoints, reconciles dead letters with
// deliveries, records deliveries that are still queued some minutes after their event,
// and sends tasks in place of lost tasks.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "breaker", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	metrics := emf.Set{Environment: cfg.Environment}
	store := wire.Store(sdk, cfg.Table, metrics, log, time.Now)
	notifier := wire.Notifier(cfg, sdk, store, log, time.Now)
	q := cfg.Queues
	queue := sqs.New(sdk, sqs.URLs{hook.QueueLive: q.Live, hook.QueueRetry: q.Retry, hook.QueueReplay: q.Replay, hook.QueueSlot: q.Slot, hook.QueueOverflow: q.Overflow, hook.QueueCoalesce: q.Coalesce})
	circuits := sqs.NewCircuitQueue(sdk, q.Circuits)
	h := &handler{
		breaker: &breaker.Breaker{
			Store:        store,
			Queue:        queue,
			DeadLetters:  sqs.NewDeadLetters(sdk, q.DeadLetters),
			CircuitQueue: circuits,
			Releaser:     &admit.Releaser{Store: store, Queue: queue, CircuitQueue: circuits, Now: time.Now},
			Notifier:     notifier,
			Metrics:      metrics,
			Log:          log,
			Now:          time.Now,
		},
		batches: wire.Batches(sdk, metrics, log, time.Now),
		log:     log,
	}
	return h.Handle, nil
}
