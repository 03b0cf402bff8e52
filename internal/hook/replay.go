package hook

import (
	"fmt"
	"strings"
	"time"

	"go.jetify.com/typeid"
)

// JobID is "rpl_" and a TypeID suffix of 26 characters; ids sort by the time at
// which the jobs were made.
type JobID string

const jobPrefix = "rpl"

// NewJobID returns a fresh id made of a UUIDv7.
func NewJobID() (JobID, error) {
	id, err := typeid.WithPrefix(jobPrefix)
	if err != nil {
		return "", fmt.Errorf("make job id: %w", err)
	}
	return JobID(id.String()), nil
}

// ParseJobID checks s.
func ParseJobID(s string) (JobID, error) {
	if id, err := typeid.FromString(s); err != nil || id.Prefix() != jobPrefix {
		return "", NotFound("replay")
	}
	return JobID(s), nil
}

// ReplayRequest asks for a replay: it travels with the token of the new generation, so
// that the token alone is enough to make it.
type ReplayRequest struct {
	By       KeyID `json:"by,omitempty"`    // who asked; empty for a redrive of the dead-letters queue
	Job      JobID `json:"job,omitempty"`   // the job that it is part of
	JobIndex int   `json:"slot,omitempty"`  // its number in the job, from 0
	Force    bool  `json:"force,omitempty"` // take the place of a delivery that is still in progress

	Redrive bool `json:"redrive,omitempty"` // SQS moved the dead letter: replay only what is still dead
}

// Replayed says that a delivery was replayed. Its zero value says that it was not.
type Replayed struct {
	ReplayRequest

	Generation int // the one that replays it
	At         time.Time
}

// Replay returns the record as it is once its replay was ordered. The delivery
// keeps its state, but one in progress, whose place the new one takes: that is
// cancelled, so that there are never two in progress.
//
// CodeReplayed if it was replayed before: the newer generation is the one to be
// replayed. CodeInProgress if it is not settled and the order has no force.
// CodeConflict for the redrive of what is dead no more, or past MaxGeneration.
func (d Delivery) Replay(o ReplayRequest, now time.Time) (Delivery, error) {
	switch {
	case d.Replayed.Generation != 0:
		return d, &Error{Code: CodeReplayed, Message: fmt.Sprintf("it was replayed already, as %s", d.Successor())}
	case !d.State.Settled() && !o.Force:
		return d, &Error{Code: CodeInProgress, Message: fmt.Sprintf("it is still in progress: %s", d.State)}
	case o.Redrive && d.State != StateDead:
		return d, Conflict("it is dead no more: " + d.State.String())
	case d.ID.Generation >= MaxGeneration:
		return d, Conflict(fmt.Sprintf("it was replayed %d times already", MaxGeneration))
	}
	if !d.State.Settled() {
		d.State, d.Reason = StateCancelled, ReasonReplayed
		d.Token, d.UpdatedAt, d.NextAttemptAt = "", now, time.Time{}
	}
	d.Replayed = Replayed{ReplayRequest: o, Generation: d.ID.Generation + 1, At: now}
	return d, nil
}

// Successor is the id of the delivery's next generation, whether there is one or not.
func (d Delivery) Successor() DeliveryID {
	id := d.ID
	id.Generation++
	return id
}

// Predecessor is the id of the generation before, which is the one that this
// one replays; ok is false for the first.
func (d DeliveryID) Predecessor() (before DeliveryID, ok bool) {
	d.Generation--
	return d, d.Generation > 0
}

// QueuedReplay returns the delivery that exists from the moment old was
// replayed, before anything was written about it.
func QueuedReplay(e Event, old Delivery) Delivery {
	d := QueuedDelivery(e, old.ID.Endpoint)
	d.ID = old.Successor()
	d.CreatedAt, d.UpdatedAt = old.Replayed.At, old.Replayed.At
	d.Job, d.JobIndex, d.By = old.Replayed.Job, old.Replayed.JobIndex, old.Replayed.By
	return d
}

// Retire returns the record of a dead delivery whose replay settled: it is no
// open dead letter any more. ok is false if there is nothing to retire.
func (d Delivery) Retire() (retired Delivery, ok bool) {
	if d.State != StateDead || d.Replayed.Generation == 0 {
		return d, false
	}
	d.State, d.Reason = StateDiscarded, ReasonReplayed
	return d, true
}

// Superseded reports whether a newer generation took the delivery's place before it settled.
func (d Delivery) Superseded() bool { return d.State == StateCancelled && d.Reason == ReasonReplayed }

// redriveNonce is the nonce of tokens that are made of dead letters: a letter
// that is handed over twice makes the same token.
const redriveNonce = "redrive"

// Token returns the token that a dead letter stands for when it is put on a
// lane, as the redrive of a dead-letter queue does: a replay.
func (l DeadLetter) Token() Token {
	return Token{
		Delivery:      Delivery{ID: l.Delivery}.Successor(),
		Tenant:        l.Tenant,
		Attempt:       1,
		Nonce:         redriveNonce,
		ReplayRequest: ReplayRequest{Redrive: true},
	}
}

// MaxNote bounds what people may write about a discarded or cancelled delivery, in bytes.
const MaxNote = 200

// ValidateNote checks such a note.
func ValidateNote(note string) []FieldError {
	if len(note) > MaxNote || strings.ContainsFunc(note, func(r rune) bool { return r < ' ' || r == '\uFFFD' }) {
		return []FieldError{{"reason", fmt.Sprintf("must be at most %d bytes of text on one line", MaxNote)}}
	}
	return nil
}
