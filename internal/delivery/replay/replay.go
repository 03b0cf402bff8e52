package replay

import (
	"log/slog"
	"time"

	"surehook/internal/hook"
)

// Replayer holds the use cases. All fields must be set.
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
