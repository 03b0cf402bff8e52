// Function manage answers everything of the API but the posting of events:
// endpoints and their circuits, keys, and reads of what was posted and what came of it.
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
	"surehook/internal/aws/seal"
	"surehook/internal/aws/sqs"
	"surehook/internal/config"
	"surehook/internal/egress"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/ingest"
	"surehook/internal/names"
	"surehook/internal/registry"
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
	cfg, err := config.ForManage(os.LookupEnv)
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
	reg := &registry.Registry{
		Endpoints: store,
		Circuits:  store,
		Attention: sqs.NewCircuits(sdk, cfg.CircuitsQueue),
		History:   store,
		Stats:     store,
		Index:     store,
		Queues:    depths{sqs.NewDepths(sdk), cfg.Queues},
		Keys:      store,
		Vault:     vault,
		Policy:    egress.Policy{Loopback: cfg.Egress.Loopback, RuntimeAPI: cfg.Egress.RuntimeAPI},
		Now:       time.Now,
	}
	lambda.StartWithOptions(gateway.Handle(httpapi.Manage(reg, acceptor, log)), lambda.WithContext(ctx))

	return nil
}
