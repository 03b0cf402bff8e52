// Function ingest accepts events over HTTP.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/start"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/gateway"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/ingest"
	"surehook/internal/metric"
)

func main() {
	if start.Function(context.Background(), os.LookupEnv, config.ForIngest, wire) != nil {
		os.Exit(1)
	}
}

// wire makes the handler, once per execution environment.
func wire(cfg config.Ingest, sdk aws.Config, log *slog.Logger) (any, error) {
	store := dynamo.New(sdk, cfg.Table)
	directory, err := ingest.NewDirectory(store)
	if err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	acceptor := &ingest.Acceptor{
		Store:     store,
		Queue:     sqs.New(sdk, sqs.URLs{Live: cfg.LiveQueue}),
		Directory: directory,
		Retention: cfg.Retention,
		Now:       time.Now,
		NewID:     hook.NewEventID,
	}
	return gateway.Handle(httpapi.Events(acceptor, log, metric.Set{Environment: cfg.Environment})), nil
}
