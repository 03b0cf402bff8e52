// Package circuit is the breaker of one endpoint: a machine that takes what
// happened and the time, and gives the next state. It knows no clock, no store
// and no requests; package gate asks it, package breaker drives it.
//
//	              5 consecutive failures, or half of
//	              the last 10 minutes, or by hand
//	     +--------+ ------------------------------> +------+
//	+--> | closed |                                 | open | <--+
//	|    +--------+ <--- reset by hand ------------ +------+    |
//	|                                                  |        |
//	|                                 cooldown is over |        | the probe failed:
//	|                                 and a delivery   |        | cooldown doubles
//	|                                 takes the lease  v        |
//	|   the probe came through                   +-----------+  |
//	+------------------------------------------- | half-open | -+
//	                                             +-----------+
//	                                               |      ^
//	                                               +------+ the lease ran out:
//	                                                        another delivery takes it
//
// Every transition, and what does nothing:
//
//	state      what happens              condition                       next
//	closed     failures                  threshold or rate reached       open, generation + 1, cooldown = base
//	closed     failures                  below both                      closed, counted
//	closed     a success                                                 closed, count = trailing failures
//	open       probe                     before ProbeAt                  open
//	open       probe                     from ProbeAt on                 half-open, lease
//	half-open  probe                     lease held                      half-open
//	half-open  probe                     lease ran out                   half-open, lease is the new holder's
//	half-open  the holder's failure                                      open, cooldown x 2 (at most the cap)
//	half-open  the holder's success                                      closed, generation + 1, cooldown forgotten
//	any        reset                                                     closed, generation + 1
//	any        open by hand                                              open, generation + 1, cooldown = base
//	any        results of another generation, or without the lease       nothing
//
// The rate is not asked in the first ten minutes after a closing, when the window
// still holds the outage; consecutive failures are. A result counts only in the generation it was admitted in, so what was under
// way when the circuit opened, closed or was reset changes nothing later.
package circuit
