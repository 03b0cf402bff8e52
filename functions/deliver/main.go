// Function deliver takes batches of tokens from the lanes and makes the attempts they stand for.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"surehook/internal/aftermath"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/scheduler"
	"surehook/internal/aws/seal"
	"surehook/internal/aws/sns"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/deliver"
	"surehook/internal/egress"
	"surehook/internal/gate"
	"surehook/internal/hook"
	"surehook/internal/ingest"
	"surehook/internal/metric"
	"surehook/internal/names"
	"surehook/internal/notice"
	"surehook/internal/send"
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
	cfg, err := config.ForDeliver(os.LookupEnv)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load AWS config: %w", err)
	}
	vault, err := seal.New(sdk, cfg.KeyARN)
	if err != nil {
		return fmt.Errorf("open vault: %w", err)
	}
	policy := egress.Policy{Loopback: cfg.Egress.Loopback, RuntimeAPI: cfg.Egress.RuntimeAPI}
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
	h := &handler{deliverer: &deliver.Deliverer{
		Store: store,
		Queue: queue,
		Schedules: scheduler.New(sdk, scheduler.Config{
			Group:         cfg.ScheduleGroup,
			RoleARN:       cfg.ScheduleRoleARN,
			TargetARN:     cfg.RetryQueueARN,
			DeadLetterARN: cfg.UndeliverableARN,
		}),
		DeadLetters: queue,
		Vault:       vault,
		Sender:      &send.Sender{Client: egress.NewClient(policy), Policy: policy, UserAgent: names.UserAgent, Now: time.Now},
		Gate: &gate.Gate{
			Store:     store,
			Attention: sqs.NewCircuits(sdk, cfg.CircuitsQueue),
			Notices:   notices,
			Now:       time.Now,
			Rand:      rand.Float64,
		},
		Aftermath: aftermath.Aftermath{Store: store, Notices: notices},
		Notices:   notices,
		Metrics:   metrics,
		Log:       log,
		Now:       time.Now,
	}}
	lambda.StartWithOptions(h.Handle, lambda.WithContext(ctx))

	return nil
}
