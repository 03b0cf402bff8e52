// Function ingest accepts events over HTTP.
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

	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/gateway"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/ingest"
	"surehook/internal/metric"
	"surehook/internal/names"
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
	cfg, err := config.ForIngest(os.LookupEnv)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load AWS config: %w", err)
	}
	store := dynamo.New(sdk, cfg.Table)
	directory, err := ingest.NewDirectory(store)
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	acceptor := &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(sdk, sqs.URLs{Live: cfg.LiveQueue}),
		Directory: directory,
		Retention: cfg.Retention,
		Now:       time.Now,
		NewID:     hook.NewEventID,
	}
	lambda.StartWithOptions(gateway.Handle(httpapi.Events(acceptor, log, metric.Set{Environment: cfg.Environment})), lambda.WithContext(ctx))

	return nil
}
