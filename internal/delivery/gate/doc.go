// Package gate decides whether attempts may start now, and learns from the
// results of attempts.
//
// Stores and queues are ports: the package knows no queues, tables or requests.
//
// # Admission
//
// Function deliver asks once per endpoint and batch. Admit returns a verdict for
// each due delivery. The first matching row decides:
//
//	endpoint deleted               cancel
//	paused, disabled               park
//	circuit open or half-open      park, but admit one probe when due and not throttled:
//	                               the breaker's choice while deliveries are parked
//	throttled: answered 429        park
//	coalescing endpoint           as a group, see admitGroup
//	needs a slot, others wait      park, unless a slot was claimed for the token
//	needs a slot, lane of batches  move to the lane slot with a place, or to the lane overflow
//	no rate slot within a minute   park
//	no rate slot now               delay until the next slot, and reserve the slot
//	in the lane slot, no place     move to the lane overflow
//	no in-flight slot              park
//	otherwise                      admit
//
// No verdict consumes an attempt. A fast endpoint without limits costs at most one
// update per batch: Settle counts the results.
//
// # Speed
//
// Endpoints that are not fast, and endpoints with a limit of attempts in flight, need
// in-flight slots. An endpoint becomes fast by a score of its answers (package isolation),
// and slow when five attempts take more than a second within a minute: Late counts them
// while they are in flight. After an outage an endpoint is unproven, as a new one, and has
// one slot at first: each success doubles the slots (Circuit.AtOnce).
//
// # Counts of busy endpoints
//
// For a busy endpoint Settle holds successes back and writes several batches with one
// update (stats.Held). Only successes are held, and only when the circuit is closed
// without consecutive failures: the successes then decide nothing. Any other result is
// written at once, together with the held successes.
//
// # Leases
//
// A probe and an attempt in an in-flight slot hold a lease. The leases of a dead
// process expire.
//
// The holder of a probe's lease is the token: delivery, attempt and nonce. A copy of the
// message renews the lease.
//
// A slot has one lease per delivery. A second token of the delivery, and a copy of the
// message, find the lease and return later. Package release hands the slots of settled
// attempts over. The limit holds in the store: one conditional update begins a lease, if
// the endpoint has fewer leases than slots.
//
// # Places
//
// A token of the lane slot also holds a place of its tenant, from before the token is
// sent there until the attempt is settled. Places are the tenant's share of that lane. The
// other tokens of the tenant go to the lane overflow at once, so in the lane slot a tenant
// has a few tokens, and a function for the other tenants is free soon.
package gate
