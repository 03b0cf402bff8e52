package ingest

import (
	"time"

	"surehook.example/surehook/internal/hook"
)

// arrival is the queue of a task, and when it arrives there.
type arrival struct {
	queue hook.Queue
	at    time.Time
}

// coalesced returns the arrival of an event's task for a coalescing endpoint: all tasks of a
// window arrive at its end, and none before earliest.
func coalesced(c hook.Coalescing, event hook.Event, earliest time.Time) arrival {
	at := c.End(event.AcceptedAt)
	if at.Before(earliest) {
		at = c.Due(earliest)
	}
	return arrival{queue: hook.QueueCoalesce, at: at}
}

// sending is the tasks that arrive together, and the posts that they belong to.
type sending struct {
	to     arrival
	tasks  []hook.Task
	owners []*post
}

// add adds a task to the sending with its arrival. There are few arrivals, because all tasks
// of a window share one.
func (a arrival) add(all []sending, task hook.Task, owner *post) []sending {
	for i := range all {
		if s := &all[i]; s.to.queue == a.queue && s.to.at.Equal(a.at) {
			s.tasks, s.owners = append(s.tasks, task), append(s.owners, owner)
			return all
		}
	}
	return append(all, sending{to: a, tasks: []hook.Task{task}, owners: []*post{owner}})
}
