package replay

import (
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Defaults and bounds of a job.
const (
	DefaultRate = 50.0 // deliveries a second
	MinRate     = 0.1
	MaxRate     = 500.0
	MaxTypes    = 20
	MaxOpenJobs = 10                  // running jobs of a tenant
	PageSize    = 100                 // deliveries per page
	MaxLimit    = 1_000_000           // deliveries of a job with a limit
	KeepJobs    = 30 * 24 * time.Hour // retention of a job after its end

	maxPageTime = 10 * time.Second // how long a page lasts at the job's rate
)

// Filter selects deliveries of a tenant for a job.
type Filter struct {
	Endpoint hook.EndpointID `stored:"endpoint"` // empty: all endpoints
	State    hook.State      `stored:"state"`    // dead, parked, delivered or discarded
	Types    []string        `stored:"types"`    // patterns of event types, as in subscriptions, at most MaxTypes; empty: all
	From     time.Time       `stored:"from"`     // bound of CreatedAt, inclusive; zero: none
	To       time.Time       `stored:"to"`       // bound of CreatedAt, exclusive; at most the CreatedAt of the job
	Class    Cause           `stored:"class"`
	Status   int             `stored:"status"` // of the response to the last attempt; 0: any response or none
	// AddTo is an endpoint that the job adds to the events of the filter, whatever the states of their
	// deliveries, and sends the events to. From and To then bound the acceptance of the events. Empty:
	// the job replays deliveries.
	AddTo hook.EndpointID `stored:"add_to"`
	// DiedSince is the earliest death of a dead delivery, inclusive; zero: any. From and
	// To bound the creation, which may be days earlier.
	DiedSince time.Time
}

// Cause selects deliveries by the class of their last attempt, like the groups of an Analysis, or those
// without an attempt. The zero Cause selects all deliveries.
type Cause hook.Class

// NoAttempt selects deliveries without an attempt.
const NoAttempt = Cause(hook.Classes)

// String returns the cause as it appears in the API.
func (c Cause) String() string {
	if c == NoAttempt {
		return "none"
	}
	return hook.Class(c).String()
}

// Terms are what a job does with the deliveries of its filter.
type Terms struct {
	Action Action
	Rate   float64 `stored:"rate"`  // deliveries a second, MinRate to MaxRate
	Limit  int     `stored:"limit"` // the most deliveries to replay or discard, 1 to MaxLimit; 0: all. A dry run counts without it
	// Expected is the number of deliveries that a dry run found, with which the job shows its progress;
	// 0: unknown. It bounds nothing.
	Expected int        `stored:"expected"`
	By       hook.KeyID `stored:"by"`
}

// Action is what happens to a selected delivery.
type Action bool

// The actions.
const (
	ActionReplay  Action = false
	ActionDiscard Action = true // of a dead delivery; nothing is sent
)

// String returns the action as it appears in the API.
func (a Action) String() string {
	if a == ActionDiscard {
		return "discard"
	}
	return "replay"
}

// Job is a replay, or the discard, of all deliveries of a filter.
type Job struct {
	Terms

	ID        hook.JobID    `stored:"id"`
	Tenant    hook.TenantID `stored:"tenant"`
	Filter    Filter        `stored:"filter"`
	State     JobState
	CreatedAt time.Time `stored:"created_at"`
	UpdatedAt time.Time `stored:"updated_at"`
	EndedAt   time.Time `stored:"ended_at"`           // zero while the job runs
	ExpiresAt time.Time `stored:"expires_at,seconds"` // removal of the record: KeepJobs after UpdatedAt
	Version   int64     `stored:"version"`            // of the stored record; 0: no record

	Selected int `stored:"selected"` // deliveries selected so far
	Enqueued int `stored:"enqueued"` // selected deliveries whose replay was sent, or that this job discarded
	Skipped  int `stored:"skipped"`  // selected deliveries that this job left alone
	// SkippedBy counts the skipped deliveries by reason. A job of an earlier build has
	// skipped deliveries without a reason.
	SkippedBy map[Skip]int `stored:"skipped_by"`

	Endpoint hook.EndpointID    `stored:"endpoint"` // where the selection continues; empty at the beginning
	Cursor   string             `stored:"cursor"`   // where it continues within Endpoint; empty at the beginning
	Selects  bool               `stored:"selects"`  // there may be more deliveries to select
	Pending  []hook.DeliveryRef `stored:"pending"`  // the page to send; the last JobIndex is Selected-1
	NextAt   time.Time          `stored:"next_at"`  // when the rate allows the next page

	Chain
}

// pageSize returns the limit of the next page: the deliveries of maxPageTime at the rate,
// 1 to PageSize, and no more than the limit of the job leaves.
func (j Job) pageSize() int {
	size := min(PageSize, max(1, int(j.Rate*maxPageTime.Seconds())))
	if j.Limit > 0 {
		size = min(size, j.Limit-j.Enqueued) // a skipped delivery does not count
	}
	return size
}

// JobState is the state of a job.
type JobState uint8

// The states of a job. The zero JobState is not valid.
const (
	JobRunning   JobState = iota + 1
	JobFinished           // every selected delivery is enqueued or skipped, or the limit is reached
	JobCancelled          // by hand; enqueued deliveries continue
)

// String returns the state as it appears in the API.
func (s JobState) String() string {
	return hook.Names[JobState]{JobRunning: "running", JobFinished: "finished", JobCancelled: "cancelled"}.Of(s)
}

// Outcomes counts the settled deliveries of a job.
type Outcomes struct {
	Delivered int `json:"delivered"`
	Dead      int `json:"dead"`
	Cancelled int `json:"cancelled"` // cancelled or discarded
}

// Progress is a job with the outcomes of the enqueued deliveries.
type Progress struct {
	Job
	Outcomes
}

// Message makes a worker continue a job: a replay job, or the erasure of a tenant.
type Message struct {
	Tenant  hook.TenantID  `json:"tenant"`
	Job     hook.JobID     `json:"job,omitempty"`
	Erasure hook.ErasureID `json:"erasure,omitempty"` // instead of Job
	// Nonce tells the message from other messages of the job; copies have the same nonce.
	Nonce string `json:"nonce,omitempty"`
	// Until is the deadline for the first save of the job; zero: the job exists.
	Until time.Time `json:"until,omitzero"`
	// Hops is the number of earlier messages of the chain since the job's last progress (see
	// hook.MaxHops).
	Hops int `json:"hops,omitempty"`
}

// Encode returns the body of the message.
func (m Message) Encode() (string, error) { return hook.EncodeMessage(m, "job message") }

// DecodeMessage is the inverse of Encode.
func DecodeMessage(body string) (Message, error) {
	return hook.DecodeMessage(body, "job message", func(m *Message, wrong *hook.Fields) {
		_, noTenant := hook.ParseTenantID(string(m.Tenant))
		_, noJob := hook.ParseJobID(string(m.Job))
		_, noErasure := hook.ParseErasureID(string(m.Erasure))
		wrong.Refuse(noTenant != nil, "tenant", hook.TenantRule)
		wrong.Refuse(m.Hops < 0, "hops", "is negative")
		wrong.Refuse(noJob != nil && m.Erasure == "", "job", "is required without an erasure")
		wrong.Refuse(noErasure != nil && m.Erasure != "", "erasure", "is no id")
		wrong.Refuse(m.Job != "" && m.Erasure != "", "erasure", "does not go with a job")
	})
}

// ErrOpenJobs returns the error of Jobs.SaveJob for a tenant with MaxOpenJobs open jobs.
func ErrOpenJobs() error {
	return &hook.Error{Code: hook.CodeThrottled, Message: fmt.Sprintf(
		"a tenant can run at most %d replays at once; wait until one ends, or cancel one", MaxOpenJobs)}
}
