// Package circuit is the circuit breaker of one endpoint: a state machine over
// results and time. The package knows no clock, no store and no requests. Package
// gate applies results, and package breaker sends probes.
//
// # States
//
//	              5 consecutive failures, or half of
//	              the last 10 minutes, or by hand
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
//	closed     failures                  threshold or rate reached       open, generation + 1, cooldown = base
//	closed     failures                  below both                      closed, counted
//	closed     failures                  in flight at the first          closed, not counted in a row
//	closed     a success                                                 closed, count = trailing failures
//	open       probe                     before ProbeAt                  open
//	open       probe                     from ProbeAt on                 half-open, lease
//	half-open  probe                     lease held                      half-open
//	half-open  probe                     lease expired                   half-open, lease of the new holder
//	half-open  the holder's failure                                      open, cooldown x 2 (at most the cap)
//	half-open  the failure of a copy         lease renewed by a copy     the same, no probe before the end of the lease
//	half-open  the holder's success                                      closed, generation + 1, cooldown = 0
//	open       a former holder's success same generation                 closed, generation + 1, cooldown = 0
//	half-open  a former holder's success same generation                 closed, generation + 1, cooldown = 0
//	any        reset                                                     closed, generation + 1
//	any        open by hand                                              open, generation + 1, cooldown = base
//	half-open  another token's failure                                   half-open
//	any        results of another generation                             unchanged
//
// # Failures in a row
//
// Failures are in a row by their admission: the first one, and those admitted after the
// first was stored, without a success among them. Attempts in flight together say as
// much as one. Five slots may each have a delivery that always fails, beside many that
// succeed; and a success in flight at the first failure is not written either. So an
// outage of an endpoint with n attempts in flight is found after at most n + 4 failures.
//
// # Failure rate
//
// The rate does not apply in the first ten minutes after a closing, because the
// window of ten minutes still holds the failures of the outage. Consecutive
// failures always apply.
//
// # Late results
//
// A result counts only in the generation of its admission. So attempts in progress
// during an opening, a closing or a reset change nothing later.
//
// A probe may end after its lease. A late success proves that the endpoint answered
// during the outage, and closes the circuit. A late failure says nothing about the
// present, and the holder of the lease decides.
package circuit
