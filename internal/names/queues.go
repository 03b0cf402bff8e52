package names

// Queues has a value of each queue, such as its URL or its depth.
type Queues[T any] struct {
	Events  T `json:"events"`  // events of backends and of EventBridge, with their payloads
	Rejects T `json:"rejects"` // wrong messages of Events with the reason, and messages that Surehook could not process

	Live   T `json:"live"`
	Retry  T `json:"retry"`
	Replay T `json:"replay"`
	// Slot and Overflow are the queues of single tasks: an invocation is an in-flight slot. A tenant
	// without a free share in Slot goes on in Overflow.
	Slot       T `json:"slot"`
	Overflow   T `json:"overflow"`
	Coalesce   T `json:"coalesce"`    // for endpoints that get the events of a window together
	ReplayJobs T `json:"replay_jobs"` // jobs with a page to process
	Circuits   T `json:"circuits"`    // circuit checks for the breaker

	DeadLetters   T `json:"dead_letters"`  // dead deliveries: failures of customers' endpoints
	Undeliverable T `json:"undeliverable"` // messages after processing failures: our own faults. The queue must stay empty
	// UndeliverableRetry is the same for the retry queue, and for tasks that the Scheduler could not send to
	// the retry queue. All of its messages return to the retry queue. Messages of the Scheduler have no
	// source queue, so in Undeliverable a redrive to the sources would leave them.
	UndeliverableRetry T `json:"-"`
}

// All returns the places of the values by the names of their queues.
func (q *Queues[T]) All() map[string]*T {
	return map[string]*T{
		"events": &q.Events, "rejects": &q.Rejects, "live": &q.Live, "retry": &q.Retry, "replay": &q.Replay, "slot": &q.Slot,
		"overflow": &q.Overflow, "coalesce": &q.Coalesce, "replay_jobs": &q.ReplayJobs, "circuits": &q.Circuits,
		"dead_letters": &q.DeadLetters, "undeliverable": &q.Undeliverable, "undeliverable_retry": &q.UndeliverableRetry,
	}
}
