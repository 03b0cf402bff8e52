package settle

import (
	"context"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/rule/stats"
)

// DeliveryStore keeps the records of deliveries. Every read sees every write that was
// acknowledged before the read began.
type DeliveryStore interface {
	// Delivery returns the record, or CodeNotFound.
	Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error)
	// SaveDelivery writes d, as it was read but for the decision, as version d.Version+1. A non-nil
	// attempt, with the number d.Attempts, is recorded by the same write. If the stored version is
	// not d.Version, SaveDelivery records neither and returns CodeConflict. Version 0 means that
	// there is no record.
	SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error
}

// OrderStore is what moves sequences.
type OrderStore interface {
	SequenceStore
	EndpointReader
	EventReader
	DeliveryStore
}

// SequenceStore keeps the sequences of ordered deliveries, see package order. Every read sees every write
// that was acknowledged before the read began.
type SequenceStore interface {
	// Sequence returns the sequence; one of version 0 if there is no record.
	Sequence(ctx context.Context, tenant hook.TenantID, id order.ID) (order.Sequence, error)
	// SaveSequence writes s as version s.Version+1. If the stored version is not s.Version, it writes
	// nothing and returns CodeConflict. A write whose answer was lost is recognized.
	SaveSequence(ctx context.Context, s order.Sequence) error
	// PutPlace stores the place of a delivery that waits, unless it is stored.
	PutPlace(ctx context.Context, id order.ID, p order.Place) error
	// NextPlace returns the first place with a number between from and to, which count; nil if there is none.
	NextPlace(ctx context.Context, id order.ID, from, to int64) (*order.Place, error)
}

// DeliveriesReader reads the records of several deliveries. Every read sees every
// write acknowledged before the read began.
type DeliveriesReader interface {
	// DeliveriesByRef returns the existing records. For a record that this build cannot read, the
	// delivery has only its key; see hook.Delivery.Unreadable.
	DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) (map[hook.DeliveryRef]hook.Delivery, error)
}

// EventReader reads events with their deliveries. Every read sees every write that was
// acknowledged before the read began.
type EventReader interface {
	// Event returns the event with its payload, or CodeNotFound. An erased event has no payload.
	Event(ctx context.Context, id hook.EventID) (hook.Event, error)
	// Deliveries returns the recorded deliveries of the event, in the order of endpoint and
	// generation, including unreadable ones. The record of a replayed delivery names the next
	// generation.
	Deliveries(ctx context.Context, e hook.Event) ([]hook.Delivery, error)
}

// EndpointReader reads endpoints. Every read sees every write that was acknowledged before the read
// began.
type EndpointReader interface {
	// Endpoint returns the endpoint, or CodeNotFound if the tenant has no such endpoint.
	Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error)
}

// EndpointLister lists endpoints. Every read sees every write that was acknowledged before the read
// began.
type EndpointLister interface {
	// Endpoints returns all endpoints of the tenant, in the order of their ids.
	Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error)
	// EndpointIDs returns the ids of the tenant's endpoints after the given one, in their order, at
	// most limit; 0: all.
	EndpointIDs(ctx context.Context, tenant hook.TenantID, after hook.EndpointID, limit int) ([]hook.EndpointID, error)
	// EndpointsOf returns those of the tenant's endpoints with the ids that exist, in the order of
	// their ids.
	EndpointsOf(ctx context.Context, tenant hook.TenantID, ids []hook.EndpointID) ([]hook.Endpoint, error)
}

// EndpointStore reads and changes endpoints.
type EndpointStore interface {
	EndpointReader
	// UpdateEndpoint writes e as version e.Version+1 and changes the tenant's version. If the
	// stored version, uid or URL is another, UpdateEndpoint writes nothing and returns
	// CodeConflict.
	UpdateEndpoint(ctx context.Context, e hook.Endpoint) error
}

// EndpointDisabler reads endpoints, and disables them when Surehook itself decides so.
type EndpointDisabler interface {
	EndpointReader
	// DisableEndpoint does the same as UpdateEndpoint of EndpointStore, and stores the audit
	// record in the same transaction.
	DisableEndpoint(ctx context.Context, e hook.Endpoint, r hook.AuditRecord) error
}

// Spender counts against the limits of tenants.
type Spender interface {
	// Spend applies hook.Spend.After to the stored next-free time of the tenant. Concurrent
	// calls never spend the same time. A wait above 0 means that nothing is counted, and how long
	// it takes until the limit has room.
	Spend(ctx context.Context, tenant hook.TenantID, s hook.Spend) (wait time.Duration, err error)
}

// TenantLimits reads the limits of tenants, and counts against them. Every read sees every write that
// was acknowledged before the read began.
type TenantLimits interface {
	Spender
	// TenantLimits returns the limits; the zero limits for a tenant without limits.
	// CodeTenantClosing for a tenant that is being erased.
	TenantLimits(ctx context.Context, tenant hook.TenantID) (hook.TenantLimits, error)
}

// OutcomeRecorder counts the settled deliveries of replay jobs.
type OutcomeRecorder interface {
	// RecordOutcome counts the settled delivery for its job. Repeated calls count the delivery
	// once; if it was recorded in several states, delivered takes precedence over dead, and dead
	// over cancelled. A discarded delivery counts as cancelled. RecordOutcome returns CodeInternal
	// if the delivery has no job or is not settled.
	RecordOutcome(ctx context.Context, d hook.Delivery) error
}

// Counter counts attempts and deliveries of endpoints.
type Counter interface {
	// Count adds add to the counts of the hour of now, and its OK and Failed to the counts of the
	// minute of now. It returns the sums of OK and Failed in the circuit.Window that ends with
	// that minute. Concurrent calls are all counted. A negative Dead removes deaths. Count does
	// not retain add.
	Count(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, now time.Time) (circuit.Counts, error)
}

// TaskQueue carries tasks due within 15 minutes.
type TaskQueue interface {
	// Send puts the tasks on the queue. They become visible after the delay, 0 to 15 minutes,
	// rounded up to whole seconds; any other delay is CodeInternal. Send returns nil if the queue
	// holds all tasks. Otherwise it returns one entry per task: nil if the queue holds it.
	Send(ctx context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) []error
}

// Schedules hold tasks due later than the longest delay of a queue.
type Schedules interface {
	// At puts the task on the retry queue at the given time, rounded up to a whole second,
	// which must be more than 15 minutes away. Repeated calls with the same task and time make
	// one schedule, whose name is ScheduleName. Every other call makes another schedule, even
	// while a fired schedule has not been deleted yet.
	At(ctx context.Context, task hook.Task, at time.Time) error
}

// DeadLetters is the queue for the messages about dead deliveries.
type DeadLetters interface {
	// Send sends one message about the delivery.
	Send(ctx context.Context, letter hook.DeadLetter) error
}

// Notifier sends notifications to the owners of endpoints and to operators.
type Notifier interface {
	// Notify sends the notification to all recipients. After an error the caller may repeat the
	// call: the history and the tenant's endpoints get one event per notification key, and
	// operators may get duplicates.
	Notify(ctx context.Context, n hook.Notification) error
}
