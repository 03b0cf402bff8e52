// Package wire builds the objects used by several functions, from their settings
// and the SDK.
package wire

import (
	"context"
	"log/slog"
	"math/rand/v2"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/lambda"
	"surehook.example/surehook/internal/aws/sns"
	"surehook.example/surehook/internal/aws/sqs"
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
func Store(f lambdafn.Function, metrics emf.Set) *dynamo.Store {
	store := dynamo.New(f.SDK, f.Table)
	store.Unreadable = func(ctx context.Context, record string, err error) {
		line := []slog.Attr{slog.String(names.LogRecord, record), slog.Any(names.LogError, err)}
		f.Log.LogAttrs(ctx, slog.LevelError, "record.unreadable", metrics.Append(line, f.Now(), emf.Count(names.MetricUnread, 1))...)
	}
	return store
}

// Batches returns the response to batches of SQS messages.
func Batches(f lambdafn.Function) lambdafn.Batches {
	return lambdafn.Batches{Visibility: sqs.NewVisibility(f.SDK), Rand: rand.Float64, Metrics: f.Metrics, Log: f.Log, Now: f.Now}
}

// Acceptor returns an acceptor of events over store.
func Acceptor(f lambdafn.Function, store *dynamo.Store) *ingest.Acceptor {
	return &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(f.SDK, sqs.URLs{hook.QueueLive: f.Queues.Live, hook.QueueCoalesce: f.Queues.Coalesce}),
		Directory: ingest.NewDirectory(store),
		Retention: f.Retention,
		Now:       f.Now,
		NewID:     hook.NewEventID,
	}
}

// Notifier returns the notifier of owners (by event) and operators (by topic).
func Notifier(f lambdafn.Function, store *dynamo.Store) notify.Notifier {
	return notify.Notifier{
		History: store,
		Poster:  Acceptor(f, store),
		Topic:   sns.New(f.SDK, f.TopicARN),
		Metrics: f.Metrics,
		Log:     f.Log,
	}
}

// Policy returns the policy for requests to endpoints.
func Policy(f lambdafn.Function) egress.Policy {
	return egress.Policy{Loopback: f.Egress == names.EgressLoopback, Host: f.EgressHost, RuntimeAPI: f.RuntimeAPI, Own: f.APIHosts}
}

// Senders returns the sender of requests from here, and the one of requests that the first signs, from
// the regions, the fixed addresses and the private network of the environment.
func Senders(f lambdafn.Function) (*send.Sender, *remote.Sender) {
	policy := Policy(f)
	here := send.New(egress.NewClient(policy), policy, names.UserAgent(), f.Now)
	return here, &remote.Sender{Signer: here, Now: f.Now, Invoker: lambda.New(f.SDK, lambda.Config{
		Regional: names.Sender(f.Environment), Regions: f.Senders,
		Fixed: names.FixedSender(f.Environment), Private: names.PrivateSender(f.Environment),
	})}
}
