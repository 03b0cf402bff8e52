// Package replay replays past deliveries: one delivery, all deliveries of an
// event, or, by a job, all deliveries that a filter selects. It also discards and
// cancels deliveries, and groups dead deliveries by common causes.
//
// # Replaying a delivery
//
// A replay is the next generation of a delivery. First the task is sent, with the replay
// request in it. Then the record of the old generation names the new one. If the process dies
// between the two steps, function deliver writes that record from the replay request in the
// task. So once a task is sent, the replay will happen. Two tasks still make one generation,
// because a record accepts only one replay.
//
// # Jobs
//
// Messages drive a job, one page at a time:
//
//	message --> (1) select --> (2) send --> (3) count --> (4) enqueue message
//	                 ^                        |  |
//	                 |  room for another page |  |
//	                 +------------------------+  +--> finished, when nothing is left
//
//	(1) select a page, and save the page and the next cursor in the job
//	(2) send the tasks of the page, and record the replays
//	(3) add the results to the job, and remove the page
//	(4) enqueue the next message, for the time at which the job's rate has room
//
// Every save of the job is conditional on the version read, so of two workers with the same job
// one continues. The other enqueues a copy of its message for later: both may hold the same
// message, and the first may still fail.
//
// The job names the message that continues it, and the message before that one. All other
// messages are dropped, so duplicates start no second chain.
//
// A message for a job with a saved page continues at (2). A record that already names this job
// as its replay counts as enqueued, and one that names another request counts as skipped. So no
// crash loses a delivery or replays one twice, and the totals are exact.
//
// A job only selects deliveries that are older than the job, so it never selects its own
// replays.
//
// # Boundaries
//
// HTTP, queues and tables are ports.
package replay
