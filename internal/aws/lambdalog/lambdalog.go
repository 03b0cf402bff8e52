// Package lambdalog writes the log lines of the functions: JSON with Lambda's keys, in as few
// bytes as possible, because CloudWatch charges by the byte. The package knows no message and no
// field of a line.
package lambdalog

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// New returns a logger with lines at INFO and above. Lambda filters by its own level.
//
// A time has milliseconds, the precision of CloudWatch. Only lines at WARN and above name
// the invocation: an execution environment has one log stream and runs one invocation at
// a time, so stream and time lead from any other line to its invocation.
// https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
func New(w io.Writer) *slog.Logger {
	return slog.New(handler{slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})})
}

type handler struct{ slog.Handler }

// Handle writes the line.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	if invocation, ok := lambdacontext.FromContext(ctx); ok && r.Level >= slog.LevelWarn {
		r = r.Clone()
		r.AddAttrs(slog.String("requestId", invocation.AwsRequestID)) //nolint:sloglint // Lambda named it
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns the handler with further fields.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns the handler with an open group.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
