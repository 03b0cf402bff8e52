// Package start is how every function begins: it reads the configuration, loads
// that of the SDK, has the handler wired and runs it. It knows no function.
package start

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"surehook/internal/config"
	"surehook/internal/names"
)

// Wire makes a function's handler, once per execution environment.
type Wire[C any] func(cfg C, sdk aws.Config, log *slog.Logger) (handler any, err error)

// Function runs the function until Lambda ends the process. It returns only
// when the function could not start, and has logged why.
func Function[C any](ctx context.Context, lookup config.Lookup, read func(config.Lookup) (C, error), wire Wire[C]) error {
	log := lambdacontext.NewLogger()
	handler, err := handlerOf(ctx, lookup, read, wire, log)
	if err != nil {
		log.ErrorContext(ctx, "function.failed_to_start", slog.Any(names.LogError, err))
		return err
	}
	lambda.StartWithOptions(handler, lambda.WithContext(ctx))
	return nil
}

func handlerOf[C any](
	ctx context.Context, lookup config.Lookup, read func(config.Lookup) (C, error), wire Wire[C], log *slog.Logger,
) (any, error) {
	cfg, err := read(lookup)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS config: %w", err)
	}
	return wire(cfg, sdk, log)
}
