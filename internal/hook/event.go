package hook

import (
	"crypto/sha256"
	"time"
)

// Event is what a backend posted, immutable.
type Event struct {
	ID             EventID
	Tenant         TenantID
	Type           string
	Payload        []byte // the exact bytes that were posted, a JSON value
	TraceParent    string // W3C traceparent the event came with, or empty
	IdempotencyKey string // empty if the event came without one
	Targets        []EndpointID
	AcceptedAt     time.Time
	ExpiresAt      time.Time // when the record is removed
	Nonce          string    // of the request that wrote it: tells a retried write from a duplicate
}

// Hash identifies the content: SHA-256 of type, 0, payload.
func (e Event) Hash() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(e.Type))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return [sha256.Size]byte(h.Sum(nil))
}

// Has reports whether the event is for the endpoint.
func (e Event) Has(endpoint EndpointID) bool {
	for _, target := range e.Targets {
		if target == endpoint {
			return true
		}
	}
	return false
}
