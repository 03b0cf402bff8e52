// Package replay replays past deliveries: one delivery, all deliveries of an
// event, or a job for the deliveries of a filter. The package also discards and
// cancels deliveries, and groups dead deliveries by common causes.
//
// # Replaying a delivery
//
// A replay is the next generation of a delivery. The token goes out first, with
// the replay request inside. Then the record of the old generation names the new
// generation. If the process dies between the two steps, function deliver reads
// the replay request from the token and writes the record. So a sent token is
// enough. Two tokens make one generation, because a record accepts one replay
// only.
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
//	(2) send the tokens of the page, and record the replays
//	(3) add the results to the job, and remove the page
//	(4) enqueue the next message, for the time at which the job's rate has room
//
// Every save of the job is conditional on the version read. So of two workers
// with the same job, one continues. The other worker enqueues a later copy of its message:
// both workers may hold the same message, and the first may still fail.
//
// The job names the message that continues the job, and the one that passed the job on.
// All other messages end, so duplicates begin no second chain of messages.
//
// A message for a job with a saved page continues at (2). A record marked by the
// same job counts as enqueued; a record marked by another request counts as
// skipped. So a crash at any point neither loses a delivery nor replays a
// delivery twice, and the totals are exact.
//
// A job selects deliveries older than the job. The replays of the job are newer,
// so a job never selects its own replays.
//
// # Boundaries
//
// Package replay knows no HTTP, queues or tables.
package replay
