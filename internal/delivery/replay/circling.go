package replay

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Courier enqueues the messages that follow a message of a job. All fields but Metrics
// are required.
type Courier struct {
	Queue   JobQueue
	Metrics emf.Set
	Log     *slog.Logger
	Now     func() time.Time
}

// SendOn enqueues the message of f, if it has one, and counts a message that circles. received
// is the worker's message. moved reports whether the worker made progress with the job, which
// resets the count of hops.
func (c Courier) SendOn(ctx context.Context, received Message, f Following, moved bool) error {
	if f.Message == (Message{}) {
		return nil
	}
	m := f.Message
	if m.Hops = received.Hops + 1; moved {
		m.Hops = 0
	}
	if m.Hops >= hook.MaxHops {
		settle.LogCircling(ctx, c.Log, c.Metrics, c.Now(), "job_message.circling", m.Hops,
			slog.String(names.LogTenant, string(m.Tenant)),
			slog.String(names.LogJob, string(m.Job)+string(m.Erasure)), // a message has one of the two
			slog.String(names.LogDecision, f.Decision))
	}
	if err := c.Queue.Continue(ctx, m, max(0, f.Delay)); err != nil {
		return fmt.Errorf("enqueue next job message: %w", err)
	}
	return nil
}

// progressed reports whether this message moved the job: the position of the selection, or the
// counts of deliveries. So a job of any size stays below hook.MaxHops.
func (w *jobRun) progressed() bool {
	was, is := w.read, w.job
	return is.Endpoint != was.Endpoint || is.Cursor != was.Cursor || is.Selected != was.Selected ||
		is.Enqueued != was.Enqueued || is.Skipped != was.Skipped
}
