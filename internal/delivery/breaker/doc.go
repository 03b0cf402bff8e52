// Package breaker recovers endpoints. For an endpoint with parked deliveries or
// an open circuit, the package sends probes, releases parked deliveries in
// growing waves, and ends parked deliveries without a future. The package also
// reviews active endpoints, reconciles the dead-letter queue, and replaces lost tokens.
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
// A circuit check may arrive twice, late or without cause. Reconcile is
// idempotent, so lost and repeated messages do no harm. Tick reads an index
// once a minute and reconciles every endpoint with a missed check.
//
// # Concurrency
//
// Reconcile saves the decision before acting: SaveCircuit advances AttendAt, and
// the wave number for a release, on the condition of the version read. Of two
// concurrent checks, one saves and acts; the other meets a conflict. So two
// messages cannot release the same wave or send two probes. If the process dies
// before acting, Tick repeats the check one minute later, when AttendAt is due.
//
// # Faults of single deliveries
//
// A delivery that cannot be ended stays parked. The check goes on with the other
// deliveries, with the probe or with the release, and returns the errors at the end.
// AttendAt is then at most one minute ahead, so Tick tries the delivery again. A check
// with such an error enqueues no check of the same wave, because its own message
// returns. Only the check of the next wave of a release goes out in any case.
//
// # Crash safety
//
// The token goes out before the delivery leaves the parked state, and the dead
// letter goes out before the delivery becomes dead. A crash between the two
// steps repeats the token or the dead letter. A repeated token finds the
// recorded attempt and changes nothing. ReconcileDeadLetters removes the
// repeated dead letter. In the reverse order, a crash would lose the token or
// the dead letter.
//
// # Dead letters
//
// ReconcileDeadLetters compares the dead letters with the delivery records and
// removes needless letters. The queue then holds one letter for each open dead letter,
// and for a while letters of deliveries that ended since: SQS finds no letter by its
// delivery, so a run reads a bounded number, more while it finds needless ones, and most
// of them at night. The records say how many dead letters are open; the depth of the
// queue follows within a day, up to lettersOfNight letters.
//
// # Sweep
//
// Sweep finds retrying and queued deliveries whose token is lost, of whatever cause, and
// sends new tokens. Parked deliveries have no token: Tick finds their endpoints.
//
// A queued delivery has no record for Sweep to find. So Record looks at each delivery once,
// some minutes after its event or replay, and records what is still queued.
//
// # Review
//
// Review judges the active endpoints by the rules of package review and applies
// the verdicts: Review notifies the owners, saves the flags for the gate, and
// disables endpoints with too many dead deliveries.
//
// # Boundaries
//
// Package breaker knows no queues, tables or functions. Ports stand for all of
// them. Tick also writes the gauges of the metrics.
package breaker
