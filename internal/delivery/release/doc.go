// Package release sends parked deliveries, as many at a time as the endpoint has in-flight
// slots. A Releaser claims slots for them and sends their tokens.
//
// Stores and queues are ports.
//
// # Hand-over
//
// Nobody polls for free slots: whoever is done with a slot passes it on. Fill, called by the
// breaker, claims the free slots of an endpoint. HandOver ends the leases of settled attempts
// and claims their slots for the next parked deliveries, in the same write. So the parked
// deliveries of an endpoint flow in as many chains as it has slots.
//
//	attempt settled --> end the lease, claim it for a parked delivery --> send its token
//	       ^                                                                   |
//	       +------------------ attempt <-- start the lease <-------------------+
//
// # Claims
//
// A claim is a lease with the nonce of the token that will be sent. The delivery stays parked
// until its attempt is recorded, so no crash loses it. A delivery has only one lease, so
// processes that read the same index never send it twice at once. If the index lags and lists a
// delivery whose attempt is already over, it is claimed once more: function deliver then drops
// the token and hands the slot over.
//
// If a process dies after the claim, the lease expires after admission.LeaseFor, and the
// breaker's tick fills the slot again. The tick finds the endpoint because its record says that
// deliveries wait.
//
// # The last slot
//
// A delivery is parked because all slots are in use. But the last slot may be given back before
// the delivery is parked, or before the index lists it, and then nobody would pass a slot on to
// it. So function deliver calls Fill after parking, with the parked deliveries; and whoever
// gives back the last slot while deliveries wait enqueues a circuit check.
package release
