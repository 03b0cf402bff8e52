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
	Tasks       *TaskQueues
	DeadLetters *DeadLetters
	Circuits    *CircuitQueue
	Jobs        *JobQueue
}

// Depths returns exact depths.
func (q Queues) Depths(context.Context) (map[string]status.Depth, error) {
	return map[string]status.Depth{
		"events":        q.Events.events.depth(),
		"rejects":       q.Events.rejects.depth(),
		"live":          q.Tasks.of(hook.QueueLive).depth(),
		"retry":         q.Tasks.of(hook.QueueRetry).depth(),
		"replay":        q.Tasks.of(hook.QueueReplay).depth(),
		"slot":          q.Tasks.of(hook.QueueSlot).depth(),
		"overflow":      q.Tasks.of(hook.QueueOverflow).depth(),
		"coalesce":      q.Tasks.of(hook.QueueCoalesce).depth(),
		"replay_jobs":   q.Jobs.jobs.depth(),
		"circuits":      q.Circuits.checks.depth(),
		"dead_letters":  q.DeadLetters.letters.depth(),
		"undeliverable": {Visible: q.Tasks.Undeliverable() + q.Circuits.Undeliverable() + q.Jobs.Undeliverable()},
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
