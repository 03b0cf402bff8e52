package hook

import "fmt"

// State is where a delivery stands. Doc.go draws the transitions.
type State uint8

// The states. The zero State is not valid.
const (
	StateQueued    State = iota + 1 // its first token is on the way; there is no record yet
	StateRetrying                   // at least one attempt was made, the next one is planned
	StateParked                     // its endpoint takes nothing now; no token exists
	StateDelivered                  // the endpoint answered 2xx
	StateDead                       // it gave up: rejected, exhausted or expired
	StateDiscarded                  // dead, and someone decided to leave it so
	StateCancelled                  // ended before it could be delivered: endpoint deleted, or by hand
)

// String returns the state as it appears in the API, in keys and in logs.
func (s State) String() string {
	switch s {
	case StateQueued:
		return "queued"
	case StateRetrying:
		return "retrying"
	case StateParked:
		return "parked"
	case StateDelivered:
		return "delivered"
	case StateDead:
		return "dead"
	case StateDiscarded:
		return "discarded"
	case StateCancelled:
		return "cancelled"
	}
	return "unknown"
}

// Settled reports whether nothing more will happen to a delivery in this state by itself.
func (s State) Settled() bool {
	switch s {
	case StateDelivered, StateDead, StateDiscarded, StateCancelled:
		return true
	case StateQueued, StateRetrying, StateParked:
		return false
	}
	return false
}

// ParseState is the inverse of String.
func ParseState(s string) (State, error) {
	for state := StateQueued; state <= StateCancelled; state++ {
		if state.String() == s {
			return state, nil
		}
	}
	return 0, Invalid(FieldError{"state", fmt.Sprintf("%q is not one of queued, retrying, parked, delivered, dead, discarded, cancelled", s)})
}

// Reason says why a delivery is parked, dead or cancelled, or why an endpoint is paused or disabled.
type Reason string

// The reasons.
const (
	ReasonNone      Reason = ""
	ReasonRejected  Reason = "rejected"         // dead: the endpoint's answer says that no retry can help
	ReasonGone      Reason = "gone"             // dead, and the endpoint disabled: it answered 410
	ReasonExhausted Reason = "exhausted"        // dead: the last attempt of the policy failed
	ReasonExpired   Reason = "expired"          // dead: older than the endpoint's max_age
	ReasonPaused    Reason = "paused"           // parked: the endpoint is paused
	ReasonDisabled  Reason = "disabled"         // parked: the endpoint is disabled
	ReasonCircuit   Reason = "circuit_open"     // parked: the endpoint's circuit is open
	ReasonDeleted   Reason = "endpoint_deleted" // cancelled
	ReasonReplayed  Reason = "replayed"         // discarded or cancelled: a newer generation took its place
	ReasonFailing   Reason = "failing"          // the endpoint disabled: too many of its deliveries died
	ReasonManual    Reason = "manual"           // paused, disabled, discarded or cancelled through the API
)

// Class says what came of an attempt.
type Class uint8

// The classes. The zero Class is not valid.
const (
	ClassDelivered   Class = iota + 1 // 2xx
	ClassUnavailable                  // 408, 425 or 5xx
	ClassThrottled                    // 429
	ClassTimeout                      // no complete answer within the deadline
	ClassDNS                          // the host name did not resolve
	ClassConnect                      // no connection: refused, unreachable
	ClassReset                        // the connection broke before an answer, in the TLS handshake or after it
	ClassTLS                          // the certificate cannot be verified, or no common TLS version
	ClassBlocked                      // the address is not one that may be dialed
	ClassGone                         // 410
	ClassRefused                      // any other 4xx
	ClassRedirect                     // a redirect that is not followed
)

// String returns the class as it appears in the API and in logs.
func (c Class) String() string {
	switch c {
	case ClassDelivered:
		return "delivered"
	case ClassUnavailable:
		return "unavailable"
	case ClassThrottled:
		return "throttled"
	case ClassTimeout:
		return "timeout"
	case ClassDNS:
		return "dns"
	case ClassConnect:
		return "connect"
	case ClassReset:
		return "reset"
	case ClassTLS:
		return "tls"
	case ClassBlocked:
		return "blocked"
	case ClassGone:
		return "gone"
	case ClassRefused:
		return "refused"
	case ClassRedirect:
		return "redirect"
	}
	return "unknown"
}

// Result is what a class means for the delivery.
type Result uint8

// The results. The zero Result is not valid.
const (
	ResultDelivered Result = iota + 1 // done
	ResultTransient                   // another attempt may help
	ResultRejected                    // no other attempt can help
)

// Result returns what the class means for the delivery. A blocked address and
// a bad certificate are transient, because their owner can mend them.
func (c Class) Result() Result {
	switch c {
	case ClassDelivered:
		return ResultDelivered
	case ClassUnavailable, ClassThrottled, ClassTimeout, ClassDNS, ClassConnect, ClassReset, ClassTLS, ClassBlocked:
		return ResultTransient
	case ClassGone, ClassRefused, ClassRedirect:
		return ResultRejected
	}
	return ResultTransient
}

// ClassOfStatus returns the class of a final HTTP status, one that is not a
// redirect to be followed.
func ClassOfStatus(status int) Class {
	switch {
	case status >= 200 && status <= 299:
		return ClassDelivered
	case status == 429:
		return ClassThrottled
	case status == 410:
		return ClassGone
	case status == 408, status == 425, status >= 500:
		return ClassUnavailable
	case status >= 300 && status <= 399:
		return ClassRedirect
	}
	return ClassRefused
}
