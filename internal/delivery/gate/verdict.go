package gate

import (
	"slices"
	"strconv"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// Decision is what the gate decides about a due delivery.
type Decision uint8

// The decisions. The zero Decision is not valid.
const (
	Admit  Decision = iota + 1 // the attempt may start
	Park                       // not now: the delivery waits in the store, without a token
	Move                       // not here, or not now: the token is sent to a lane
	Busy                       // not now: another token of the delivery, or a copy of the token, may be making the attempt
	Cancel                     // never: the endpoint was deleted
)

// String returns the decision as logged.
func (d Decision) String() string {
	return hook.Names[Decision]{Admit: "admit", Park: "park", Move: "move", Busy: "busy", Cancel: "cancel"}.Of(d)
}

// Verdict is the gate's decision about one delivery, with its details.
type Verdict struct {
	Decision Decision
	Reason   hook.Reason    // of Park and Cancel
	Until    time.Time      // of Move: when the token arrives in the lane, zero: now; of Park: the next rate slot, zero: no time is known
	Lane     hook.Lane      // of Move
	Probe    bool           // of Move: the token is the probe
	Reserved bool           // of Move: a rate slot is reserved for the token
	Lease    isolation.Held // of Admit: the in-flight slot of the attempt; zero: none needed
	InFlight int            // of Admit with a Lease: slots of the endpoint in use, with this one
}

// Due is the token of a delivery waiting for admission.
type Due struct {
	Delivery hook.DeliveryID
	Attempt  int
	Nonce    string
	Reserved bool // a rate slot is reserved for the token
	Slot     bool // the sender of the token claimed an in-flight slot
	Probe    bool // the breaker chose the delivery as the probe
	Test     bool // hook.Token.Test: a query with such a token has no other one
}

// Holder returns the name of the token as the holder of a probe's lease. Two tokens of one
// delivery are two holders: each may make an attempt, and when one ends, it must not end the
// lease of the other. Copies of a token are the same holder.
//
// The name leaves out the endpoint, because the record belongs to one endpoint. It has about 48
// characters.
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

// claimed reports whether a token has a claimed slot: its turn has come, even if others wait.
func (q *Query) claimed() bool { return slices.ContainsFunc(q.Due, func(d Due) bool { return d.Slot }) }

func (q *Query) slots(now time.Time) int { return q.Record.Slots(q.Endpoint, now) }

// Admission has one verdict per due delivery, in the order of the query. After the attempts, it
// is passed to Settle.
type Admission struct {
	Verdicts []Verdict

	query       *Query
	probe       string           // the Holder of the admitted probe; empty: none
	sharedProbe bool             // a copy of the token was already admitted as the probe
	test        bool             // the attempt is that of a test event
	places      []isolation.Held // the places of the tokens, which Settle gives back
}

func sameVerdict(q *Query, v Verdict) Admission {
	return Admission{query: q, Verdicts: slices.Repeat([]Verdict{v}, len(q.Due))}
}
