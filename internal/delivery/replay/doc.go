// Package replay sends past deliveries again: one, all of an event, or as a job
// whatever a filter selects. It discards and cancels deliveries, and says what
// the dead ones have in common.
//
// A replay is the next generation of a delivery. Its token is sent first, with
// the order in it, and then the old delivery's record says that it was replayed.
// If the process dies between the two, function deliver finds the order in the
// token and writes the record itself, so whoever has sent the token is done; two
// tokens make one generation, because the record takes one replay only.
//
// A job is driven by messages, a page at a time:
//
//	(1) select a page, write it into the job with the cursor behind it
//	(2) send the page's tokens, record the replays
//	(3) write what came of it into the job, without the page
//	(4) ask for the next page, when the job's rate has room for it
//
// Each write is made on condition that nobody wrote since the job was read, so
// of two workers on the same job one goes on, and the other leaves a message for
// later, in case that both were given the same one. A message
// that finds a page in the job goes on from (2): a record that this job marked
// counts, one that somebody else marked is skipped. So a crash at any point
// neither loses a delivery nor sends one twice, and the totals are exact.
//
// A job selects what was there when it was made: what its own replays become is
// newer. It knows nothing of HTTP, of queues or of tables.
package replay
