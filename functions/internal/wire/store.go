package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/names"
)

// Store returns the store in the table. A record that the build cannot read is logged, and
// counted if metrics has an environment.
func Store(sdk aws.Config, table string, metrics emf.Set, log *slog.Logger, now func() time.Time) *dynamo.Store {
	store := dynamo.New(sdk, table)
	store.Unreadable = func(ctx context.Context, record string, err error) {
		line := []slog.Attr{slog.String(names.LogRecord, record), slog.Any(names.LogError, err)}
		log.LogAttrs(ctx, slog.LevelError, "record.unreadable", metrics.Append(line, now(), emf.Count(names.MetricUnread, 1))...)
	}
	return store
}
