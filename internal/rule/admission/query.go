package admission

import (
	"strconv"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Decision is what the table decides about a due delivery.
type Decision uint8

// The decisions. The zero Decision is not valid.
const (
	Admit  Decision = iota + 1 // the attempt may start
	Park                       // not now: the delivery waits in the store, without a task
	Move                       // not here, or not now: the task is sent to a queue
	Busy                       // not now: another task of the delivery, or a copy of the task, may be making the attempt
	Cancel                     // never: the endpoint was deleted
)

// String returns the decision in a word.
func (d Decision) String() string {
	return hook.Names[Decision]{Admit: "admit", Park: "park", Move: "move", Busy: "busy", Cancel: "cancel"}.Of(d)
}

// Verdict is the decision about one delivery, with its details.
type Verdict struct {
	Decision Decision
	Reason   hook.Reason // of Park and Cancel
	Until    time.Time   // of Move: when the task arrives in the queue, zero: now; of Park: when the wait ends, if that is known
	Queue    hook.Queue  // of Move
	Probe    bool        // of Move: the task is the probe
	Reserved bool        // of Move: a rate slot is reserved for the task
	Lease    Held        // of Admit: the in-flight slot of the attempt; zero: none needed
	InFlight int         // of Admit with a Lease: slots of the endpoint in use, with this one
}

// Due is the task of a delivery waiting for admission.
type Due struct {
	Delivery hook.DeliveryID
	Attempt  int
	Nonce    string
	Reserved bool // a rate slot is reserved for the task
	Slot     bool // the sender of the task claimed an in-flight slot
	Probe    bool // the task was sent as the probe: by the breaker, or on its way by a Verdict with Probe
	Test     bool // hook.Task.Test: a query with such a task has no other one
}

// Holder returns the name of the task as the holder of a probe's lease. Two tasks of one
// delivery are two holders: each may make an attempt, and when one ends, it must not end the
// lease of the other. Copies of a task are the same holder.
//
// The name leaves out the endpoint, because the record belongs to one endpoint. It has about 48
// characters.
func (d Due) Holder() string {
	return LeaseKey(d.Delivery) + "_" + strconv.Itoa(d.Attempt) + "_" + d.Nonce
}

// ShareKey returns the key of the task's share. It contains the endpoint, because two replays
// of one event may have the same nonce.
func (d Due) ShareKey() string { return string(d.Delivery.Endpoint) + "_" + d.Holder() }

// Share returns the share of the task.
func (d Due) Share(until time.Time) Held {
	return Held{Key: d.ShareKey(), Lease: Lease{Nonce: d.Nonce, Until: until}}
}

// Query asks about the due deliveries of one endpoint.
type Query struct {
	State

	Endpoint *hook.Endpoint // nil: deleted
	Queue    hook.Queue     // of the tasks; zero stands for a queue of batches
	Due      []Due
}

// State is what the table reads and changes.
type State struct {
	Record    Record
	Limits    *Limits // of the endpoint; nil: not read yet
	Shares    *Limits // of the tenant, in the queue slot; nil: not read yet
	MaxShares int     // that the tenant may have
	Run       string  // random, of the attempts that start now
}

// Part is a part of the state that is read only when a row needs it.
type Part uint8

// The parts.
const (
	LimitsPart Part = iota + 1
	SharesPart
)

// Admission has one verdict per due delivery, in the order of the query. After the attempts, the
// circuit learns from it: see Record.After.
type Admission struct {
	Verdicts []Verdict
	Next     State     // the state that admits the tasks: it is written before they start, and Record.After compares with it
	CheckAt  time.Time // when a check must release what is parked, if that is known
	Lacks    Part      // not zero: the answer is missing, because this part was not read

	endpoint    *hook.Endpoint
	probe       string // the Holder of the admitted probe; empty: none
	copiedProbe bool   // a copy of the task was already admitted as the probe
	test        bool   // the attempt is that of a test event
}
