package hook

import "time"

// Delivery is one event for one endpoint, in one generation. A delivery
// without a record is queued: its event names the endpoint as a target.
type Delivery struct {
	ID            DeliveryID
	Tenant        TenantID
	EventType     string
	State         State
	Reason        Reason // why it is parked, dead or cancelled
	Attempts      int    // HTTP requests made and recorded
	Version       int64  // of the stored record; 0 when there is none
	Token         string // nonce of the token whose attempt or decision was recorded last
	CreatedAt     time.Time
	UpdatedAt     time.Time
	NextAttemptAt time.Time // planned, when retrying
	ExpiresAt     time.Time // when the record is removed
	Last          Outcome   // of the newest recorded attempt; zero when there is none

	Replayed Replayed // that it was replayed, and as what
	Job      JobID    // the replay job that this generation belongs to; empty for none
	JobIndex int      // its number in that job
	By       KeyID    // who replayed, discarded or cancelled it through the API
	Note     string   // what they said about it
}

// QueuedDelivery returns the delivery that exists from the moment the event is
// accepted, before anything was written about it.
func QueuedDelivery(e Event, endpoint EndpointID) Delivery {
	return Delivery{
		ID:        DeliveryID{Event: e.ID, Endpoint: endpoint, Generation: 1},
		Tenant:    e.Tenant,
		EventType: e.Type,
		State:     StateQueued,
		CreatedAt: e.AcceptedAt,
		UpdatedAt: e.AcceptedAt,
		ExpiresAt: e.ExpiresAt,
	}
}

// Outcome is what came of one attempt.
type Outcome struct {
	Class      Class
	Status     int           // final HTTP status; 0 when there was no answer
	Error      string        // what went wrong, for people; empty when delivered
	URL        string        // the URL that answered, after redirects
	Body       []byte        // at most MaxResponseBody bytes of the answer
	Duration   time.Duration // from the first dial to the end of the answer
	RetryAfter time.Duration // what the endpoint asked for, 0 when nothing
}

// Bounds of what is kept of a response.
const (
	MaxResponseBody = 1000 // bytes kept with a failed attempt
	MaxLastBody     = 200  // bytes kept in the delivery itself, so that its record stays within one write unit
)

// Attempt is one HTTP request of a delivery. A delivery that succeeds at once
// has no attempt record: its own tells all.
type Attempt struct {
	Delivery      DeliveryID
	Number        int // from 1
	Trigger       Trigger
	StartedAt     time.Time
	NextAttemptAt time.Time // zero when there is none
	ExpiresAt     time.Time // when the record is removed
	Outcome       Outcome
}

// Trigger says what made an attempt happen.
type Trigger string

// The triggers.
const (
	TriggerEvent  Trigger = "event"  // the event was posted
	TriggerRetry  Trigger = "retry"  // the attempt before it failed
	TriggerReplay Trigger = "replay" // someone asked for it
)

// TriggerOf returns what makes attempt number of the delivery happen.
func TriggerOf(d DeliveryID, number int) Trigger {
	switch {
	case number > 1:
		return TriggerRetry
	case d.Generation > 1:
		return TriggerReplay
	}
	return TriggerEvent
}
