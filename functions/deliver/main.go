// Function deliver receives batches of tasks from the queues and makes the attempts.
package main

import (
	"context"
	"fmt"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/aws/destination"
	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/aws/scheduler"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "deliver", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	vault, err := kms.NewOpener(f.SDK, f.KeyARN, f.Now)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	store := wire.Store(f, f.Metrics)
	notifier := wire.Notifier(f, store)
	sender, remote := wire.Senders(f)
	sender.OneOrigin = f.Ownership != ""
	maker := &attempt.Maker{
		Store: store, Vault: vault, Sender: sender, Remote: remote,
		Shaper: &shape.Shaper{PublicURL: f.PublicURL}, Metrics: f.Metrics, Log: f.Log, Now: f.Now,
	}
	if f.Destinations != "" {
		maker.AWS = destination.New(f.SDK, sender, hook.Destinations{RolePath: f.Destinations, Account: f.Account})
	}
	queue := sqs.New(f.SDK, sqs.URLs{hook.QueueLive: f.Queues.Live, hook.QueueRetry: f.Queues.Retry, hook.QueueSlot: f.Queues.Slot, hook.QueueOverflow: f.Queues.Overflow, hook.QueueCoalesce: f.Queues.Coalesce})
	circuits := sqs.NewCircuitQueue(f.SDK, f.Queues.Circuits)
	h := &handler{batches: wire.Batches(f), queues: queuesOf(f.Queues), deliverer: &deliver.Deliverer{
		Store:    store,
		Attempts: maker,
		Gate: &admit.Gate{
			Releaser: admit.Releaser{Store: store, Queue: queue, CircuitQueue: circuits, Now: f.Now},
			Shares:   f.TenantShares,
		},
		Settler: &settle.Settler{
			Completion: settle.Completion{
				Store: store, Queue: queue, DeadLetters: sqs.NewDeadLetters(f.SDK, f.Queues.DeadLetters), Notifier: notifier, Log: f.Log, Now: f.Now,
			},
			Schedules: scheduler.New(f.SDK, scheduler.Config{
				Group:         f.ScheduleGroup,
				RoleARN:       f.ScheduleRoleARN,
				TargetARN:     f.RetryQueueARN,
				DeadLetterARN: f.UndeliverableRetryARN,
			}),
			Metrics: f.Metrics,
		},
		Metrics: f.Metrics,
		Log:     f.Log,
		Now:     f.Now,
	}}
	return h.Handle, nil
}
