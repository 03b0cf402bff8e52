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

	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/scheduler"
	"surehook/internal/aws/seal"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/deliver"
	"surehook/internal/egress"
	"surehook/internal/gate"
	"surehook/internal/names"
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
	queue := sqs.New(sdk, sqs.URLs{Live: cfg.LiveQueue, Retry: cfg.RetryQueue, DeadLetters: cfg.DeadLettersQueue})
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
			Now:       time.Now,
			Rand:      rand.Float64,
		},
		Log: log,
		Now: time.Now,
	}}
	lambda.StartWithOptions(h.Handle, lambda.WithContext(ctx))

	return nil
}
