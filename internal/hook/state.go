package hook

// State is the state of a delivery. The package comment draws the transitions.
type State uint8

// The states. The zero State is not valid.
const (
	StateQueued    State = iota + 1 // the first task is in a queue; usually there is no record
	StateRetrying                   // the next attempt is planned: one failed, or the delivery was released
	StateParked                     // held back by the gate, see the reasons; has no task until its turn; one in a slot stays parked until its attempt is recorded
	StateDelivered                  // the endpoint answered 2xx
	StateDead                       // final failure: rejected, exhausted or expired
	StateDiscarded                  // was dead, and then discarded by a caller or replaced by a settled replay
	StateCancelled                  // ended early: endpoint deleted, replaced by a replay, payload erased, or cancelled by a caller
)

var stateNames = Names[State]{
	StateQueued: "queued", StateRetrying: "retrying", StateParked: "parked", StateDelivered: "delivered",
	StateDead: "dead", StateDiscarded: "discarded", StateCancelled: "cancelled",
}

// String returns the state as it appears in the API, in keys and in logs.
func (s State) String() string { return stateNames.Of(s) }

// Settled reports whether Surehook makes no further attempts. A caller or a replay may still
// change a settled delivery, and a late 2xx turns a dead delivery into a delivered one.
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
func ParseState(s string) (State, error) { return stateNames.parse("state", s) }

// Reason explains the state of a parked, dead, discarded or cancelled delivery,
// or the status of a paused or disabled endpoint.
type Reason string

// The reasons.
const (
	ReasonNone           Reason = ""
	ReasonRejected       Reason = "rejected"         // dead: the response is final, and no retry can help
	ReasonGone           Reason = "gone"             // dead, and the endpoint is disabled: response 410
	ReasonTransformation Reason = "transformation"   // dead: the endpoint's transformation cannot shape the event
	ReasonExhausted      Reason = "exhausted"        // dead: the last attempt of the retry policy failed
	ReasonExpired        Reason = "expired"          // dead: older than the endpoint's max_age
	ReasonPaused         Reason = "paused"           // parked: the endpoint is paused
	ReasonDisabled       Reason = "disabled"         // parked: the endpoint is disabled
	ReasonCircuit        Reason = "circuit_open"     // parked: the endpoint's circuit is open
	ReasonInFlight       Reason = "in_flight"        // parked: no in-flight slot is free, or other deliveries already wait
	ReasonRate           Reason = "rate"             // parked: no rate slot soon, or other deliveries already wait
	ReasonThrottled      Reason = "throttled"        // parked: the endpoint answered 429
	ReasonDeleted        Reason = "endpoint_deleted" // cancelled
	ReasonAdded          Reason = "added"            // cancelled: a placeholder for an endpoint that was added to the event later; generation 2 is sent
	ReasonReplayed       Reason = "replayed"         // discarded or cancelled: replaced by a newer generation
	ReasonErased         Reason = "erased"           // cancelled: the payload of the event was erased
	ReasonFailing        Reason = "failing"          // endpoint disabled: the dead rate is too high
	ReasonManual         Reason = "manual"           // paused, disabled, discarded or cancelled through the API
)

// Class is the kind of outcome of an attempt.
type Class uint8

// The classes. The zero Class is not valid.
const (
	ClassDelivered      Class = iota + 1 // 2xx
	ClassUnavailable                     // 408, 425 or 5xx
	ClassThrottled                       // 429
	ClassTimeout                         // no complete response within the deadline
	ClassDNS                             // the host name did not resolve
	ClassConnect                         // no connection: refused, unreachable
	ClassReset                           // the connection broke before the response, during or after the TLS handshake
	ClassTLS                             // certificate not verifiable, or no common TLS version
	ClassBlocked                         // the egress policy forbids the address
	ClassGone                            // 410
	ClassRefused                         // any other 4xx
	ClassRedirect                        // a redirect that the redirect policy does not allow
	ClassToken                           // no access token for the request, or no access to the AWS destination
	ClassTransformation                  // the endpoint's transformation cannot shape the event: no request was made
)

// Classes is the length of an array indexed by Class.
const Classes = int(ClassTransformation) + 1

var classNames = Names[Class]{
	ClassDelivered: "delivered", ClassUnavailable: "unavailable", ClassThrottled: "throttled", ClassTimeout: "timeout",
	ClassDNS: "dns", ClassConnect: "connect", ClassReset: "reset", ClassTLS: "tls", ClassBlocked: "blocked",
	ClassGone: "gone", ClassRefused: "refused", ClassRedirect: "redirect", ClassToken: "token",
	ClassTransformation: "transformation",
}

// String returns the class as it appears in the API and in logs.
func (c Class) String() string { return classNames.Of(c) }

// ParseClass is the inverse of String.
func ParseClass(s string) (Class, error) { return classNames.parse("class", s) }

// Result is the meaning of a class for the delivery.
type Result uint8

// The results. The zero Result is not valid.
const (
	ResultDelivered Result = iota + 1 // final success
	ResultTransient                   // another attempt may help
	ResultRejected                    // no further attempt can help
)

// Requested reports whether a request was made: only then does the outcome say something about
// the endpoint.
func (c Class) Requested() bool { return c != 0 && c != ClassTransformation }

// Failing reports whether an outcome of the class counts against the endpoint. Every other
// response, including 429, proves that the endpoint works. The endpoint's status lists make no
// difference: they only decide about the delivery.
func (c Class) Failing() bool { return c.result() == ResultTransient && c != ClassThrottled }

// Timed reports whether the duration of an attempt measures the speed of the endpoint: it
// answered, or its answer was too late.
func (c Class) Timed() bool {
	switch c {
	case ClassDelivered, ClassUnavailable, ClassThrottled, ClassTimeout, ClassGone, ClassRefused, ClassRedirect:
		return true
	case ClassDNS, ClassConnect, ClassReset, ClassTLS, ClassBlocked, ClassToken, ClassTransformation:
	}
	return false
}

// result returns what the class means for the delivery, without the endpoint's status lists
// (see Endpoint.ResultOf). ClassBlocked, ClassTLS and ClassToken are transient, because the
// owner can repair DNS records, certificates and credentials.
func (c Class) result() Result {
	switch c {
	case ClassDelivered:
		return ResultDelivered
	case ClassUnavailable, ClassThrottled, ClassTimeout, ClassDNS, ClassConnect, ClassReset, ClassTLS, ClassBlocked, ClassToken:
		return ResultTransient
	case ClassGone, ClassRefused, ClassRedirect, ClassTransformation:
		return ResultRejected
	}
	return ResultTransient
}

// ClassOfStatus returns the class of a final HTTP status. A final status of 300 to 399 is a
// redirect that the redirect policy does not allow.
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
