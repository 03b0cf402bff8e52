package breaker

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/rule/stats"
)

// Store keeps endpoints, circuits, deliveries and counts. Every read sees every
// write acknowledged before the read began, except for reads of an index.
type Store interface {
	Circuits
	Deliveries
	settle.OutcomeRecorder
	admit.Counter
	Reviewer
	admit.LimitStore
}

// Reviewer keeps what the review judges by, and what it does.
type Reviewer interface {
	StatsReader
	backlog.Index
	settle.EndpointDisabler
}

// Circuits keeps the circuit records and an index of the records by AttendAt.
type Circuits interface {
	admit.CircuitStore
	// DueCircuits returns a check for each endpoint whose AttendAt has come by now, the
	// earliest first, at most limit (1 to 10,000). The index may lag a moment.
	DueCircuits(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error)
	// DueLooks returns a check for each endpoint that has no AttendAt and whose LookAt has come
	// by now, the earliest first, at most limit (1 to 1000). The index may lag a moment.
	DueLooks(ctx context.Context, now time.Time, limit int) ([]hook.CircuitCheck, error)
	CircuitLister
}

// CircuitLister lists the circuit records for which a check is planned.
type CircuitLister interface {
	// Attended returns the records with an AttendAt, due or not, the earliest first,
	// at most limit (1 to 1000). The index may lag a moment.
	Attended(ctx context.Context, limit int) ([]admission.Record, error)
}

// StatsReader reads the hourly counts.
type StatsReader interface {
	// Hours returns the endpoint's counts of the hours beginning at or after since,
	// in order. Hours without counts may be absent.
	Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error)
	// Active returns the endpoints with counts in the hour of at, in the order of
	// tenant and id, at most limit (1 to 1000). The page begins after the given
	// check; the zero CircuitCheck begins with the first endpoint. An empty page is
	// the end. The index may lag a moment.
	Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error)
}

// Deliveries keeps the records of deliveries, with indexes of parked ones and of those whose
// task may be lost.
type Deliveries interface {
	settle.OrderStore
	// DueSequences returns the sequences whose LookAt has come by now, the earliest first, at most limit (1 to
	// 1000). The index may lag a moment.
	DueSequences(ctx context.Context, now time.Time, limit int) ([]order.Sequence, error)
	admit.ParkedReader
	settle.DeliveriesReader
	// Overdue returns deliveries of all endpoints in the state, retrying or queued, whose OverdueFrom
	// is before the time and whose ListedAt is at or after from, in the order of ListedAt, at most
	// limit (1 to 1000). A zero from leaves out none. The index may lag a moment, but every returned
	// delivery is in the state.
	Overdue(ctx context.Context, state hook.State, from, before time.Time, limit int) ([]hook.Delivery, error)
	// Unrecorded returns those of the refs that have no record, in their order. It may miss a
	// record that was written a moment ago.
	Unrecorded(ctx context.Context, refs []hook.DeliveryRef) ([]hook.DeliveryRef, error)
}

// CircuitQueue carries circuit checks, and pages of reviews.
type CircuitQueue interface {
	admit.CircuitQueue
	// EnqueueReview makes the breaker review the endpoints of the page, at most 100.
	EnqueueReview(ctx context.Context, page hook.ReviewPage) error
}

// Queue carries tasks.
type Queue interface {
	settle.TaskQueue
	// Visible returns the approximate number of tasks on the queue that are ready to be
	// received. Tasks with a delay and received tasks do not count.
	Visible(ctx context.Context, queue hook.Queue) (int, error)
}

// DeadLetters is the dead-letter queue.
type DeadLetters interface {
	settle.DeadLetters
	// Receive returns at most 10 letters and hides them from other receivers for a minute. An
	// empty result does not prove that the queue is empty.
	Receive(ctx context.Context) ([]Letter, error)
	// Remove removes received letters, at most 10.
	Remove(ctx context.Context, letters []Letter) error
	// Depth returns the approximate number of letters, hidden letters included.
	Depth(ctx context.Context) (int, error)
}

// Letter is a received message of the dead-letter queue.
type Letter struct {
	ID      string // unique, and the same for every receipt of the letter
	Receipt string // handle for Remove, valid while the letter is hidden
	Body    string // encoded hook.DeadLetter
}
