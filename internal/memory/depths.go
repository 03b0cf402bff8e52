package memory

import (
	"context"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
)

var _ status.Queues = Queues{}

// Queues is the set of all queues. All fields must be set.
type Queues struct {
	Events      *EventQueue
	Lanes       *Queue
	DeadLetters *DeadLetters
	Circuits    *CircuitQueue
	Jobs        *JobQueue
}

// Depths returns exact depths.
func (q Queues) Depths(context.Context) (map[string]status.Depth, error) {
	return map[string]status.Depth{
		"events":        q.Events.events.depth(),
		"rejects":       q.Events.rejects.depth(),
		"live":          q.Lanes.lane(hook.LaneLive).depth(),
		"retry":         q.Lanes.lane(hook.LaneRetry).depth(),
		"replay":        q.Lanes.lane(hook.LaneReplay).depth(),
		"slot":          q.Lanes.lane(hook.LaneSlot).depth(),
		"overflow":      q.Lanes.lane(hook.LaneOverflow).depth(),
		"coalesce":      q.Lanes.lane(hook.LaneCoalesce).depth(),
		"replay_jobs":   q.Jobs.jobs.depth(),
		"circuits":      q.Circuits.checks.depth(),
		"dead_letters":  q.DeadLetters.letters.depth(),
		"undeliverable": {Visible: q.Lanes.Undeliverable() + q.Circuits.Undeliverable() + q.Jobs.Undeliverable()},
	}, nil
}

// depth returns the number of messages by visibility.
func (q *standardQueue[T]) depth() status.Depth {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.show(q.now())
	hidden := q.hidden.len()
	return status.Depth{Visible: len(q.all) - hidden, InFlight: q.load.inFlight, Delayed: hidden - q.load.inFlight}
}
