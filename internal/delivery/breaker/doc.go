// Package breaker helps endpoints recover. For an endpoint with parked deliveries or an open
// circuit it sends probes, releases parked deliveries in slots or growing waves, and ends
// parked deliveries that can no longer be sent. It also reviews active endpoints, reconciles
// the dead-letter queue, and replaces lost tokens.
//
// # Reconciling an endpoint
//
// Reconcile reads the endpoint and its circuit record, and does the first row
// of this table that applies:
//
//	parked delivery older than max_age   delivery becomes dead (expired) in every state
//	endpoint deleted                     cancel the parked deliveries
//	open, cooldown or throttle not over  check again afterwards
//	half-open, throttle not over         check again afterwards
//	nothing parked                       check again in 2 minutes, then forget the endpoint
//	paused or disabled                   check again when the oldest expires, in an hour at most
//	half-open, lease held                check again when the lease ends
//	open or half-open, probe due         send the token of a parked delivery, as the probe:
//	                                     the gate gives the lease to the token on arrival
//	closed, throttle not over            check again afterwards
//	closed, needs slots or has a rate    send a delivery through each free slot: see package admit
//	closed                               release a wave of 1, 2, 4 ... 500 deliveries, the
//	                                     fewest attempts first, and schedule the next wave
//
// An endpoint moves through these stages:
//
//	           delivery parked               none parked
//	forgotten -----------------> waiting -----------------> empty
//	    ^                         ^   |                      | |
//	    |                         |   +--> probe or wave --+ | |
//	    |                         +------------------------+ | |
//	    |                         +---- delivery parked -----+ |
//	    +---------------- none parked for 2 minutes -----------+
//
// A circuit check may arrive twice, late or without cause. Reconcile is idempotent, so lost and
// repeated messages do no harm. Once a minute Tick reads an index, and reconciles every
// endpoint that missed a check.
//
// # Concurrency
//
// Reconcile saves its decision before it acts: SaveCircuit advances AttendAt, and in a release
// the wave number, on the condition of the version read. Of two concurrent checks, one saves
// and acts, and the other meets a conflict. So two messages cannot release the same wave or
// send two probes. If the process dies before it acts, Tick repeats the check a minute later,
// when AttendAt is due.
//
// # Faults of single deliveries
//
// A delivery that cannot be ended stays parked. The check goes on with the other deliveries and
// with the probe or the release, and returns the errors at the end. AttendAt is then at most
// one minute ahead, so Tick tries the delivery again. The failed check enqueues no check of the
// same wave, because its own message comes again. Only the check of the next wave goes out in
// any case.
//
// # Crash safety
//
// A token goes out before its delivery leaves the parked state, and a dead letter goes out
// before its delivery becomes dead. A crash between the two steps repeats the token or the dead
// letter. A repeated token finds the recorded attempt and changes nothing, and
// ReconcileDeadLetters removes a repeated dead letter. In the reverse order a crash would lose
// the token or the dead letter.
//
// # Dead letters
//
// ReconcileDeadLetters compares the letters with the records of their deliveries and removes
// needless ones. What remains is one letter for each open dead letter, and for a while letters
// of deliveries that are no longer dead: SQS cannot find a message by its delivery, so a run
// reads a bounded number, more while it finds needless ones, and most of them at night. The
// records say how many dead letters are open. The depth of the queue follows within a day, up
// to lettersOfNight letters.
//
// # Sweep
//
// Sweep finds retrying and queued deliveries whose token is lost, for whatever reason, and
// sends new tokens. Parked deliveries have no token: Tick finds their endpoints.
//
// A queued delivery has no record that Sweep could find. So Record looks at each delivery once,
// some minutes after its event or replay, and records it if it is still queued.
//
// # Review
//
// Review judges the active endpoints by the rules of package review, and applies the verdicts:
// it notifies the owners, disables endpoints with too many dead deliveries, and saves the flags
// for the gate.
//
// # Boundaries
//
// Queues, tables and functions are ports. Tick also writes the gauges among the metrics.
package breaker
