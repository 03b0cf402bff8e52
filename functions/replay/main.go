// Function replay answers the part of the API that chooses past deliveries
// anew, and does the jobs that it was asked for, a page a message.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"surehook/internal/aftermath"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/gateway"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/names"
	"surehook/internal/replay"
)

func main() {
	log := lambdacontext.NewLogger()
	if err := run(context.Background(), log); err != nil {
		log.Error("function.failed_to_start", slog.Any(names.LogError, err))
		os.Exit(1)
	}
}

// run wires the function once per execution environment.
func run(ctx context.Context, log *slog.Logger) error {
	cfg, err := config.ForReplay(os.LookupEnv)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load AWS config: %w", err)
	}
	store := dynamo.New(sdk, cfg.Table)
	r := &replay.Replayer{
		Store:     store,
		Index:     store,
		Endpoints: store,
		Jobs:      store,
		Queue:     sqs.New(sdk, sqs.URLs{Replay: cfg.ReplayQueue}),
		JobQueue:  sqs.NewJobs(sdk, cfg.ReplayJobsQueue),
		Aftermath: aftermath.Aftermath{Store: store},
		Log:       log,
		Now:       time.Now,
		NewID:     hook.NewJobID,
	}
	h := &handler{api: gateway.Handle(httpapi.Replay(r, log)), worker: r, log: log}
	lambda.StartWithOptions(h.Handle, lambda.WithContext(ctx))

	return nil
}
