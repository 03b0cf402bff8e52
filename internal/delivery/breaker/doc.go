// Package breaker brings back what no message brings: deliveries that are parked, queued or
// retrying without a task, and endpoints that recover. Each file says what it brings back.
//
//	file     what it brings back                     its promise
//	check    endpoints with parked deliveries        each gets the first step that applies
//	tell     nothing: it tells of a transition       the owner learns of the last two openings and closings
//	tick     checks whose message was lost           each is made within a minute of its time
//	probe    an endpoint whose circuit is open       one parked delivery per cooldown asks for it
//	release  parked deliveries of a working one      each gets a task, a wave or a slot at a time
//	end      parked deliveries that cannot be sent   each ends, and its owner and job learn of it;
//	         any more                                an endpoint is forgotten only without any
//	sweep    tasks that were lost                   an overdue delivery has a task within an hour; while
//	                                                 the queues are late, some of each tenant have
//	record   queued deliveries, for the sweep        each has a record soon after its event, or waits in a
//	                                                 sequence, after which the sweep looks
//	letters  the dead-letter queue                   it has no letter but that of an open dead letter
//	review   nothing: it judges active endpoints     slow and failing ones are noticed
//	risk     nothing: it foretells, for the review   the owner learns before the first loss
//
// If the process dies, each step is repeated or was the last one:
//
//	step                                             after a crash
//	a check tells the owner                          the next check does it again, by the same key
//	it ends deliveries                               the next check does it again, by the same keys
//	it saves its step                                the message comes again; else the tick finds the
//	                                                 record by AttendAt
//	it sends a probe, a wave, or fills slots         the tick goes on when AttendAt is due, a minute
//	                                                 later; the deliveries are still parked
//	a wave saves its deliveries as retrying          they are parked, and have a task: it settles
//	                                                 them, or the next wave sends another
//	the end of a delivery: letter, completion        the delivery is still parked: it ends again
//	its record is written, then its turn ends        the sweep moves its sequence on
//	a sweep marks a delivery, then sends             it is swept again an hour later
//	a record is written                              the same deliveries come again, and have one
//	a review notifies, disables, saves flags         the next review reaches the same verdict
//
// # Reconciling an endpoint
//
// Reconcile reads the endpoint and its circuit record, and does the first row
// of this table that applies. Where nothing is parked, the endpoint rests, or a probe is under way, only the tick
// checks again.
//
//	parked delivery older than max_age   delivery becomes dead (expired) in every state
//	endpoint deleted                     cancel the parked deliveries
//	more than one check can end          check again at once
//	active, open, cooldown or throttle   check again afterwards
//	not over; or half-open, throttle
//	not over
//	nothing parked                       check again in 2 minutes, then forget the endpoint
//	paused or disabled                   check again before the oldest expires, in an hour at most
//	closed, released in slots            send a delivery through each free slot, after a throttle:
//	                                     see package admit
//	closed, without slots                release a wave of 1, 2, 4 ... 500 deliveries, the fewest
//	                                     attempts first, after a throttle, and schedule the next
//	half-open, lease held                the tick looks again when the lease ends
//	a probe was sent                     check again a minute later, in case its task was lost
//	open or half-open, probe due         send the task of a parked delivery, as the probe:
//	                                     the gate gives the lease to the task on arrival
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
// A check decides, saves the record on the condition of the version read, and only then acts: the
// save advances AttendAt, and notes the probe or the wave. Of two concurrent checks, one saves and acts,
// and the other decides again. So two messages cannot release the same wave or send two probes.
//
// # Faults of single deliveries
//
// A delivery that cannot be ended stays parked. The check goes on with the other deliveries and
// with the probe or the release, and returns the errors at the end. AttendAt is then at most
// one minute ahead, so Tick tries the delivery again. The failed check enqueues no check of the
// same wave, because its own message comes again. Only the check of the next wave goes out in
// any case.
//
// # Order
//
// A task goes out before its delivery leaves the parked state, and a dead letter goes out
// before its delivery becomes dead: in the reverse order a crash would lose it. A repeated task
// finds the recorded attempt, or at worst makes the attempt once more, and ReconcileDeadLetters removes a repeated
// dead letter.
//
// # Dead letters
//
// ReconcileDeadLetters compares the letters with the records of their deliveries and removes
// needless ones. What remains is at most one letter for each open dead letter, and for a while letters
// of deliveries that are no longer dead: SQS cannot find a message by its delivery, so a run
// reads a bounded number, more while it finds needless ones, and most of them at night. The
// records say how many dead letters are open. The depth of the queue follows within a day, up
// to lettersOfNight letters.
//
// # Boundaries
//
// Queues, tables and functions are ports. Tick also writes the gauges among the metrics.
package breaker
