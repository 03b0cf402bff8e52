// Package breaker looks after endpoints for which deliveries are parked or
// whose circuit is not closed: it sends the probe, releases what is parked in
// widening waves, and lets die what grew too old.
//
// It has one verb for endpoints, Attend: look at the endpoint and do what its state asks for.
// A look that comes twice, late or for nothing does no harm, so the messages
// that ask for one may be lost or repeated; the tick finds by an index whatever
// was due and was not looked at. The first line that fits is what is done:
//
//	a delivery older than max_age        dead (expired), whatever the endpoint's state
//	endpoint deleted                     what is parked is cancelled
//	open, cooldown not over              look again when it is
//	nothing parked                       look again in 2 minutes; if then too, forget the endpoint
//	paused or disabled                   look again when the oldest expires, in an hour at most
//	half-open, the lease is held         look again when it runs out
//	open or half-open, due               a token for the oldest parked delivery: the gate
//	                                     gives it the lease when it arrives
//	closed                               release the wave: 1, 2, 4 ... 500, the oldest first,
//	                                     and look again for the next
//
// What is decided is written into the endpoint's record before it is done, on
// condition that nobody wrote since the record was read: AttendAt goes on, and
// with a release the wave's number. So of two looks one acts, and the other
// finds that it came too late: two messages cannot release the same wave, nor
// send two probes. What a process that died left undone is done a minute after
// AttendAt went on, by the tick.
//
// A token is sent before its delivery leaves the parked ones, and a dead letter
// before its delivery is dead. A crash between the two repeats a token or a
// letter, which is harmless: a second token finds its attempt recorded, and
// letters are reconciled with the records. The other way round it would lose one.
//
// The tick is also what writes the gauges of the metrics.
//
// Reconcile does that: it removes the letters whose records prove them needless,
// so that there are as many letters as open dead letters.
//
// Review judges the endpoints that were active, by the rules of package review,
// and carries the verdicts out: their owners are told, the record keeps what the
// gate goes by, and an endpoint that lets too much die is disabled.
//
// It knows nothing of queues, tables or functions: they are ports.
package breaker
