package hook

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"time"
)

// Event is a JSON payload with a type, posted by a backend. Events are immutable, with two
// exceptions: a replay may add a target, and an erasure removes the payload.
type Event struct {
	ID             EventID   `stored:"id"`
	Tenant         TenantID  `stored:"tenant"`
	Type           string    `stored:"type"`
	Payload        []byte    // the exact bytes of the request, a JSON value; nil after the erasure
	TraceParent    string    `stored:"trace_parent"`    // W3C traceparent of the request, or empty
	IdempotencyKey string    `stored:"idempotency_key"` // empty for none
	OrderingKey    string    `stored:"ordering_key"`    // empty for none
	Targets        []Target  `stored:"targets"`
	AcceptedAt     time.Time `stored:"accepted_at"`
	ExpiresAt      time.Time `stored:"expires_at,seconds"` // when the record is deleted
	ErasedAt       time.Time `stored:"erased_at"`          // when the payload was erased; zero: never
	Nonce          string    `stored:"nonce"`              // random, per request: tells a retried write from a duplicate event

	// Numbers are the places of the event's deliveries among those with the same ordering key, for the
	// targets that are ordered.
	Numbers map[EndpointID]int64 `stored:"numbers"`

	Ordering *Ordering // what a request says; only of an attempt of an ordered delivery, never stored
}

// Ordering is what a request of an ordered endpoint says about the order.
type Ordering struct {
	Key     string  `json:"key"`
	Number  int64   `json:"number"`
	Skipped []int64 `json:"skipped,omitempty"` // numbers that were not delivered in their turn, since the last one that was
}

// UntargetedShards is the number of shards of a tenant's list of events without a target.
const UntargetedShards = 16

// Erased reports whether the payload was erased. Function deliver
// ends deliveries of an event without a payload.
func (e Event) Erased() bool { return !e.ErasedAt.IsZero() }

// Expired reports whether the retention of the event is over. The table may delete the records
// of an expired event days later, in any order, so an expired event must not be used.
func (e Event) Expired(now time.Time) bool {
	return !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt)
}

// Hash returns the SHA-256 of the type, a zero byte and the payload. Equal hashes mean equal
// content.
func (e Event) Hash() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(e.Type))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return [sha256.Size]byte(h.Sum(nil))
}

// Target is an endpoint with the number of shards of its deliveries. The number is fixed when the
// event is accepted: a later change of the endpoint's shards applies to later events.
type Target struct {
	Endpoint EndpointID
	Shards   int // 1 to MaxShards
}

// String returns the stored form: the endpoint's id, and the number of shards above 1.
func (t Target) String() string {
	if t.Shards <= 1 {
		return string(t.Endpoint)
	}
	return string(t.Endpoint) + "/" + strconv.Itoa(t.Shards)
}

// MarshalText returns the text of String.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (t *Target) UnmarshalText(text []byte) (err error) {
	id, shards, sharded := strings.Cut(string(text), "/")
	*t = Target{Endpoint: EndpointID(id), Shards: 1}
	if sharded {
		t.Shards, err = strconv.Atoi(shards)
	}
	return err
}

// DeletedTarget returns the target for reading the deliveries of a deleted endpoint, whose
// number of shards is no longer known.
func DeletedTarget(id EndpointID) Target { return Target{Endpoint: id, Shards: MaxShards} }

// MaxTargets bounds the targets of an event, including those added later.
const MaxTargets = 1000

// AddedDelivery returns the first generation of a delivery to an endpoint that is added to a
// stored event: a settled record without an attempt. Its replay, generation 2, makes the first
// attempt, so the age of the delivery counts from the replay.
func AddedDelivery(e Event, target Target, now time.Time) Delivery {
	d := QueuedDelivery(e, target)
	d.State, d.Reason, d.UpdatedAt = StateCancelled, ReasonAdded, now
	return d
}

// Ref returns the key of the event's delivery to the endpoint in the generation. ok is false
// when the endpoint is not a target of the event.
func (e Event) Ref(endpoint EndpointID, generation int) (ref DeliveryRef, ok bool) {
	for _, target := range e.Targets {
		if target.Endpoint == endpoint {
			return e.refOf(target, generation), true
		}
	}
	return DeliveryRef{}, false
}

// refOf returns the key of the event's delivery to the target.
func (e Event) refOf(target Target, generation int) DeliveryRef {
	return DeliveryRef{
		DeliveryID: DeliveryID{Event: e.ID, Endpoint: target.Endpoint, Generation: generation},
		AcceptedAt: e.AcceptedAt.UnixMilli(),
		Shard:      ShardOf(e.ID, target.Shards),
	}
}
