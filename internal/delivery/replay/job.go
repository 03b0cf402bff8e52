package replay

import (
	"encoding/json"
	"fmt"
	"time"

	"surehook/internal/hook"
)

// Bounds of a job.
const (
	DefaultRate = 50.0 // deliveries a second
	MinRate     = 0.1
	MaxRate     = 500.0
	MaxTypes    = 20
	PageSize    = 100                 // deliveries of a page at most
	KeepJobs    = 30 * 24 * time.Hour // how long a job is kept after it ended

	pageTime = 10 * time.Second // that a page lasts at most at the job's rate
)

// Filter says which deliveries of a tenant a job replays.
type Filter struct {
	Endpoint hook.EndpointID // empty: of all endpoints
	State    hook.State      // dead, parked, delivered or discarded
	Types    []string        // event types as endpoints subscribe to them; empty: all
	From, To time.Time       // of the deliveries' creation; To is never after the job's own
}

// Job is a replay of whatever a filter selects.
type Job struct {
	ID        hook.JobID
	Tenant    hook.TenantID
	Filter    Filter
	Rate      float64 // deliveries a second
	State     JobState
	By        hook.KeyID
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero while it runs
	ExpiresAt time.Time // when the record is removed; while it runs as if it ended with UpdatedAt
	Version   int64     // of the stored record; 0 when there is none

	Selected int // deliveries that the filter selected so far
	Enqueued int // of them, those whose replay was sent
	Skipped  int // of them, those that could not be replayed: somebody else did so meanwhile

	Endpoint hook.EndpointID   // that is being selected from; empty at the beginning
	Cursor   string            // of the next selection from it
	Selects  bool              // whether there is more to select
	Pending  []hook.DeliveryID // the page that is being sent; its slots end with Selected-1
	NextAt   time.Time         // when the rate has room for the next page
}

// JobState says whether a job goes on.
type JobState uint8

// The states of a job. The zero JobState is not valid.
const (
	JobRunning   JobState = iota + 1
	JobFinished           // everything that was selected was enqueued or skipped
	JobCancelled          // by hand; what was enqueued goes on
)

// String returns the state as it appears in the API.
func (s JobState) String() string {
	switch s {
	case JobRunning:
		return "running"
	case JobFinished:
		return "finished"
	case JobCancelled:
		return "cancelled"
	}
	return "unknown"
}

// Outcomes is how many deliveries of a job settled, and as what.
type Outcomes struct {
	Delivered int
	Dead      int
	Cancelled int // or discarded
}

// Progress is a job and what became of what it enqueued.
type Progress struct {
	Job
	Outcomes
}

// Message makes a job go on.
type Message struct {
	Tenant hook.TenantID `json:"tenant"`
	Job    hook.JobID    `json:"job"`
	// Until is how long the job may be missing because it is being written; zero: it was there.
	Until time.Time `json:"until,omitzero"`
}

// Encode returns the message's body.
func (m Message) Encode() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encode message of job %s: %w", m.Job, err)
	}
	return string(b), nil
}

// DecodeMessage is the inverse of Encode.
func DecodeMessage(body string) (Message, error) {
	var m Message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return Message{}, &hook.Error{Code: hook.CodeInvalid, Message: "the message is of no job", Err: err}
	}
	if _, err := hook.ParseTenantID(string(m.Tenant)); err != nil {
		return Message{}, &hook.Error{Code: hook.CodeInvalid, Message: "the message is of no job", Err: err}
	}
	if _, err := hook.ParseJobID(string(m.Job)); err != nil {
		return Message{}, &hook.Error{Code: hook.CodeInvalid, Message: "the message is of no job", Err: err}
	}
	return m, nil
}
