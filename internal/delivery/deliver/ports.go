package deliver

import (
	"context"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/settlement"
)

// Store reads the records of a batch, and records replays. Every read sees every write
// acknowledged before the read began.
type Store interface {
	settle.DeliveryStore
	// Load returns the events, endpoints, circuits and deliveries that the tasks name. For a
	// delivery of generation 2 or later it also returns the previous generation, and for a
	// task with a claimed slot the limits of the endpoint. A record that cannot be read fails
	// only the tasks that name it: see Snapshot.Faults. An error means that nothing was read.
	Load(ctx context.Context, tasks []hook.Task) (Snapshot, error)
}

// Settler writes decisions about deliveries, and does the work that follows. settle.Settler is
// the implementation.
type Settler interface {
	// Write writes the decision and follows up. Even with an error, Written says what was
	// done.
	Write(ctx context.Context, s *settlement.Subject, decision settlement.Decision) (settle.Written, error)
	// FollowUp does the work that follows from the recorded decision.
	FollowUp(ctx context.Context, s *settlement.Subject, recorded *hook.Delivery) error
	// Send sends the task at its time.
	Send(ctx context.Context, send settlement.Sending) error
	// AwaitTurn looks after an ordered delivery whose turn has not come.
	AwaitTurn(ctx context.Context, d *hook.Delivery) error
	// Join gives an ordered delivery whose turn is over another place.
	Join(ctx context.Context, d *hook.Delivery) error
	// SendLetter sends the dead letter of a dead delivery.
	SendLetter(ctx context.Context, dead *hook.Delivery) error
}

// Attempter makes attempts. attempt.Maker is the implementation.
type Attempter interface {
	// Opener returns a function that decrypts the endpoint's secrets at its first call.
	Opener(ctx context.Context, e *hook.Endpoint) attempt.Opener
	// Make makes one request for the members, run by watch, and returns the attempt of each. An error
	// means that no request was made and no outcome is known.
	Make(ctx context.Context, members []*settlement.Subject, leader *settlement.Subject, open attempt.Opener, watch func(request func())) ([]*attempt.Attempt, error)
}

// Gate decides who may start now, and hands on what an attempt held. admit.Gate is the
// implementation.
type Gate interface {
	// Ask returns one verdict for each due delivery of an endpoint.
	Ask(ctx context.Context, q admission.Query) (*admit.Permits, error)
	// Done takes back what the tasks held, which are in the order of their ends.
	Done(ctx context.Context, p *admit.Permits, ended []admit.Ended) error
	// Return takes back what a task held that ended without asking.
	Return(ctx context.Context, e *hook.Endpoint, queue hook.Queue, ended admit.Ended) error
}
