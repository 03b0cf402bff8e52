package replay

import (
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// Replayer replays, discards and cancels deliveries, and runs replay jobs. All
// fields but Metrics, Wait and Ended are required.
type Replayer struct {
	Store    Store
	Queue    settle.TaskQueue
	JobQueue JobQueue
	Metrics  emf.Set // with an empty environment, no metrics are written
	Log      *slog.Logger
	Now      func() time.Time
	NewID    func() hook.JobID
	Wait     store.Wait // between two tries of a write; nil: by the real clock

	// Ended is called for each delivery that Discard or Cancel ended, before its settlement is
	// completed; nil: not called.
	Ended func(before, after hook.Delivery)
}
