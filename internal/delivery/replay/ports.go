package replay

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// Store keeps all that a replay reads and writes.
type Store interface {
	Deliveries
	Index
	Endpoints
	Jobs
	settle.TenantLimits
}

// Deliveries keeps events and deliveries. Every read sees every write acknowledged
// before the read began.
type Deliveries interface {
	settle.Store
	settle.DeliveriesReader
	// AddTarget adds the target to the stored event. It returns CodeConflict if the event
	// already has the endpoint, with any number of shards, or already has hook.MaxTargets
	// targets; if its payload was erased; and if there is no event with the tenant and the time
	// of acceptance of e.
	AddTarget(ctx context.Context, e hook.Event, target hook.Target) error
	// EraseEvent removes the payload of the event and sets ErasedAt to e.ErasedAt. It returns
	// CodeConflict if there is no event with the id and the time of acceptance. Of several
	// calls the first time stays.
	EraseEvent(ctx context.Context, e hook.Event) error
	// EraseAttempts removes the response bodies of the recorded attempts of the delivery.
	EraseAttempts(ctx context.Context, d hook.Delivery) error
}

// Index finds deliveries. It may lag a moment behind the records, but the returned deliveries
// are current records: those no longer in the selected state are left out.
type Index interface {
	// Select returns a page of the selection, the oldest first. A page may be short
	// or empty before the end. next is the start of the next page, empty at the end.
	Select(ctx context.Context, s Selection) (page []hook.Delivery, next string, err error)
	// CountSelected returns the number of indexed deliveries in the selection.
	// CountSelected ignores After and Limit. With an error the number is the count
	// so far.
	CountSelected(ctx context.Context, s Selection) (int, error)
	// SelectEvents returns a page of events, the oldest first, like Select, but by the time of
	// acceptance: the tenant's events with a recorded delivery to the target in any state, or, if it
	// has no endpoint, those without a target. It reads no event: each has its ID, Tenant and
	// AcceptedAt alone.
	SelectEvents(ctx context.Context, tenant hook.TenantID, s Selection) (page []hook.Event, next string, err error)
}

// Selection selects deliveries of one endpoint by the fields of the index.
type Selection struct {
	hook.Target // the endpoint with the highest number of shards so far

	State    hook.State // a recorded state
	From, To time.Time  // bounds of CreatedAt: From is inclusive, To is exclusive; zero: no bound
	After    string     // next of the previous page; empty: from the oldest
	Limit    int        // 1 to 100
}

// Endpoints reads the endpoints of a tenant. Every read sees every write
// acknowledged before the read began.
type Endpoints interface {
	settle.EndpointReader
	settle.EndpointLister
	// EndpointByUID returns the endpoint with the uid, or CodeNotFound when the
	// tenant has no such endpoint.
	EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error)
}

// MaxListed is the most jobs of a list: a page of the API, and one more that tells whether it is the last.
const MaxListed = 101

// Jobs keeps replay jobs. Every read except Jobs sees every write acknowledged
// before the read began.
type Jobs interface {
	// Job returns the job, or CodeNotFound when the tenant has no such job.
	Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (Job, error)
	// SaveJob writes j as version j.Version+1. If the stored version is not j.Version, it
	// writes nothing and returns CodeConflict; version 0 means "no record". It recognises its own
	// write, if that is repeated because the answer was lost. A running job
	// counts as open until it is saved in another state. If the tenant has MaxOpenJobs open
	// jobs, SaveJob stores no further one and returns CodeThrottled.
	SaveJob(ctx context.Context, j Job) error
	// Jobs returns jobs of the tenant older than before, the newest first, at most
	// limit (1 to MaxListed). An empty before begins with the newest.
	Jobs(ctx context.Context, tenant hook.TenantID, before hook.JobID, limit int) ([]Job, error)
	// JobOutcomes returns how many deliveries of the job settled with each outcome. A delivery
	// that counts as delivered counts under no other outcome.
	JobOutcomes(ctx context.Context, id hook.JobID) (Outcomes, error)
}

// JobQueue carries the messages of jobs.
type JobQueue interface {
	// Continue makes a worker continue the job after the delay. A delay longer than 15 minutes
	// is cut to 15 minutes: a worker that is called too early enqueues the message again.
	Continue(ctx context.Context, m Message, delay time.Duration) error
}
