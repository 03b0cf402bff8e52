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
//	circuit open or half-open      park, but admit one probe when due and not throttled
//	throttled: answered 429        delay until the end of the throttle
//	no rate slot now               delay until the next slot, and reserve the slot
//	no in-flight slot              delay by 2 to 4 seconds
//	otherwise                      admit
//
// No verdict consumes an attempt. A healthy endpoint without limits costs at most one
// update per batch: Settle counts the results.
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
// A probe and an attempt with an in-flight limit hold a lease. The holder is the
// token: delivery, attempt and nonce. A second token of the same delivery needs a
// lease of its own, and a copy of a message renews the lease. Settle ends the leases
// of finished attempts. The leases of a dead process expire.
package gate
