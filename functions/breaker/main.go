// Function breaker looks after endpoints whose circuit is not closed or for
// which deliveries are parked: when it is asked to, and every minute.
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
	"surehook/internal/aws/sqs"
	"surehook/internal/breaker"
	"surehook/internal/config"
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
	cfg, err := config.ForBreaker(os.LookupEnv)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load AWS config: %w", err)
	}
	queue := sqs.New(sdk, sqs.URLs{Retry: cfg.RetryQueue, DeadLetters: cfg.DeadLettersQueue})
	h := &handler{
		breaker: &breaker.Breaker{
			Store:       dynamo.New(sdk, cfg.Table),
			Queue:       queue,
			DeadLetters: queue,
			Attention:   sqs.NewCircuits(sdk, cfg.CircuitsQueue),
			Log:         log,
			Now:         time.Now,
		},
		log: log,
	}
	lambda.StartWithOptions(h.Handle, lambda.WithContext(ctx))

	return nil
}
