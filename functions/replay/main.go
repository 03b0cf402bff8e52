// Function replay serves the routes of the API for replays, for the end of single deliveries, for
// erasures and for the analysis of dead letters. It also processes the messages of replay jobs, a
// page per message, and of erasures of tenants, some steps per message.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "replay", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Settings, sdk aws.Config, log *slog.Logger) (any, error) {
	metrics := emf.Set{Environment: cfg.Environment}
	store := wire.Store(sdk, cfg.Table, metrics, log, time.Now)
	jobs := sqs.NewJobQueue(sdk, cfg.Queues.ReplayJobs)
	queue := sqs.New(sdk, sqs.URLs{hook.QueueLive: cfg.Queues.Live, hook.QueueReplay: cfg.Queues.Replay})
	r := &replay.Replayer{
		Store:    store,
		Queue:    queue,
		JobQueue: jobs,
		Metrics:  metrics,
		Log:      log,
		Now:      time.Now,
		NewID:    hook.NewJobID,
	}
	e := &erasure.Eraser{Store: store, Queue: jobs, Metrics: metrics, Log: log, Now: time.Now}
	api := httpapi.Replay(httpapi.Jobs{
		Replayer: r, Eraser: e, Guard: tenant.Guard{Store: store, Now: time.Now}, Audit: &audit.Log{Store: store, Log: log, Now: time.Now},
	}, log)
	h := &handler{api: apigateway.Handle(api), replays: r, erasures: e, batches: wire.Batches(sdk, metrics, log, time.Now)}
	return h.Handle, nil
}
