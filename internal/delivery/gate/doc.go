// Package gate decides whether an attempt may start now, and learns from what
// came of it.
//
// It is asked once per endpoint and batch, and answers for each delivery, in
// this order:
//
//	endpoint deleted               cancel
//	paused, disabled               park
//	circuit open or half-open      park, but for one probe when it is due
//	answered 429 lately            delay until then
//	no slot of its rate            delay until the slot, which is reserved
//	no place in flight             delay shortly
//	otherwise                      admit
//
// None of these consumes an attempt. What it lends, it lends with an end: the
// probe's lease and places in flight run out by themselves when their holder
// dies. Healthy endpoints without limits cost it one update per batch.
//
// It knows nothing of queues, tables or requests: the store is a port.
package gate
