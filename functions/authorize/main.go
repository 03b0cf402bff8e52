// Function authorize tells API Gateway who makes a request.
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

	"surehook/internal/authorize"
	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/secret"
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
	cfg, err := config.ForAuthorize(os.LookupEnv)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("load AWS config: %w", err)
	}
	h := &handler{
		authenticator: &authorize.Authenticator{
			Keys:  dynamo.New(sdk, cfg.Table),
			Admin: secret.New(sdk, cfg.AdminKeySecretARN, time.Now),
			Log:   log,
			Now:   time.Now,
		},
		log: log,
	}
	lambda.StartWithOptions(h.Handle, lambda.WithContext(ctx))

	return nil
}
