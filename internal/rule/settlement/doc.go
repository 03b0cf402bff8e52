// Package settlement decides what happens to a delivery: given a task, the newest record and
// the outcome of an attempt, it returns the record to write and the work that follows. The
// package knows no stores or queues. Packages deliver and settle read and write, and ask again
// after a conflict.
//
// # Three questions
//
//   - [Judge]: what does a task that came from the queue do next?
//   - [Decision.On]: what does a decision write over the newest record, and in which order?
//   - [NextSending]: where and when does the next task of a retrying delivery go?
//
// # Crash safety
//
// A delivery is settled in three steps:
//
//	(a) write the decision, on the condition that the record has not changed since the read
//	(b) send the task of the next attempt, or complete the end: see package settle
//	(c) acknowledge the task that came
//
// A crash before (a) repeats the attempt: when the message comes back, or earlier, of a delivery that was parked, by
// a new task of the breaker or of a slot handed over, once the lease of its slot or of the probe is over. After a crash between (a) and (c) the
// same task comes back, six minutes after it was received: SQS keeps a message until it is acknowledged. It finds
// its own nonce in the record, and resumes at (b). So no crash between two steps loses a delivery. If (b) fails
// as often as a queue tries, the message goes to the queue undeliverable, from which an operator sends it again.
//
// Only a decision that replaces the record of another task does (b) before (a): see
// [FollowFirst].
package settlement
