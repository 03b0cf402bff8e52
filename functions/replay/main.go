// Function replay serves the routes of the API for replays, for the end of single deliveries, for
// erasures and for the analysis of dead letters. It also processes the messages of replay jobs, a
// page per message, and of erasures of tenants, some steps per message.
package main

import (
	"context"
	"os"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/functions/internal/wire"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

func main() {
	os.Exit(lambdafn.Start(context.Background(), "replay", os.LookupEnv, newHandler))
}

// newHandler wires the handler, once per execution environment.
func newHandler(f lambdafn.Function) (any, error) {
	store := wire.Store(f, f.Metrics)
	jobs := sqs.NewJobQueue(f.SDK, f.Queues.ReplayJobs)
	queue := sqs.New(f.SDK, sqs.URLs{hook.QueueLive: f.Queues.Live, hook.QueueReplay: f.Queues.Replay})
	r := &replay.Replayer{
		Store:    store,
		Queue:    queue,
		JobQueue: jobs,
		Metrics:  f.Metrics,
		Log:      f.Log,
		Now:      f.Now,
		NewID:    hook.NewJobID,
	}
	e := &erasure.Eraser{Store: store, Queue: jobs, Metrics: f.Metrics, Log: f.Log, Now: f.Now}
	api := httpapi.Replay(httpapi.Jobs{
		Replayer: r, Eraser: e, Guard: tenant.Guard{Store: store, Now: f.Now}, Audit: &audit.Log{Store: store, Log: f.Log, Now: f.Now},
	}, f.Log)
	h := &handler{api: apigateway.Handle(api), replays: r, erasures: e, batches: wire.Batches(f)}
	return h.Handle, nil
}
