// Package circuit is the circuit breaker of one endpoint: a state machine over results and
// time. The package knows neither clocks nor stores nor requests. Package gate applies results, and
// package breaker sends probes.
//
// # States
//
//	              failures in a row, or the rate
//	              of 10 minutes, or by hand
//	     +--------+ ------------------------------> +------+
//	+--> | closed |                                 | open | <--+
//	|    +--------+ <--- reset by hand ------------ +------+    |
//	|                                                  |        |
//	|                                 cooldown is over |        | the probe failed:
//	|                                 and a token      |        | cooldown doubles
//	|                                 takes the lease  v        |
//	|   the probe succeeded                      +-----------+  |
//	+------------------------------------------- | half-open | -+
//	                                             +-----------+
//	                                               |      ^
//	                                               +------+ the lease expired:
//	                                                        another token takes the lease
//
// # Transitions
//
//	state      input                     condition                       next
//	closed     failures                  row or rate reached             open, generation + 1, cooldown = base
//	closed     failures                  below both                      closed, counted
//	closed     failures                  in flight at the first          closed, not counted in a row
//	closed     a success                                                 closed, count = trailing failures, attempts at a time x 2
//	open       probe                     before ProbeAt                  open
//	open       probe                     from ProbeAt on                 half-open, lease
//	half-open  probe                     lease held                      half-open
//	half-open  probe                     lease expired                   half-open, lease of the new holder
//	half-open  the holder's failure                                      open, cooldown x 2 (at most the cap)
//	half-open  the failure of a copy     lease renewed by a copy         open as above, no probe before the end of the lease
//	half-open  the holder's success                                      closed, generation + 1, cooldown = 0, one attempt at a time
//	open       a former holder's success same generation                 closed, generation + 1, cooldown = 0
//	half-open  a former holder's success same generation                 closed, generation + 1, cooldown = 0
//	any        reset                                                     closed, generation + 1
//	any        open by hand                                              open, generation + 1, cooldown = base
//	half-open  another token's failure                                   half-open
//	any        results of another generation                             unchanged
//
// A success is every result except a transient failure: 429 and most other 4xx prove that the
// endpoint works.
//
// # Failures in a row
//
// Failures in a row are the first failure, and those of attempts that were admitted after the
// first one was stored, without a success between them. Attempts in flight together count once:
// each of five slots may hold a delivery that always fails, while many others succeed. So with 5
// configured failures, an outage of a healthy endpoint with n attempts in flight is found after at
// most n + 4 failures. For a slow endpoint, at most 3 are required.
//
// An endpoint that fails now and then has rows of failures by chance. If p is its failure rate
// within ten minutes, a row of n has the probability p^n. A row opens the circuit when this is
// no more than the probability of the configured row at an endpoint without history, which
// counts as one that fails in 1 of 25 attempts. p is the rate of the window before the row,
// plus these 25 attempts. No history requires more than 25 failures, or the configured number if
// that is higher. If no attempt of the window succeeded, the configured number applies.
// Circuit.Row holds the required length; it is computed at the first failure.
//
//	p                     1 %  4 %  5 %  10 %  20 %  30 %  40 %  50 %  60 %
//	failures that open    5    5    6    7     10    14    18    24    25
//
// # Failure rate
//
// The rate opens the circuit when the lower bound of its 95 % confidence interval reaches
// the configured rate, or when all attempts of the window failed. For a rate of a half this takes 9
// failures of 10, 60 of 100, or 531 of 1,000. The rate does not apply to fewer attempts than the
// configured minimum.
//
// The rate does not apply in the first ten minutes after a closing, because the window still
// contains the failures of the outage.
//
// # Recovery
//
// After an outage the circuit allows one attempt at a time, and package gate admits no more. Each
// batch with a success doubles the number, until it exceeds the highest limit that an endpoint can
// have. Until then the configured number of failures in a row opens the circuit, whatever the
// history.
//
// # Late results
//
// A result counts only in the generation that admitted it. So attempts that are in flight
// during an opening, a closing or a reset change nothing afterwards.
//
// A probe may end after its lease. If it succeeds, the endpoint answered during the outage, and
// the circuit closes. If it fails, this says nothing about the present, and the holder of the
// lease decides.
package circuit
