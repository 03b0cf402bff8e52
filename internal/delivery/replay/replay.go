package replay

import (
	"log/slog"
	"time"

	"surehook/internal/hook"
)

// Replayer replays, discards and cancels deliveries, and runs replay jobs. All
// fields are required.
type Replayer struct {
	Store      Store
	Index      Index
	Endpoints  Endpoints
	Jobs       Jobs
	Queue      Queue
	JobQueue   JobQueue
	Settlement Settlement
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() (hook.JobID, error)
}
