// Package release sends parked deliveries on, as many at a time as the endpoint has
// in-flight slots. A Releaser claims slots for the deliveries and sends their tokens.
//
// Stores and queues are ports: the package knows no queues or tables.
//
// # Hand-over
//
// A slot never comes back to ask: whoever gives a slot back hands the slot over. Fill
// claims the free slots of an endpoint, for the breaker. HandOver ends the slots of
// settled attempts and claims them, in the same write, for the next parked deliveries.
// So the parked deliveries of an endpoint flow in as many chains of tokens as the
// endpoint has slots.
//
//	attempt settled --> end the lease, claim it for a parked delivery --> send its token
//	       ^                                                                   |
//	       +------------------ attempt <-- start the lease <-------------------+
//
// # Claims
//
// A claim is a lease of the delivery, with the nonce of its token. The delivery stays
// parked until the attempt is recorded, so no crash loses the delivery. One lease per
// delivery: processes that read the same index never send a delivery twice. A delivery
// that was sent between the read and the claim is claimed once more: function deliver
// drops the token and hands the slot over.
//
// If a process dies after the claim, the lease ends after isolation.LeaseFor, and the tick
// of the breaker fills the slot again. The tick finds the endpoint because the record
// says that deliveries wait.
//
// # The last slot
//
// A delivery is parked because all slots are in use. The last slot may be given back
// before the delivery is parked, or before the index lists the delivery. So function
// deliver calls Fill after parking, with the parked deliveries; and whoever gives the
// last slot back while deliveries wait enqueues a circuit check.
package release
