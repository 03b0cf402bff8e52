package gate

import (
	"strconv"
	"strings"
	"time"

	"surehook/internal/hook"
)

// Decision is the gate's answer for a due delivery.
type Decision uint8

// The decisions. The zero Decision is not valid.
const (
	Admit  Decision = iota + 1 // the attempt may start
	Park                       // not now: the delivery waits in the store, without a token
	Delay                      // not now: the token returns at a known time
	Cancel                     // never: the endpoint was deleted
)

// String returns the decision as logged.
func (d Decision) String() string {
	switch d {
	case Admit:
		return "admit"
	case Park:
		return "park"
	case Delay:
		return "delay"
	case Cancel:
		return "cancel"
	}
	return "unknown"
}

// Verdict is the gate's decision about one delivery.
type Verdict struct {
	Decision Decision
	Reason   hook.Reason // of Park and Cancel
	Until    time.Time   // of Delay: the time of the token's return
	Reserved bool        // of Delay: the delivery has a rate slot and needs no other at Until
}

// Due is the token of a delivery waiting for admission.
type Due struct {
	Delivery hook.DeliveryID
	Attempt  int
	Nonce    string
	Reserved bool // the delivery waited for a reserved rate slot
}

// Holder returns the name of the token as the holder of a lease. Two tokens of one
// delivery are two holders: each may make an attempt, and the end of one attempt must
// not end the lease of the other. A copy of a message is the same holder.
//
// The endpoint of the record completes the name, so the name leaves the endpoint
// out: about 48 characters. Limits holds at most 100 names, about 5 KB.
func (d Due) Holder() string {
	return strings.TrimPrefix(string(d.Delivery.Event), "evt_") + "_" +
		strconv.Itoa(d.Delivery.Generation) + "_" + strconv.Itoa(d.Attempt) + "_" + d.Nonce
}

// Query asks about the due deliveries of one endpoint.
type Query struct {
	Tenant   hook.TenantID
	ID       hook.EndpointID
	Endpoint *hook.Endpoint // nil: deleted
	Record   Record         // read together with the endpoint
	Due      []Due
}

// slowInFlight is the in-flight limit of a slow endpoint without a limit set by
// the owner. A slow endpoint must not occupy the functions shared with other
// endpoints.
const slowInFlight = 5

// maxInFlight returns the maximum of concurrent attempts; 0: no limit.
func (q Query) maxInFlight() int {
	if q.Endpoint.MaxInFlight == 0 && q.Record.Review.Slow {
		return slowInFlight
	}
	return q.Endpoint.MaxInFlight
}

// Admission holds one verdict per due delivery, in the order of the query. Settle
// takes the same Admission after the attempts.
type Admission struct {
	Verdicts []Verdict

	query       Query
	probe       string    // the token holding the probe's lease; empty: no probe
	sharedProbe bool      // another receipt of the message holds the probe's lease, too
	holders     []string  // the tokens holding in-flight slots of their own
	leasedUntil time.Time // end of the leases of holders
}

func sameVerdict(q Query, v Verdict) Admission {
	a := Admission{query: q, Verdicts: make([]Verdict, len(q.Due))}
	for i := range a.Verdicts {
		a.Verdicts[i] = v
	}
	return a
}
