// Function deliver receives batches of tasks from the queues and makes the attempts.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/aws/destination"
	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/aws/scheduler"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "deliver", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	vault, err := kms.NewOpener(sdk, cfg.KeyARN, time.Now)
	if err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	metrics := emf.Set{Environment: cfg.Environment}
	store := wire.Store(sdk, cfg.Table, metrics, log, time.Now)
	notifier := wire.Notifier(cfg, sdk, store, log, time.Now)
	sender, remote := wire.Senders(cfg, sdk, time.Now)
	sender.OneOrigin = cfg.Ownership != ""
	maker := &attempt.Maker{
		Store: store, Vault: vault, Sender: sender, Remote: remote,
		Shaper: &shape.Shaper{PublicURL: cfg.PublicURL}, Metrics: metrics, Log: log, Now: time.Now,
	}
	if cfg.Destinations != "" {
		maker.AWS = destination.New(sdk, sender, hook.Destinations{RolePath: cfg.Destinations, Account: cfg.Account})
	}
	queue := sqs.New(sdk, sqs.URLs{hook.QueueLive: cfg.Queues.Live, hook.QueueRetry: cfg.Queues.Retry, hook.QueueSlot: cfg.Queues.Slot, hook.QueueOverflow: cfg.Queues.Overflow, hook.QueueCoalesce: cfg.Queues.Coalesce})
	circuits := sqs.NewCircuitQueue(sdk, cfg.Queues.Circuits)
	h := &handler{batches: wire.Batches(sdk, metrics, log, time.Now), queues: queuesOf(cfg.Queues), deliverer: &deliver.Deliverer{
		Store:    store,
		Attempts: maker,
		Gate: &admit.Gate{
			Releaser: admit.Releaser{Store: store, Queue: queue, CircuitQueue: circuits, Now: time.Now},
			Shares:   cfg.TenantShares,
		},
		Settler: &settle.Settler{
			Completion: settle.Completion{
				Store: store, Queue: queue, DeadLetters: sqs.NewDeadLetters(sdk, cfg.Queues.DeadLetters), Notifier: notifier, Log: log, Now: time.Now,
			},
			Schedules: scheduler.New(sdk, scheduler.Config{
				Group:         cfg.ScheduleGroup,
				RoleARN:       cfg.ScheduleRoleARN,
				TargetARN:     cfg.RetryQueueARN,
				DeadLetterARN: cfg.UndeliverableRetryARN,
			}),
			Metrics: metrics,
		},
		Metrics: metrics,
		Log:     log,
		Now:     time.Now,
	}}
	return h.Handle, nil
}
