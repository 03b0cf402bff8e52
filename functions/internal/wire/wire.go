// Package wire builds the objects used by several functions, from their settings
// and the SDK.
package wire

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/lambda"
	"surehook.example/surehook/internal/aws/sns"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Store returns the store in the table. A record that the build cannot read is logged, and
// counted if metrics has an environment.
func Store(sdk aws.Config, table string, metrics emf.Set, log *slog.Logger, now func() time.Time) *dynamo.Store {
	store := dynamo.New(sdk, table)
	store.Unreadable = func(ctx context.Context, record string, err error) {
		line := []slog.Attr{slog.String(names.LogRecord, record), slog.Any(names.LogError, err)}
		log.LogAttrs(ctx, slog.LevelError, "record.unreadable", metrics.Append(line, now(), emf.Count(names.MetricUnread, 1))...)
	}
	return store
}

// Batches returns the response to batches of SQS messages.
func Batches(sdk aws.Config, metrics emf.Set, log *slog.Logger, now func() time.Time) lambdafn.Batches {
	return lambdafn.Batches{Visibility: sqs.NewVisibility(sdk), Rand: rand.Float64, Metrics: metrics, Log: log, Now: now}
}

// Acceptor returns an acceptor of events over store.
func Acceptor(cfg config.Settings, sdk aws.Config, store *dynamo.Store, now func() time.Time) *ingest.Acceptor {
	return &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(sdk, sqs.URLs{hook.QueueLive: cfg.Queues.Live, hook.QueueCoalesce: cfg.Queues.Coalesce}),
		Directory: ingest.NewDirectory(store),
		Retention: cfg.Retention,
		Now:       now,
		NewID:     hook.NewEventID,
	}
}

// Notifier returns the notifier of owners (by event) and operators (by topic).
func Notifier(cfg config.Settings, sdk aws.Config, store *dynamo.Store, log *slog.Logger, now func() time.Time) notify.Notifier {
	return notify.Notifier{
		History: store,
		Poster:  Acceptor(cfg, sdk, store, now),
		Topic:   sns.New(sdk, cfg.TopicARN),
		Metrics: emf.Set{Environment: cfg.Environment},
		Log:     log,
	}
}

// Policy returns the policy for requests to endpoints.
func Policy(cfg config.Settings) egress.Policy {
	return egress.Policy{Loopback: cfg.Egress == names.EgressLoopback, Host: cfg.EgressHost, RuntimeAPI: cfg.RuntimeAPI, Own: cfg.APIHosts}
}

// Senders returns the sender of requests from here, and the one of requests that the first signs, from
// the regions, the fixed addresses and the private network of the environment.
func Senders(cfg config.Settings, sdk aws.Config, now func() time.Time) (*send.Sender, *remote.Sender) {
	policy := Policy(cfg)
	here := send.New(egress.NewClient(policy), policy, names.UserAgent(), now)
	return here, &remote.Sender{Signer: here, Now: now, Invoker: lambda.New(sdk, lambda.Config{
		Regional: names.Sender(cfg.Environment), Regions: cfg.Senders,
		Fixed: names.FixedSender(cfg.Environment), Private: names.PrivateSender(cfg.Environment),
	})}
}
