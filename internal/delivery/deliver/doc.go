// Package deliver makes attempts: it takes a batch of tokens, reads what they
// are about, asks the gate, sends the requests and settles what came of them.
//
// Settling is the crash-safety argument, in this order:
//
//	(a) write the outcome, on condition that nobody wrote since it was read
//	(b) send the token of the next attempt, or the dead letter
//	(c) return, and the queue deletes the token that was worked on
//
// A crash before (a) repeats the attempt. A crash between (a) and (c) brings the
// same token back, which finds its own nonce in the record and goes on from (b).
// A token that finds its attempt recorded under another nonce is a duplicate
// that came too late: the other one's own message looks after (b), so it is
// dropped. A token that is sent back to wait keeps its nonce, so that it is the
// same one whoever else was handed its message. Nothing between two of these
// points can lose a delivery.
//
//	token --> judge --+-- stale ----------------------------> drop
//	                  +-- own attempt recorded -----------------------------> (b)
//	                  +-- too early ------------------------> same token, later
//	                  +-- older than max_age ---> dead (a) -----------------> (b)
//	                  +-- due --> gate --+-- cancel --> cancelled (a)
//	                                     +-- park ----> parked (a)
//	                                     +-- admit ---> POST --> outcome (a) --> (b)
//
// It knows nothing of queues, tables or HTTP: they are ports.
package deliver
