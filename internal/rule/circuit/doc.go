// Package circuit is the circuit breaker of one endpoint: a state machine over
// results and time. The package knows no clock, no store and no requests. Package
// gate applies results, and package breaker sends probes.
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
//	half-open  the failure of a copy         lease renewed by a copy     the same, no probe before the end of the lease
//	half-open  the holder's success                                      closed, generation + 1, cooldown = 0, one attempt at a time
//	open       a former holder's success same generation                 closed, generation + 1, cooldown = 0
//	half-open  a former holder's success same generation                 closed, generation + 1, cooldown = 0
//	any        reset                                                     closed, generation + 1
//	any        open by hand                                              open, generation + 1, cooldown = base
//	half-open  another token's failure                                   half-open
//	any        results of another generation                             unchanged
//
// # Failures in a row
//
// Failures in a row are the first one, and those of attempts admitted after the first was
// stored, without a success among them. Attempts in flight together count once. Five slots
// may each have a delivery that always fails, beside many that succeed; and a success in
// flight at the first failure is not written either. So an outage of a healthy endpoint
// with n attempts in flight is found after at most n + 4 failures.
//
// An endpoint that fails now and then has rows of failures by chance. With p the failure
// rate of ten minutes, a row of n has the probability p^n. A row opens the circuit when that
// is at most the probability of the configured row at an endpoint without history, which
// counts as one that fails in 1 of 25 attempts. p is the rate of the window before the row,
// with these 25 attempts. Row fixes the length with the first failure.
//
//	p                     1 %  4 %  5 %  10 %  20 %  30 %  40 %  50 %  60 %
//	failures that open    5    5    6    7     10    14    18    24    25
//
// # Failure rate
//
// The rate opens the circuit when the lower bound of its 95 % confidence interval reaches
// the configured rate: of 10 attempts 9, of 100 60, of 1,000 531 failures are half.
//
// The rate does not apply in the first ten minutes after a closing, because the
// window of ten minutes still holds the failures of the outage.
//
// # Recovery
//
// A closed circuit begins with one attempt at a time, and each success doubles the number,
// until no limit of an endpoint is as high. Package gate admits no more. Until then the
// configured number of failures in a row opens the circuit.
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
