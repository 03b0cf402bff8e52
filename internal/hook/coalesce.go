package hook

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Coalescing holds the settings of an endpoint that receives the events of a time window together
// in one request. The zero value means one request per event.
type Coalescing struct {
	Window    time.Duration `stored:"window_ns" json:"window"`      // whole seconds, aligned to the clock; 0: one request per event
	MaxEvents int           `stored:"max_events" json:"max_events"` // events in one request
	MaxBytes  int           `stored:"max_bytes" json:"max_bytes"`   // payload bytes in one request; a larger payload is sent alone
}

// Bounds and defaults of Coalescing. MaxCoalesceWindow is below MaxQueueDelay, and
// MaxCoalesceEvents is the batch size of the queue coalesce.
const (
	MinCoalesceWindow     = time.Second
	MaxCoalesceWindow     = 5 * time.Minute
	MaxCoalesceEvents     = 100
	DefaultCoalesceEvents = 100
	MinCoalesceBytes      = 1 << 10
	MaxCoalesceBytes      = 512 << 10 // stays below verify.MaxBody, including everything around the payloads
	DefaultCoalesceBytes  = 256 << 10
)

// On reports whether events are coalesced.
func (c Coalescing) On() bool { return c.Window > 0 }

// WithDefaults returns the settings with the default in place of each bound that is zero.
func (c Coalescing) WithDefaults() Coalescing {
	if !c.On() {
		return c
	}
	c.MaxEvents = cmp.Or(c.MaxEvents, DefaultCoalesceEvents)
	c.MaxBytes = cmp.Or(c.MaxBytes, DefaultCoalesceBytes)
	return c
}

// End returns the end of the window that contains the time: the next whole multiple of the
// window, counted from the year 1, so that all processes agree on the windows.
func (c Coalescing) End(at time.Time) time.Time {
	return at.UTC().Truncate(c.Window).Add(c.Window)
}

// Soon returns when events that found no free slot ask again: at the end of the window, or earlier, once
// an attempt with the default timeout has ended. An endpoint with one slot would otherwise get one
// request in each window.
func (c Coalescing) Soon(at time.Time) time.Time {
	return slices.MinFunc([]time.Time{c.End(at), at.UTC().Add(DefaultTimeout)}, time.Time.Compare)
}

// Due returns the first end of a window from the time on.
func (c Coalescing) Due(from time.Time) time.Time {
	if end := c.End(from); !from.Equal(end.Add(-c.Window)) {
		return end
	}
	return from
}

// QueueAt returns the queue and the time for a task of the endpoint that is due at the given
// time. For a coalescing endpoint these are the queue coalesce and the next end of a window, or
// the given time if a window ends then. A nil endpoint is a deleted one.
func (e *Endpoint) QueueAt(queue Queue, due time.Time) (Queue, time.Time) {
	if e == nil || !e.Coalesce.On() {
		return queue, due
	}
	return QueueCoalesce, e.Coalesce.Due(due)
}

// BatchID is the id of a request with several events.
type BatchID string

const (
	batchPrefix = "bat_"
	batchHash   = 16 // bytes in an id: two batches collide with a probability of 2^-128
	// BatchEventType is the type of a request with several events.
	BatchEventType = SystemPrefix + "batch"
)

// Batch is a request with several deliveries, as named in the records of its members. A nil
// Batch stands for a request with one delivery. Records share a Batch, so it must not be
// changed.
type Batch struct {
	ID      BatchID      `stored:"id"`
	Size    int          `stored:"n"`   // number of members
	Leader  DeliveryID   `stored:"by"`  // the record of the leader holds the members
	Members []DeliveryID `stored:"all"` // all, in the order of the request; nil in the records of the other members
}

// NewBatch returns the batch of the deliveries. The id is a hash of the members, so equal ids
// mean equal events, and a receiver can drop a duplicate request.
func NewBatch(members []DeliveryID, leader DeliveryID) *Batch {
	names := make([]string, len(members))
	for i, d := range members {
		names[i] = d.String()
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return &Batch{ID: BatchID(batchPrefix + crockford.EncodeToString(sum[:batchHash])), Size: len(members), Leader: leader, Members: members}
}

// Of returns the batch as stored in the record of the delivery: with the members only in the
// leader's record.
func (b *Batch) Of(d DeliveryID) *Batch {
	if d != b.Leader {
		return b.Short()
	}
	return b
}

// Short returns the batch without the members; nil of nil.
func (b *Batch) Short() *Batch {
	if b == nil {
		return nil
	}
	return &Batch{ID: b.ID, Size: b.Size, Leader: b.Leader}
}

// Several reports whether the request has several deliveries.
func (b *Batch) Several() bool { return b != nil && b.Size > 1 }

func validateCoalescing(e Endpoint) []FieldError {
	c := e.Coalesce
	if c == (Coalescing{}) {
		return nil
	}
	var errs Fields
	errs.Refuse(c.Window < MinCoalesceWindow || c.Window > MaxCoalesceWindow || c.Window%time.Second != 0,
		"coalesce.window", "must be %s to %s in whole seconds", FormatDuration(MinCoalesceWindow), FormatDuration(MaxCoalesceWindow))
	if c.On() {
		c = c.WithDefaults()
		Between(&errs, "coalesce.max_events", c.MaxEvents, 1, MaxCoalesceEvents)
		Between(&errs, "coalesce.max_bytes", c.MaxBytes, MinCoalesceBytes, MaxCoalesceBytes)
	}
	errs.Refuse(e.Ordered, "ordered", "cannot be combined with coalesce: a request has the events of several keys")
	errs.Refuse(e.MaxInFlight > 0, "coalesce", "cannot be combined with max_in_flight: a window has few requests")
	return errs
}
