package gate

import (
	"slices"
	"strconv"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/isolation"
)

// Decision is the gate's answer for a due delivery.
type Decision uint8

// The decisions. The zero Decision is not valid.
const (
	Admit  Decision = iota + 1 // the attempt may start
	Park                       // not now: the delivery waits in the store, without a token
	Delay                      // not now: the token returns at a known time
	Move                       // not here: the token goes on in another lane
	Busy                       // not now: another token of the delivery, or a copy of the token, may make the attempt
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
	case Move:
		return "move"
	case Busy:
		return "busy"
	case Cancel:
		return "cancel"
	}
	return "unknown"
}

// Verdict is the gate's decision about one delivery.
type Verdict struct {
	Decision Decision
	Reason   hook.Reason    // of Park and Cancel
	Until    time.Time      // of Delay: the reserved rate slot, when the token returns; of Move: the arrival in the lane, zero: now
	Lane     hook.Lane      // of Move; of Delay: zero for the retry lane
	Probe    bool           // of Move: the token is the probe
	Lease    isolation.Held // of Admit: the in-flight slot of the attempt; zero: none needed
}

// Due is the token of a delivery waiting for admission.
type Due struct {
	Delivery hook.DeliveryID
	Attempt  int
	Nonce    string
	Reserved bool // the delivery waited for a reserved rate slot
	Slot     bool // the sender of the token claimed an in-flight slot
	Probe    bool // the breaker chose the delivery as the probe
}

// Holder returns the name of the token as the holder of a probe's lease. Two tokens of
// one delivery are two holders: each may make an attempt, and the end of one attempt
// must not end the lease of the other. A copy of a message is the same holder.
//
// The endpoint of the record completes the name, so the name leaves the endpoint
// out: about 48 characters.
func (d Due) Holder() string {
	return isolation.LeaseKey(d.Delivery) + "_" + strconv.Itoa(d.Attempt) + "_" + d.Nonce
}

// Query asks about the due deliveries of one endpoint.
type Query struct {
	Tenant   hook.TenantID
	ID       hook.EndpointID
	Endpoint *hook.Endpoint    // nil: deleted
	Record   Record            // read together with the endpoint
	Limits   *isolation.Limits // read together with the endpoint; nil: not read
	Lane     hook.Lane         // of the tokens; zero stands for a lane of batches
	Due      []Due
}

// claimed reports whether a slot is claimed for a token, or a rate slot reserved: such a
// token waits behind nobody.
func (q *Query) claimed() bool {
	return slices.ContainsFunc(q.Due, func(d Due) bool { return d.Slot || d.Reserved })
}

func (q *Query) slots(now time.Time) int { return q.Record.Slots(q.Endpoint, now) }

// Admission holds one verdict per due delivery, in the order of the query. Settle
// takes the same Admission after the attempts.
type Admission struct {
	Verdicts []Verdict

	query       *Query
	probe       string           // the token holding the probe's lease; empty: no probe
	sharedProbe bool             // another receipt of the message holds the probe's lease, too
	places      []isolation.Held // the tenant's places of the tokens, to leave in Settle
}

func sameVerdict(q *Query, v Verdict) Admission {
	a := Admission{query: q, Verdicts: make([]Verdict, len(q.Due))}
	for i := range a.Verdicts {
		a.Verdicts[i] = v
	}
	return a
}
