package replay

import (
	"context"
	"time"

	"surehook/internal/hook"
)

// Store keeps what is replayed. Every read but those of indexes sees every
// write that was acknowledged before it began.
type Store interface {
	// Event returns the event with its payload; CodeNotFound if there is none.
	Event(ctx context.Context, id hook.EventID) (hook.Event, error)
	// Delivery returns the record; CodeNotFound if there is none.
	Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error)
	// Deliveries returns the recorded deliveries of the event, all generations.
	Deliveries(ctx context.Context, id hook.EventID) ([]hook.Delivery, error)
	// DeliveriesByID returns the records that there are, in no particular order.
	DeliveriesByID(ctx context.Context, ids []hook.DeliveryID) ([]hook.Delivery, error)
	// SaveDelivery writes the delivery as version d.Version+1; CodeConflict if the
	// stored version is not d.Version (0: no record), and nothing is written.
	SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error
}

// Index finds deliveries. It may lag a moment behind their records; what it
// returns is what the records are, without those that left the state since.
type Index interface {
	// Select returns a page of the selection, the oldest first; it may be short, or
	// empty. next is where the one after begins, empty at the end.
	Select(ctx context.Context, s Selection) (page []hook.Delivery, next string, err error)
	// CountSelected returns how many deliveries the index has in the selection; After and Limit do not count.
	CountSelected(ctx context.Context, s Selection) (int, error)
}

// Selection is deliveries of one endpoint, as the index can tell them apart.
type Selection struct {
	Endpoint hook.EndpointID
	State    hook.State // a recorded one
	From, To time.Time  // of their creation: From is in it, To is not; zero: without bound
	After    string     // the next of the page before; empty: from the oldest
	Limit    int        // 1 to 100
}

// Endpoints are the tenant's. Every read sees every write that was acknowledged before it began.
type Endpoints interface {
	// Endpoint returns the endpoint; CodeNotFound if the tenant has none such.
	Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error)
	// EndpointByUID returns the endpoint with the alias; CodeNotFound if the tenant has none such.
	EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error)
	// Endpoints returns all endpoints of the tenant, in the order of their ids.
	Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error)
}

// Jobs keeps replay jobs. Every read but Jobs sees every write that was
// acknowledged before it began.
type Jobs interface {
	// Job returns the job; CodeNotFound if the tenant has none such.
	Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (Job, error)
	// SaveJob writes the job as version j.Version+1; CodeConflict if the stored
	// version is not j.Version (0: no record), and nothing is written.
	SaveJob(ctx context.Context, j Job) error
	// Jobs returns jobs of the tenant, the newest first, at most limit (1 to 100),
	// that are older than before; empty: from the newest.
	Jobs(ctx context.Context, tenant hook.TenantID, before hook.JobID, limit int) ([]Job, error)
	// JobOutcomes returns how many deliveries of the job were counted as settled. One
	// that was counted as delivered counts as nothing else.
	JobOutcomes(ctx context.Context, id hook.JobID) (Outcomes, error)
}

// Queue carries tokens.
type Queue interface {
	// Send puts the tokens on the lane, to be received after the delay (0 to
	// 15 minutes, whole seconds; rounded up). It returns nil when the queue has
	// them all, else one entry per token: nil for those it has.
	Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error
}

// JobQueue carries the messages that drive jobs.
type JobQueue interface {
	// Continue makes the job go on after the delay, which is cut to 15 minutes:
	// the worker asks again when it was asked too early.
	Continue(ctx context.Context, m Message, delay time.Duration) error
}

// Settlement is what follows when a delivery is settled.
type Settlement interface {
	// Complete does what follows from the delivery, as it is recorded. It may be done twice.
	Complete(ctx context.Context, d hook.Delivery) error
}
