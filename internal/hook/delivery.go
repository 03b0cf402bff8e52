package hook

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Delivery is one event for one endpoint, in one generation. A delivery without a record is
// queued: the event names the endpoint as a target. The breaker writes a record for a delivery
// that is still queued after some minutes, unless it waits for its turn.
type Delivery struct {
	ID            DeliveryID
	AcceptedAt    int64     // of the stored event, in milliseconds since 1970; part of the record's key
	Tenant        TenantID  `stored:"tenant"`
	OrderingKey   string    `stored:"ordering_key"` // of the event, if the delivery has a number
	Number        int64     `stored:"number"`       // in the sequence of the ordering key, see package order; 0: not ordered
	Place         int64     `stored:"place"`        // the number with whose turn the delivery comes, after the sequence moved past its own; 0: its own
	EventType     string    `stored:"type"`
	State         State     `stored:"state"`
	Shard         int       // part of the record's key
	Erased        bool      `stored:"erased"`   // the event's payload was erased: the records have no response bodies, and later ones get none
	Reason        Reason    `stored:"reason"`   // of state parked, dead, discarded or cancelled
	Attempts      int       `stored:"attempts"` // recorded HTTP requests
	Stale         int       `stored:"stale"`    // number of the one attempt that a stale connection lost, which the retry policy does not count; 0 for none
	Version       int64     `stored:"version"`  // of the stored record; 0 for no record
	DecidedBy     string    `stored:"task"`     // nonce of the task of the last recorded attempt or decision
	Parks         int       `stored:"parks"`    // how often the delivery was parked
	CreatedAt     time.Time `stored:"created_at"`
	UpdatedAt     time.Time `stored:"updated_at"`
	NextAttemptAt time.Time `stored:"next_at"`            // planned; only in state retrying
	SweptAt       time.Time `stored:"swept_at"`           // when a sweep last marked the overdue delivery; zero: never
	ExpiresAt     time.Time `stored:"expires_at,seconds"` // when the record is deleted
	Last          Outcome   `stored:"last"`               // of the newest recorded attempt; zero for none
	Recent        []Attempt // the attempts whose records are part of this one, by number; the others have records of their own

	Replayed Replayed `stored:"replayed"`  // the replay of this delivery; zero for none
	Job      JobID    `stored:"job"`       // the replay job of this generation; empty for none
	JobIndex int      `stored:"job_index"` // its number within the job, from 0
	By       KeyID    `stored:"by"`        // the API key of the replay, discard or cancellation
	Note     string   `stored:"note"`      // the comment of that caller
}

// Unreadable reports whether the store has a record of the delivery that this build cannot
// read, because a later build wrote a value that is unknown here. Only the key of the record is
// known then.
func (d Delivery) Unreadable() bool { return d.State == 0 }

// ErrUnreadable returns the error for a request about an unreadable delivery.
func ErrUnreadable(id DeliveryID) *Error {
	return &Error{Code: CodeInternal, Message: fmt.Sprintf("the record of %s was written by a later version of Surehook", id)}
}

// Counted returns the number of recorded attempts that the retry policy counts.
func (d Delivery) Counted() int {
	if d.Stale > 0 {
		return d.Attempts - 1
	}
	return d.Attempts
}

// AfterStale reports whether the attempt is the next one after the stale connection: it gets a
// connection of its own.
func (d Delivery) AfterStale(attempt int) bool { return d.Stale > 0 && d.Stale == attempt-1 }

// Ref returns the key of the record.
func (d Delivery) Ref() DeliveryRef {
	return DeliveryRef{DeliveryID: d.ID, AcceptedAt: d.AcceptedAt, Shard: d.Shard}
}

// Erase returns the delivery without the response body and headers, marked as erased. An unsettled
// delivery becomes cancelled.
func (d Delivery) Erase(now time.Time) Delivery {
	d.Erased, d.Last = true, d.Last.Bare()
	d.Recent = slices.Clone(d.Recent)
	for i := range d.Recent {
		d.Recent[i].Outcome = d.Recent[i].Outcome.Bare()
	}
	if !d.State.Settled() {
		d.State, d.Reason = StateCancelled, ReasonErased
		d.DecidedBy, d.UpdatedAt, d.NextAttemptAt = "", now, time.Time{}
	}
	return d
}

// At returns the delivery with the key of the ref.
func (d Delivery) At(ref DeliveryRef) Delivery {
	d.ID, d.AcceptedAt, d.Shard = ref.DeliveryID, ref.AcceptedAt, ref.Shard
	return d
}

// QueuedDelivery returns the first delivery of an accepted event to the target, as it is before
// it has a record.
func QueuedDelivery(e Event, target Target) Delivery {
	return Delivery{
		Tenant:    e.Tenant,
		EventType: e.Type,
		State:     StateQueued,
		CreatedAt: e.AcceptedAt,
		UpdatedAt: e.AcceptedAt,
		ExpiresAt: e.ExpiresAt,
	}.At(e.refOf(target, 1)).InOrder(e)
}

// InOrder returns the delivery with its place in the order, which a record of a build that knows no order
// lacks.
func (d Delivery) InOrder(e Event) Delivery {
	if number := e.Numbers[d.ID.Endpoint]; number > 0 && d.Number == 0 {
		d.OrderingKey, d.Number = e.OrderingKey, number
	}
	return d
}

// OrderedAs returns the delivery with the place of the other record of it, and with its age if the turn
// came. A build that knows no order writes records without these.
func (d Delivery) OrderedAs(other Delivery) Delivery {
	if other.Number == 0 {
		return d
	}
	d.OrderingKey, d.Number, d.Place = other.OrderingKey, other.Number, other.Place
	if other.CreatedAt.After(d.CreatedAt) {
		d.CreatedAt = other.CreatedAt
	}
	return d
}

// Turn returns the number with whose turn the delivery comes.
func (d Delivery) Turn() int64 { return cmp.Or(d.Place, d.Number) }

// Outcome is the result of one attempt.
type Outcome struct {
	Class      Class             `stored:"class"`
	Status     int               `stored:"status"`         // final HTTP status; 0 for no response
	Error      string            `stored:"error"`          // the cause of the failure, for people; empty when delivered
	URL        string            `stored:"url"`            // the URL of the response, after redirects
	Body       []byte            `stored:"body"`           // the first bytes of the response, at most MaxResponseBody
	Headers    map[string]string `stored:"headers"`        // some headers of the response to an attempt that failed or whose endpoint records them
	Sent       map[string]string `stored:"sent"`           // headers of the request of such an attempt, with the values of the owner's headers masked; nil: no request was made
	Region     string            `stored:"region"`         // of the sender; empty for the deployment's own
	Duration   time.Duration     `stored:"ns"`             // from the first dial to the end of the response, including the way to another region
	Phases     Phases            `stored:"phases"`         // of the last request of the attempt
	RetryAfter time.Duration     `stored:"retry_after_ns"` // the wait that counts, see package retry; 0 for none
	Stale      bool              `stored:"stale"`          // a connection of an earlier request broke before the first byte of an answer
	Shape      string            `stored:"shape"`          // version of the shape of the request, see package shape; empty: raw
	Batch      *Batch            `stored:"batch"`          // the request with several events; nil: the request had only this event
}

// Bare returns the outcome without what the receiver or the owner wrote: body and headers.
func (o Outcome) Bare() Outcome {
	o.Body, o.Headers, o.Sent = nil, nil, nil
	return o
}

// Short returns what the record of the delivery shows of an outcome whose attempt has a record.
func (o Outcome) Short() Outcome {
	o.Body = o.Body[:min(len(o.Body), MaxLastBody)]
	o.Headers, o.Sent, o.Phases = nil, nil, Phases{}
	o.Batch = o.Batch.Short()
	return o
}

// Phases tell where the time of a request went. A phase that did not end is 0, and so are
// the first three on a connection of an earlier request.
type Phases struct {
	DNS       time.Duration `stored:"dns"`        // the lookup of the host
	Connect   time.Duration `stored:"connect"`    // the TCP handshake
	TLS       time.Duration `stored:"tls"`        // the TLS handshake
	FirstByte time.Duration `stored:"first_byte"` // from the written request to the first byte of the response
}

// Bounds of a stored response body.
const (
	MaxResponseBody = 16 << 10 // bytes in the record of a failed attempt
	MaxSuccessBody  = 1000     // bytes in the record of a later attempt that succeeded, and of a member of a batch other than its leader
	MaxLastBody     = 200      // bytes in the record of the delivery: the record stays within one write unit (1 KB)
)

// Attempt is the record of one HTTP request of a delivery. If the first attempt succeeds, there
// is no attempt record: the record of the delivery has the same data. The records of other attempts
// may be part of that record, too.
type Attempt struct {
	Delivery      DeliveryRef
	Number        int       `stored:"number"` // from 1
	Trigger       Trigger   `stored:"trigger"`
	StartedAt     time.Time `stored:"started_at"`
	NextAttemptAt time.Time `stored:"next_at"`            // zero for none
	ExpiresAt     time.Time `stored:"expires_at,seconds"` // when the record is deleted
	Outcome       Outcome   `stored:"outcome"`
}

// Trigger is the cause of an attempt.
type Trigger string

// The triggers.
const (
	TriggerEvent  Trigger = "event"  // a backend posted the event
	TriggerRetry  Trigger = "retry"  // the previous attempt failed
	TriggerReplay Trigger = "replay" // a replay request
)

// TriggerOf returns the cause of attempt number of the delivery.
func TriggerOf(d DeliveryID, number int) Trigger {
	switch {
	case number > 1:
		return TriggerRetry
	case d.Generation > 1:
		return TriggerReplay
	}
	return TriggerEvent
}

// closing is how long before the deletion of a delivery's records the attempts end, so that the
// owner can see how the delivery ended.
const closing = time.Hour

// ClosesAt returns the time from which no attempt begins; zero: never.
func (d Delivery) ClosesAt() time.Time {
	if d.ExpiresAt.IsZero() {
		return time.Time{}
	}
	return d.ExpiresAt.Add(-closing)
}
