package hook

import (
	"crypto/sha256"
	"time"
)

// Event is a JSON payload with a type, posted by a backend. Events are immutable.
type Event struct {
	ID             EventID
	Tenant         TenantID
	Type           string
	Payload        []byte // the exact bytes of the request, a JSON value
	TraceParent    string // W3C traceparent of the request, or empty
	IdempotencyKey string // empty for none
	Targets        []EndpointID
	AcceptedAt     time.Time
	ExpiresAt      time.Time // when the record is deleted
	Nonce          string    // of the writing request: distinguishes a retried write from a duplicate event
}

// Hash returns the SHA-256 of type, 0, payload. Equal hashes mean equal content.
func (e Event) Hash() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(e.Type))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return [sha256.Size]byte(h.Sum(nil))
}

// Has reports whether the endpoint is a target of the event.
func (e Event) Has(endpoint EndpointID) bool {
	for _, target := range e.Targets {
		if target == endpoint {
			return true
		}
	}
	return false
}
