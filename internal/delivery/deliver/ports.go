package deliver

import (
	"context"
	"time"

	"surehook/internal/delivery/attempt"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/release"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/rule/settlement"
)

// Store keeps events, endpoints, circuits and deliveries. Every read sees every
// write acknowledged before the read began.
type Store interface {
	Loader
	settle.DeliveryStore
	settle.EndpointDisabler
	gate.Counter
}

// Loader reads the records of a batch.
type Loader interface {
	// Load returns the events, endpoints, circuits and deliveries named by the
	// tokens. For a delivery of generation 2 or later, Load also returns the
	// delivery of the generation before, and for a token with a claimed slot the limits
	// of the endpoint. A record that cannot be read fails the tokens that name the record,
	// in Snapshot.Faults, and no other token. An error means that nothing was read.
	Load(ctx context.Context, tokens []hook.Token) (Snapshot, error)
}

// Queue carries tokens due within 15 minutes.
type Queue interface {
	settle.TokenQueue
}

// Schedules hold tokens due later than the longest delay of a queue.
type Schedules interface {
	// At puts the token on the retry lane at the given time, rounded up to a whole
	// second. The time is more than 15 minutes away. Repeated calls with the same
	// token and time make one schedule; ScheduleName is the identity. Every other
	// call makes another schedule, also during the minutes until the deletion of a
	// fired schedule.
	At(ctx context.Context, token hook.Token, at time.Time) error
}

// DeadLetters takes a message about each dead delivery.
type DeadLetters interface {
	settle.DeadLetters
}

// Settlement completes settled deliveries.
type Settlement interface {
	settle.Completer
}

// Notifier sends notifications about disabled endpoints.
type Notifier interface {
	settle.Notifier
}

// Attempter makes attempts. attempt.Maker is the implementation.
type Attempter interface {
	// Opener returns a function that opens the endpoint's secrets at its first call.
	Opener(ctx context.Context, e *hook.Endpoint) attempt.Opener
	// Make sends the content to the endpoint. An error means that no request was made.
	Make(ctx context.Context, s *settlement.Subject, content *hook.Event, open attempt.Opener) (*attempt.Attempt, error)
}

// Gate decides whether attempts may start now.
type Gate interface {
	// Admit returns one verdict for each due delivery of an endpoint.
	Admit(ctx context.Context, q *gate.Query) (gate.Admission, error)
	// Settle reports the results of the admitted attempts, ordered by end.
	Settle(ctx context.Context, a gate.Admission, results []gate.Result) error
	// Leave gives the place of a token of the lane slot back that ended without Admit.
	Leave(ctx context.Context, tenant hook.TenantID, due gate.Due) error
	// Late counts n late attempts of a fast endpoint, in flight or ended.
	Late(ctx context.Context, tenant hook.TenantID, id hook.EndpointID, n int) error
}

// Releaser sends parked deliveries on in the slots of settled attempts.
type Releaser interface {
	// HandOver ends the slots and claims them for parked deliveries.
	HandOver(ctx context.Context, s release.Slots) error
	// Fill claims the free slots of the endpoint for parked deliveries. parked are
	// deliveries that the index may not list yet.
	Fill(ctx context.Context, e hook.Endpoint, record gate.Record, parked ...hook.Delivery) (released int, err error)
}
