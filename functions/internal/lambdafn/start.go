// Package lambdafn starts Lambda functions, logs why invocations failed, and builds the responses to
// batches of queue messages. The package knows no particular function.
package lambdafn

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"surehook.example/surehook/internal/aws/lambdalog"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/names"
)

// Function is what a function has from its start: its settings, the configuration of the clients of AWS,
// and what its log lines and metrics need.
type Function struct {
	config.Settings

	SDK     aws.Config
	Metrics emf.Set
	Log     *slog.Logger
	Now     func() time.Time
}

// NewHandler wires a function's handler, once per execution environment.
type NewHandler func(f Function) (handler any, err error)

// Start runs the function until Lambda ends the process. It returns the exit code of the process
// only if the start failed, and has then logged the error.
//
// Start discards the output of the standard logger, to which net/http writes bytes that receivers
// send, such as a response without a request. Surehook and the SDK have loggers of their own, and
// logged replaces the lines of Lambda's library about failed invocations.
func Start(ctx context.Context, function string, lookup config.Lookup, newHandler NewHandler) (code int) {
	stdlog.SetOutput(io.Discard)
	log := lambdalog.New(os.Stdout)
	handler, err := handlerOf(ctx, function, lookup, newHandler, log)
	if err != nil {
		log.ErrorContext(ctx, "function.failed_to_start", slog.Any(names.LogError, err))
		return 1
	}
	lambda.StartWithOptions(logged{lambda.NewHandler(handler), log}, lambda.WithContext(ctx))
	return 0
}

// logged logs why an invocation failed. Lambda's library writes that to the standard logger.
type logged struct {
	lambda.Handler

	log *slog.Logger
}

// Invoke calls the handler, and logs its error or its panic. A panic goes on, so that Lambda's
// library ends the process.
func (h logged) Invoke(ctx context.Context, payload []byte) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.fail(ctx, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			panic(p)
		}
		if err != nil {
			h.fail(ctx, err)
		}
	}()
	return h.Handler.Invoke(ctx, payload)
}

func (h logged) fail(ctx context.Context, err error) {
	h.log.ErrorContext(ctx, "function.failed", slog.Any(names.LogError, err))
}

// Ignore reports wrong settings that the function starts without: in the log, and in the metric of
// an alarm.
func (f Function) Ignore(ctx context.Context, faults ...error) {
	if len(faults) == 0 {
		return
	}
	line := []slog.Attr{slog.Any(names.LogError, errors.Join(faults...))}
	f.Log.LogAttrs(ctx, slog.LevelError, "function.settings_ignored", f.Metrics.Append(line, f.Now(), emf.Count(names.MetricIgnored, len(faults)))...)
}

func handlerOf(ctx context.Context, function string, lookup config.Lookup, newHandler NewHandler, log *slog.Logger) (any, error) {
	cfg, ignored, err := config.Read(function, lookup)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	sdk, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS config: %w", err)
	}
	f := Function{Settings: cfg, Metrics: emf.Set{Environment: cfg.Environment}, Log: log, Now: time.Now} //nolint:forbidigo // wiring: the functions that start here have no clock of their own
	f.SDK = f.watched(shared(sdk, idleTimeout))
	f.Ignore(ctx, ignored...)
	return newHandler(f)
}
