// Function breaker looks after endpoints whose circuit is not closed or for
// which deliveries are parked: when it is asked to, and every minute. It also
// reviews the endpoints that are active, and reconciles the dead letters with
// the deliveries.
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
	"surehook/internal/aws/sns"
	"surehook/internal/aws/sqs"
	"surehook/internal/breaker"
	"surehook/internal/config"
	"surehook/internal/hook"
	"surehook/internal/ingest"
	"surehook/internal/metric"
	"surehook/internal/names"
	"surehook/internal/notice"
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
	cfg, err := config.ForBreaker(os.LookupEnv)
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
	metrics := metric.Set{Environment: cfg.Environment}
	notices := notice.Teller{
		History: store,
		Poster: &ingest.Acceptor{
			Store:     store,
			Queue:     sqs.New(sdk, sqs.URLs{Live: cfg.LiveQueue}),
			Directory: directory,
			Retention: cfg.Retention,
			Now:       time.Now,
			NewID:     hook.NewEventID,
		},
		Topic:   sns.New(sdk, cfg.TopicARN),
		Metrics: metrics,
		Log:     log,
	}
	queue := sqs.New(sdk, sqs.URLs{Retry: cfg.RetryQueue, DeadLetters: cfg.DeadLettersQueue})
	h := &handler{
		breaker: &breaker.Breaker{
			Store:       store,
			Queue:       queue,
			DeadLetters: queue,
			Attention:   sqs.NewCircuits(sdk, cfg.CircuitsQueue),
			Aftermath:   aftermath.Aftermath{Store: store, Notices: notices},
			Notices:     notices,
			Metrics:     metrics,
			Log:         log,
			Now:         time.Now,
		},
		log: log,
	}
	lambda.StartWithOptions(h.Handle, lambda.WithContext(ctx))

	return nil
}
