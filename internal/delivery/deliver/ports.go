package deliver

import (
	"context"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// Store keeps what deliver reads and decides. Every read sees every write that
// was acknowledged before it began.
type Store interface {
	// Load returns the events, endpoints, circuits and deliveries that the tokens
	// name, and with a delivery of a later generation the one before.
	Load(ctx context.Context, tokens []hook.Token) (Snapshot, error)
	// Delivery returns the record; CodeNotFound if there is none.
	Delivery(ctx context.Context, id hook.DeliveryID) (hook.Delivery, error)
	// SaveDelivery writes the delivery as version d.Version+1 and, in the same
	// transaction, the attempt if there is one. CodeConflict if the stored
	// version is not d.Version (0: no record), and nothing is written.
	SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error
	// Endpoint returns the endpoint; CodeNotFound if the tenant has none such.
	Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error)
	// Count adds to what is counted of the endpoint; see gate.Store.
	Count(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, now time.Time) (circuit.Counts, error)
	// UpdateEndpoint writes the endpoint as version e.Version+1 and changes the
	// tenant's version; CodeConflict if the stored version is not e.Version.
	UpdateEndpoint(ctx context.Context, e hook.Endpoint) error
}

// Queue carries tokens that are due within 15 minutes.
type Queue interface {
	// Send puts the tokens on the lane, to be received after the delay (0 to
	// 15 minutes, whole seconds; rounded up). It returns nil when the queue has
	// them all, else one entry per token: nil for those it has.
	Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error
}

// Schedules hold tokens that are due later than a queue can delay.
type Schedules interface {
	// At puts the token on the retry lane at the time given. There is one
	// schedule per delivery and attempt: if it exists, that is success.
	At(ctx context.Context, token hook.Token, at time.Time) error
}

// DeadLetters is where deliveries that gave up are shown.
type DeadLetters interface {
	// Send sends one message about the delivery.
	Send(ctx context.Context, letter hook.DeadLetter) error
}

// Settlement is what follows when a delivery is settled.
type Settlement interface {
	// Complete does what follows from the delivery, as it is recorded. It may be done twice.
	Complete(ctx context.Context, d hook.Delivery) error
}

// Notifier is how owners hear of what was done to their endpoints.
type Notifier interface {
	// Notify tells the notice to all who should hear of it.
	Notify(ctx context.Context, n hook.Notification) error
}

// Vault opens sealed signing secrets.
type Vault interface {
	// Open returns the text form of a secret that was sealed for the endpoint.
	Open(ctx context.Context, sealed []byte, endpoint hook.EndpointID) (string, error)
}

// Sender makes attempts.
type Sender interface {
	// Send makes one attempt within the endpoint's timeout and says what came of it.
	Send(ctx context.Context, r send.Request) hook.Outcome
}

// Gate decides whether attempts may start now.
type Gate interface {
	// Admit answers for each delivery that is due at an endpoint.
	Admit(ctx context.Context, q gate.Query) (gate.Admission, error)
	// Settle tells what came of those that were admitted, in the order in which they ended.
	Settle(ctx context.Context, a gate.Admission, results []gate.Result) error
}
