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

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook/functions/accept"
	"surehook/functions/notices"
	"surehook/functions/start"
	"surehook/internal/aftermath"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sqs"
	"surehook/internal/breaker"
	"surehook/internal/config"
	"surehook/internal/metric"
)

func main() {
	if start.Function(context.Background(), os.LookupEnv, config.ForBreaker, wire) != nil {
		os.Exit(1)
	}
}

// wire makes the handler, once per execution environment.
func wire(cfg config.Breaker, sdk aws.Config, log *slog.Logger) (any, error) {
	store := dynamo.New(sdk, cfg.Table)
	metrics := metric.Set{Environment: cfg.Environment}
	teller, err := notices.Teller(sdk, store, notices.Config{
		Events:   accept.Config{LiveQueue: cfg.LiveQueue, Retention: cfg.Retention, Now: time.Now},
		TopicARN: cfg.TopicARN,
		Metrics:  metrics,
	}, log)
	if err != nil {
		return nil, fmt.Errorf("wire notices: %w", err)
	}
	queue := sqs.New(sdk, sqs.URLs{Retry: cfg.RetryQueue, DeadLetters: cfg.DeadLettersQueue})
	h := &handler{
		breaker: &breaker.Breaker{
			Store:       store,
			Queue:       queue,
			DeadLetters: queue,
			Attention:   sqs.NewCircuits(sdk, cfg.CircuitsQueue),
			Aftermath:   aftermath.Aftermath{Store: store, Notices: teller},
			Notices:     teller,
			Metrics:     metrics,
			Log:         log,
			Now:         time.Now,
		},
		log: log,
	}
	return h.Handle, nil
}
