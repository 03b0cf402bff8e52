package replay

import (
	"context"
	"log/slog"

	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// progressed reports whether this message moved the job: the position of the selection,
// or the counts of deliveries. So a job of any size stays below hook.MaxHops.
func (w *jobRun) progressed() bool {
	was, is := w.read, w.job
	return is.Endpoint != was.Endpoint || is.Cursor != was.Cursor || is.Selected != was.Selected ||
		is.Enqueued != was.Enqueued || is.Skipped != was.Skipped
}

// logCircling counts a message sent on hook.MaxHops times or more.
func (w *jobRun) logCircling(ctx context.Context, m Message) {
	if m.Hops < hook.MaxHops {
		return
	}
	line := []slog.Attr{
		slog.String(names.LogTenant, string(m.Tenant)),
		slog.String(names.LogJob, string(m.Job)),
		slog.String(names.LogDecision, w.decision),
		slog.Int(names.LogHops, m.Hops),
	}
	w.Log.LogAttrs(ctx, slog.LevelWarn, "job_message.circling", w.Metrics.Append(line, w.Now(), emf.Count(names.MetricSentOn, 1))...)
}
