// Function ingest accepts events over HTTP.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/accept"
	"surehook/functions/start"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/gateway"
	"surehook/internal/config"
	"surehook/internal/httpapi"
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
	acceptor, err := accept.Acceptor(sdk, store, accept.Config{LiveQueue: cfg.LiveQueue, Retention: cfg.Retention, Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("wire acceptor: %w", err)
	}
	return gateway.Handle(httpapi.Events(acceptor, log, metric.Set{Environment: cfg.Environment})), nil
}
