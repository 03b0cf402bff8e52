// Function replay serves the routes of the API for replays, and processes replay
// jobs, one page per message.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/internal/lambdafn"
	"surehook/functions/internal/wire"
	"surehook/internal/admin/audit"
	"surehook/internal/aws/apigateway"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/delivery/replay"
	"surehook/internal/delivery/settle"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
)

func main() {
	if lambdafn.Start(context.Background(), os.LookupEnv, config.ForReplay, newHandler) != nil {
		os.Exit(1)
	}
}

// newHandler wires the handler, once per execution environment.
func newHandler(cfg config.Replay, sdk aws.Config, log *slog.Logger) (any, error) {
	store := dynamo.New(sdk, cfg.Table)
	r := &replay.Replayer{
		Store:      store,
		Index:      store,
		Endpoints:  store,
		Jobs:       store,
		Queue:      sqs.New(sdk, sqs.URLs{Replay: cfg.ReplayQueue}),
		JobQueue:   sqs.NewJobQueue(sdk, cfg.ReplayJobsQueue),
		Settlement: settle.Settlement{Store: store},
		Log:        log,
		Now:        time.Now,
		NewID:      hook.NewJobID,
	}
	changes := &audit.Log{Store: store, Log: log, Now: time.Now}
	h := &handler{api: apigateway.Handle(httpapi.Replay(r, changes, log)), worker: r, batches: wire.Batches(sdk, emf.Set{Environment: cfg.Environment}, log, time.Now)}
	return h.Handle, nil
}
