package status

import (
	"context"

	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
)

// Store keeps what a Reader reads. Counts may lag by a moment.
type Store interface {
	History
	Lists
	breaker.CircuitLister
	// CircuitsOf returns the stored records of the endpoints.
	CircuitsOf(ctx context.Context, endpoints []hook.EndpointID) (map[hook.EndpointID]admission.Record, error)
	breaker.StatsReader
	backlog.Index
}

// History keeps events, deliveries, attempts, and the sequences of ordered deliveries.
type History interface {
	settle.EventReader
	settle.HeadReader
	// Attempts returns the recorded attempts of the deliveries, in the order of
	// endpoint, generation and number.
	Attempts(ctx context.Context, deliveries []hook.Delivery) ([]hook.Attempt, error)
}

// Lists reads the parts of lists. A call is one request, or one per 100 records.
// Reads of rows and heads may lag by a moment.
type Lists interface {
	// DeliveryRows looks at the next rows of the part in the span, newest first, at most
	// look (1 to 1000). Rows of all states have the record, and rows in a state have the
	// position only. A row that this build cannot read is left out. last is the position of the last row
	// looked at, one left out included, if the part may have rows after it, and otherwise nil.
	DeliveryRows(ctx context.Context, part Part, span Span, look int) (rows []Row, last *Position, err error)
	// UntargetedRows looks at the tenant's events without a target, in the shard of
	// hook.UntargetedShards, like DeliveryRows.
	UntargetedRows(ctx context.Context, tenant hook.TenantID, shard int, span Span, look int) (rows []Row, last *Position, err error)
	// EventHeads returns the existing events without payload and nonce, in no
	// particular order.
	EventHeads(ctx context.Context, ids []hook.EventID) ([]hook.Event, error)
	settle.DeliveriesReader
	settle.EndpointLister
}

// Queues measures all queues.
type Queues interface {
	// Depths returns the depth of each queue.
	Depths(ctx context.Context) (names.Queues[Depth], error)
}

// Depth is the approximate number of messages in a queue.
type Depth struct {
	Visible  int `json:"visible"`   // ready to be received
	InFlight int `json:"in_flight"` // received, not yet deleted, and not yet visible again
	Delayed  int `json:"delayed"`   // invisible until a delay ends
}

// and returns the sum of both.
func (d Depth) and(other Depth) Depth {
	return Depth{d.Visible + other.Visible, d.InFlight + other.InFlight, d.Delayed + other.Delayed}
}
