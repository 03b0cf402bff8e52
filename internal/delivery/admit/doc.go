// Package admit decides who may start now, and hands on what an attempt held. Package admission of the
// rules decides; this package reads what a decision needs, and writes what it takes.
//
//	Ask --> a verdict per task: attempt, move, park, busy or cancel
//	          |
//	          +-- attempt: the task holds a permit (probe, in-flight slot, rate slot, share of the tenant)
//	          |      |
//	          |     Done --> the circuit, the counts and the speed learn from the answers
//	          |      |       the share is given back
//	          |      +-----> the slot goes to the next parked delivery, and its task is sent
//	          |
//	          +-- park: Done looks once more for a free slot
//
// Function deliver asks once per endpoint and batch, or once per request to a coalescing endpoint and per test event.
// No verdict uses up an attempt. A fast endpoint without limits costs at most one update per batch, when Done counts
// the results. Stores and queues are ports.
//
// # Who gives back what
//
//	share of the tenant   by Done and Return
//	in-flight slot        by Done and Return, which hand it over; after a failed Ask, by giveBack
//	probe's lease         by Done: the circuit learns
//	rate slot             never: it is used up
//
// If a task failed by a fault of ours, its message comes again in a second or two, and later each time (retry.Redelivery).
// Its share and its slot stay with it, until they expire admission.LeaseFor after they began, long before a message of
// a dead process comes again; after a failed Ask, only its share, and a claim that it has not taken over.
//
// # Slots go from hand to hand
//
// Nobody polls for free slots: whoever is done with a slot passes it on. Fill, called by the breaker,
// claims the free slots of an endpoint. Done ends the leases of settled attempts and claims their slots
// for the next parked deliveries, in the same write. So the parked deliveries of an endpoint flow in as
// many chains as it has slots.
//
// A claim is a lease with the nonce of the task that will be sent. The delivery stays parked until its
// attempt is recorded, so no crash loses it. A delivery has only one lease, so processes that read the
// same index never send it twice at once. If the index lags and lists a delivery whose attempt is
// already over, it is claimed once more: function deliver then drops the task and hands the slot on.
//
// If a process dies after the claim, the lease expires after admission.LeaseFor, and the breaker's tick
// fills the slot again. The tick finds the endpoint because its record says that deliveries wait.
//
// A delivery is parked because all slots are in use. But the last slot may be given back before the
// delivery is parked, or before the index lists it, and then nobody would pass a slot on to it. So Done
// calls Fill with the deliveries parked just now; and HandOver enqueues a circuit check if it gives back the last slot
// while deliveries wait, unless the endpoint coalesces: the breaker sends its waves.
//
// # Counts of busy endpoints
//
// For a busy endpoint, Done holds successes back and writes those of several batches with one update
// (stats.Unwritten). It holds only successes, and only while the circuit is closed without consecutive
// failures, when they decide nothing. Any other result is written at once, together with the held
// successes.
package admit
