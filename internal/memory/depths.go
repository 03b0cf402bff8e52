package memory

import (
	"context"

	"surehook/internal/admin/status"
	"surehook/internal/hook"
)

var _ status.Queues = Queues{}

// Queues are all queues together. All fields must be set.
type Queues struct {
	Lanes       *Queue
	DeadLetters *DeadLetters
	Attention   *CircuitQueue
	Jobs        *JobQueue
}

// Depths returns the depth of each queue, by the names that people read. What
// is undeliverable does not happen in memory.
func (q Queues) Depths(context.Context) (map[string]status.Depth, error) {
	return map[string]status.Depth{
		"live":          q.Lanes.lane(hook.LaneLive).depth(),
		"retry":         q.Lanes.lane(hook.LaneRetry).depth(),
		"replay":        q.Lanes.lane(hook.LaneReplay).depth(),
		"replay_jobs":   q.Jobs.jobs.depth(),
		"circuits":      q.Attention.looks.depth(),
		"dead_letters":  q.DeadLetters.letters.depth(),
		"undeliverable": {},
	}, nil
}

// depth returns how many messages there are, by what became of them so far.
func (l *line[T]) depth() status.Depth {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.show(l.now())
	hidden := l.hidden.len()
	return status.Depth{Visible: len(l.all) - hidden, InFlight: l.flights, Delayed: hidden - l.flights}
}
