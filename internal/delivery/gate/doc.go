// Package gate decides whether attempts may start now, and learns from their results.
//
// Stores and queues are ports.
//
// # Admission
//
// Function deliver asks once per endpoint and batch, or once per request to a coalescing
// endpoint. Admit returns a verdict for each due delivery. The first row that applies decides:
//
//	endpoint deleted               cancel
//	paused, disabled               park
//	circuit open or half-open      park, but admit one probe if it is due and the endpoint is not
//	                               throttled; while deliveries are parked, the breaker chooses it
//	throttled: answered 429        park
//	coalescing endpoint            see admitGroup
//	needs a slot, others wait      park, unless the token has a claim
//	needs a slot, lane of batches  move to the lane slot if the tenant has a place, or else to overflow
//	rate, and others wait          park, unless the token has a claim
//	no rate slot now               park
//	in the lane slot, no place     move to the lane overflow
//	delivery already has a lease   busy: the message comes again
//	no in-flight slot              park
//	circuit sheds, waves           park a share of the first attempts, unless the token has a claim
//	otherwise                      admit
//
// No verdict uses up an attempt. A fast endpoint without limits costs at most one update per
// batch, when Settle counts the results.
//
// # Speed
//
// Endpoints that are not fast, and endpoints with max_in_flight, need in-flight slots. An
// endpoint becomes fast by its score (package isolation). It becomes slow with five late attempts
// within a minute, each of a second or more; Late counts them while they are still in flight.
// After an outage an endpoint is unproven, like a new one, but has only one slot at first. The
// slots of an endpoint that is not fast follow its answers (isolation.Limits.Answered).
//
// # Counts of busy endpoints
//
// For a busy endpoint, Settle holds successes back and writes those of several batches with one
// update (stats.Held). It holds only successes, and only while the circuit is closed without
// consecutive failures, when they decide nothing. Any other result is written at once, together
// with the held successes.
//
// # Leases
//
// Probes and attempts in in-flight slots hold leases. If the process dies, its leases expire.
//
// The holder of a probe's lease is a token: delivery, attempt and nonce. A copy of the token
// renews the lease.
//
// A delivery has at most one lease on a slot. A second token of the delivery, or a copy of the
// token, finds the lease and comes again later. Package release hands over the slots of settled
// attempts. The store enforces the limit: one conditional update begins a lease if the endpoint
// has fewer leases than slots.
//
// # Places
//
// A token in the lane slot also holds a place of its tenant, from before it is sent there until
// its attempt is settled. Places are the tenant's share of that lane. The tenant's other tokens
// go to the lane overflow. So each tenant has only a few tokens in the lane slot, and the
// tokens of other tenants soon find a free function there.
package gate
