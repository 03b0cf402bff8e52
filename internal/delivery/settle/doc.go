// Package settle writes decisions about deliveries, and does the work that follows.
//
// In function deliver, a [Settler] settles a delivery by the decision of a task: it writes the
// record and the attempt (a), follows up (b), and after a conflict asks package settlement
// again. Following up means sending the next task, or ending the delivery.
//
// # The end of a delivery
//
// Whoever ends a delivery writes the record, and has a [Completion] do the rest. Each step does
// nothing for a delivery that does not need it, and repeating it is harmless:
//
//	step           does
//	disable        an endpoint that answered 410 Gone gets no more deliveries
//	letter         a dead delivery has a letter; the breaker removes a second one
//	count          the delivery's replay job counts it once
//	retire         the dead predecessor is no longer an open dead letter, and its death no longer counts
//	notify         the owner learns of a dead delivery; a failure is logged
//	move on        the next delivery with the same ordering key has its turn; never before the write
//
// The order of the write and the steps depends on who comes back after a crash between them:
//
//	who ends it                                  written     after a crash between write and steps
//	a task: delivered, dead, expired, cancelled  first       the task comes again, and finds its nonce
//	a task, over a record of another task in     last, then  the record is as before: see
//	which the delivery has not ended             moved on    settlement.FollowFirst; after the write, the
//	                                                         sweep moves the sequence on
//	a check of the breaker: expired, cancelled   last, then  the delivery is still parked, and ends again;
//	                                             moved on    the sweep moves its sequence on
//	a person or a job: discarded, cancelled      first       the request or the message is repeated, and
//	                                                         finds its end in the record
//	an erasure: cancelled                        first       the same
//	its own replay: cancelled                    first       the end of the replay counts it
//	a run over the dead letters: dead            is there    the next run comes to the letter again
//
// # Ports
//
// The package declares the ports shared by the packages of delivery: DeliveryStore,
// EndpointStore, EndpointDisabler, OutcomeRecorder, Counter, TaskQueue, Schedules, DeadLetters
// and Notifier.
// Other packages embed the ports instead of repeating the contracts.
package settle
