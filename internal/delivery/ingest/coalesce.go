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

// sending is a task to send, and the post that it belongs to.
type sending struct {
	to    arrival
	task  hook.Task
	owner *post
}
