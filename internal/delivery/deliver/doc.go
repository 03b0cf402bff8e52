// Package deliver makes attempts. A Deliverer decodes a batch of tasks, loads the records,
// asks the gate, sends the requests and settles the deliveries.
//
// Queues, tables and HTTP are ports. Package hook explains the words.
//
// # The path of a task
//
//	task --> judge --+-- stale ----------------------------> drop
//	                  +-- own decision recorded ----------------------------> (b)
//	                  +-- too early ------------------------> same task, later
//	                  +-- not its turn ---------------------> its sequence goes on, if nobody else sees to it
//	                  +-- turn passed ----------------------> another place in its sequence
//	                  +-- older than max_age ---> dead (a) -----------------> (b)
//	                  +-- erased ---------------> cancelled (a) ------------> (b)
//	                  +-- due --> gate --+-- cancel --> cancelled (a) ------> (b)
//	                                     +-- park ----> parked (a)
//	                                     +-- move ----> same task, in another queue
//	                                     +-- admit ---> POST --> outcome (a) --> (b)
//
// (a) is the write of the decision, and (b) the follow-up. Package settlement decides, and
// explains why no crash between two steps loses a delivery. Not shown: the gate lets a
// busy task come again.
//
// # Duplicate tasks
//
// If the attempt of a task is recorded under another nonce, the task is a duplicate and is
// dropped: the message of the other task takes care of (b).
//
// A batch may contain several tasks for one attempt. Each is judged by itself. If several are
// due, one makes the attempt, and the others fail and come again. They cannot be acknowledged
// yet: another process may have received one of these messages too, record the attempt under that
// message's nonce, and die before (b). Only that message resumes.
//
// A task carries how often its delivery had been parked. If the delivery has been parked
// since, the task is dropped, because a copy of it may have parked the delivery and deleted the
// message. The task of the breaker, or of a slot handed over, then makes the attempt. If its own attempt is recorded,
// it resumes. settlement.Judge explains why this loses nothing.
//
// If the delivery is parked during the attempt, a final outcome replaces the park. If another task first records a
// failure of the same attempt, a 2xx replaces it. In both cases the write comes last, but for moving on a sequence,
// unless the delivery is dead: see settlement.FollowFirst. After a failure with retries left the park stays, and the
// attempt is recorded in it, as in any other record.
//
// A task that is sent back to wait keeps its nonce: see settlement.SameTask.
//
// # Replays
//
// The first task of a replay carries the replay request. Before the first attempt the
// Deliverer records the replay in the replayed delivery, if the sender of the task did not.
package deliver
