// Package deliver makes attempts. A Deliverer decodes a batch of tokens, loads
// the records, asks the gate, sends the requests and settles the deliveries.
//
// Queues, tables and HTTP are ports: the package knows none of them.
//
// # The path of a token
//
//	token --> judge --+-- stale ----------------------------> drop
//	                  +-- own decision recorded ----------------------------> (b)
//	                  +-- too early ------------------------> same token, later
//	                  +-- older than max_age ---> dead (a) -----------------> (b)
//	                  +-- due --> gate --+-- cancel --> cancelled (a) ------> (b)
//	                                     +-- park ----> parked (a)
//	                                     +-- delay ---> same token, later
//	                                     +-- admit ---> POST --> outcome (a) --> (b)
//
// Package settlement decides, and holds the argument why no crash between two steps loses a
// delivery: (a) is the write of the decision, and (b) the work that follows.
//
// # Duplicate tokens
//
// A token whose attempt is recorded under another nonce is a late duplicate. The
// message of the recorded token takes care of (b), so the duplicate is dropped.
//
// A batch may hold several tokens of one attempt. Each token is judged alone. If
// several tokens are due, one token makes the attempt, and the other tokens return
// to the queue. A due token cannot be acknowledged unseen: another process may hold
// the same message, record the attempt under this nonce and die before (b).
//
// A token carries the number of parks of its delivery. A token older than the last
// park is dropped, unless its attempt is recorded: a copy of the token may have parked
// the delivery and deleted the message. The breaker's token makes the attempt. The
// argument is at settlement.Judge.
//
// If the delivery is parked during the attempt, the outcome replaces the park. If
// another token records a failure of the attempt first, an answer 2xx replaces the
// record. The write is then the last step: settlement.FollowFirst holds the argument.
//
// A token sent back to wait keeps its nonce. Two functions may receive the same
// message: the first records the attempt and dies before (b), while the second
// sends the token back to wait. The returning token then finds its own nonce and
// resumes at (b).
//
// # Replays
//
// The token of a replay carries the replay request. Before the first attempt,
// the Deliverer records the replay in the predecessor if the record is missing.
package deliver
