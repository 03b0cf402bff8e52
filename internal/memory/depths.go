package memory

import (
	"context"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
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
func (q Queues) Depths(context.Context) (names.Queues[status.Depth], error) {
	return names.Queues[status.Depth]{
		Events:        q.Events.events.depth(),
		Rejects:       q.Events.rejects.depth(),
		Live:          q.Tasks.of(hook.QueueLive).depth(),
		Retry:         q.Tasks.of(hook.QueueRetry).depth(),
		Replay:        q.Tasks.of(hook.QueueReplay).depth(),
		Slot:          q.Tasks.of(hook.QueueSlot).depth(),
		Overflow:      q.Tasks.of(hook.QueueOverflow).depth(),
		Coalesce:      q.Tasks.of(hook.QueueCoalesce).depth(),
		ReplayJobs:    q.Jobs.jobs.depth(),
		Circuits:      q.Circuits.checks.depth(),
		DeadLetters:   q.DeadLetters.letters.depth(),
		Undeliverable: status.Depth{Visible: q.Tasks.Undeliverable() + q.Circuits.Undeliverable() + q.Jobs.Undeliverable()},
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
