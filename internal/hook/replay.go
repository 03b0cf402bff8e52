package hook

import (
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// JobID is "rpl_" and a TypeID suffix of 26 characters. Job ids sort by
// creation time.
type JobID string

const jobPrefix = "rpl_"

// NewJobID returns a fresh id from a UUIDv7.
func NewJobID() JobID { return JobID(typeID(jobPrefix, uuid.Must(uuid.NewV7()))) }

// ParseJobID checks s.
func ParseJobID(s string) (JobID, error) {
	if _, ok := parseTypeID(jobPrefix, s); !ok {
		return "", NotFound("replay")
	}
	return JobID(s), nil
}

// ReplayRequest asks for a replay. The first task of the new generation carries the request,
// so the task alone is enough to create the generation.
type ReplayRequest struct {
	By       KeyID `json:"by,omitempty" stored:"by"`          // the API key of the caller; empty for a redrive of the dead-letters queue
	Job      JobID `json:"job,omitempty" stored:"job"`        // the replay job; empty for none
	JobIndex int   `json:"slot,omitempty" stored:"job_index"` // the delivery's number within the job, from 0
	Force    bool  `json:"force,omitempty" stored:"force"`    // cancel an unsettled delivery

	Redrive bool `json:"redrive,omitempty" stored:"redrive"` // SQS moved the dead letter: replay only a dead delivery
}

// Replayed is the replay of a delivery. The zero value means no replay.
type Replayed struct {
	ReplayRequest

	Generation int       `stored:"generation"` // the new generation
	At         time.Time `stored:"at"`
}

// Replay returns the record of the delivery with the replay noted. A settled delivery keeps its
// state. An unsettled delivery becomes cancelled, so at most one generation is in progress.
//
// Errors: CodeInternal for an unreadable delivery. CodeReplayed if there is a newer generation,
// which can be replayed instead. CodeInProgress for an unsettled delivery without Force.
// CodeConflict for the redrive of a delivery that is not dead, after the payload was erased, in
// generation MaxGeneration, and less than MaxMaxAge before the event expires, because the new
// generation may take that long.
func (d Delivery) Replay(o ReplayRequest, now time.Time) (Delivery, error) {
	switch {
	case d.Unreadable():
		return d, ErrUnreadable(d.ID)
	case d.Replayed.Generation != 0:
		return d, &Error{Code: CodeReplayed, Message: fmt.Sprintf("the delivery was already replayed as %s", d.Successor())}
	case !d.State.Settled() && !o.Force:
		return d, &Error{Code: CodeInProgress, Message: fmt.Sprintf("the delivery is still in progress: %s", d.State)}
	case o.Redrive && d.State != StateDead:
		return d, Conflict("the delivery is no longer dead: " + d.State.String())
	case d.ClosedForReplay(now):
		return d, Conflict(fmt.Sprintf("the event expires at %s; replays end %s before", d.ExpiresAt.UTC().Format(time.RFC3339), FormatDuration(MaxMaxAge)))
	case d.Erased:
		return d, ErrErased()
	case d.ID.Generation >= MaxGeneration:
		return d, Conflict(fmt.Sprintf("the delivery is in the last generation, %d", MaxGeneration))
	}
	if !d.State.Settled() {
		d.State, d.Reason = StateCancelled, ReasonReplayed
		d.DecidedBy, d.UpdatedAt, d.NextAttemptAt = "", now, time.Time{}
	}
	d.Replayed = Replayed{ReplayRequest: o, Generation: d.ID.Generation + 1, At: now}
	return d, nil
}

// ClosedForReplay reports whether the event ends less than MaxMaxAge after now: a new
// generation may wait for so long.
func (d Delivery) ClosedForReplay(now time.Time) bool {
	return !d.ExpiresAt.IsZero() && d.ExpiresAt.Before(now.Add(MaxMaxAge))
}

// ErrErased returns the error for a replay without a payload.
func ErrErased() *Error { return Conflict("the payload of the event was erased") }

// Successor returns the key of the next generation, whether or not it exists.
func (d Delivery) Successor() DeliveryRef { return d.Ref().Successor() }

// QueuedReplay returns the next generation of old, a replayed delivery, as it is before it has
// a record.
func QueuedReplay(e Event, old Delivery) Delivery {
	d := QueuedDelivery(e, Target{Endpoint: old.ID.Endpoint}).At(old.Successor())
	d.CreatedAt, d.UpdatedAt = old.Replayed.At, old.Replayed.At
	d.Place = old.Place
	d.Job, d.JobIndex, d.By = old.Replayed.Job, old.Replayed.JobIndex, old.Replayed.By
	return d
}

// Unrecorded returns a delivery of the event that has no record yet, as it is: queued. previous is the record of its
// previous generation; nil for none. ok is false if neither the event nor that record names the delivery.
func (e Event) Unrecorded(ref DeliveryRef, previous *Delivery) (d Delivery, ok bool) {
	own, target := e.Ref(ref.Endpoint, ref.Generation)
	if !target || own != ref {
		return Delivery{}, false
	}
	if _, replay := ref.Predecessor(); !replay {
		return QueuedDelivery(e, Target{Endpoint: ref.Endpoint}).At(ref), true
	}
	if previous == nil || previous.Replayed.Generation != ref.Generation {
		return Delivery{}, false
	}
	return QueuedReplay(e, *previous), true
}

// Retire discards a dead delivery whose replay is settled, so that it is no longer an open dead
// letter. It keeps the times of the record. ok is false for a delivery that is not dead or was
// not replayed.
func (d Delivery) Retire() (retired Delivery, ok bool) {
	if d.State != StateDead || d.Replayed.Generation == 0 {
		return d, false
	}
	d.State, d.Reason = StateDiscarded, ReasonReplayed
	return d, true
}

// CancelledByReplay reports whether a forced replay cancelled the delivery.
func (d Delivery) CancelledByReplay() bool {
	return d.State == StateCancelled && d.Reason == ReasonReplayed
}

// redriveNonce is the nonce of all tasks made from dead letters, so that a dead letter
// received twice gives the same task.
const redriveNonce = "redrive"

// Task returns the task of a dead letter that SQS moved to a queue (a redrive): the first
// attempt of the next generation.
func (l DeadLetter) Task() Task {
	return Task{
		Delivery:      l.Delivery.Successor(),
		Tenant:        l.Tenant,
		Attempt:       1,
		Nonce:         redriveNonce,
		ReplayRequest: ReplayRequest{Redrive: true},
	}
}

// MaxNote bounds the comment on a discarded or cancelled delivery, in bytes.
const MaxNote = 200

// ValidateNote checks the comment: at most MaxNote bytes of text without control characters (ValidText).
func ValidateNote(note string) (errs Fields) {
	errs.Refuse(len(note) > MaxNote || !ValidText(note), "note", "must be at most %d bytes of text on one line", MaxNote)
	return errs
}
