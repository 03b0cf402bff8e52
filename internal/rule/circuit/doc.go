// Package circuit is the circuit breaker of one endpoint: a state machine over results and
// time. The package knows neither clocks nor stores nor requests. Package admit applies results, and
// package breaker sends probes.
//
// # States
//
//	              failures in a row, or by hand
//	     +--------+ ------------------------------> +------+
//	+--> | closed |                                 | open | <--+
//	|    +--------+ <--- reset by hand ------------ +------+    |
//	|                                                  |        |
//	|                                 cooldown is over |        | the probe failed:
//	|                                 and a task      |        | cooldown grows
//	|                                 takes the lease  v        |
//	|   the probe succeeded                      +-----------+  |
//	+------------------------------------------- | half-open | -+
//	                                             +-----------+
//	                                               |      ^
//	                                               +------+ the lease expired:
//	                                                        another task takes the lease
//
// # Transitions
//
//	state      input                     condition                       next
//	closed     failures                  enough in a row, or no success  open, generation + 1, cooldown = base, or longer if the outage goes on
//	closed     failures                  fewer                           closed, counted
//	closed     failures                  in flight at the first          closed, not counted in a row
//	closed     a success                                                 closed, count = trailing failures, the outage before is over
//	closed     results                   too many failures in ten min    closed, strained
//	open       probe                     before ProbeAt                  open
//	open       probe                     from ProbeAt on                 half-open, lease
//	half-open  probe                     lease held                      half-open
//	half-open  probe                     lease expired                   half-open, lease of the new holder
//	half-open  the holder's failure                                      open, longer cooldown (at most the cap)
//	half-open  the holder, no request    lease not shared                open, the next probe is due at once
//	half-open  the holder's failure      mended since the lease began    open, the next probe is due at once
//	half-open  the failure of a copy     lease renewed by a copy         open as above, no probe before the end of the lease
//	half-open  the holder's success                                      closed, generation + 1
//	open       a former holder's success same generation                 closed, generation + 1
//	half-open  a former holder's success same generation                 closed, generation + 1
//	any        reset                                                     closed, generation + 1
//	not closed moved to another server                                   open, generation + 1, the next probe is due at once
//	any        open by hand                                              open, generation + 1, cooldown = base
//	half-open  another task's failure                                   half-open
//	any        results of another generation                             unchanged
//
// A success is every result except a transient failure: most 4xx prove that the endpoint works. A 429 leaves a row of
// failures as it is, because a rate limit before a backend that is down answers so, too; but it is a success of a probe.
//
// # Cooldown
//
// Most outages last seconds, so the first cooldown is short. Each further one is half as long
// again, or half of the outage so far, so that an outage costs few requests: with 10 s at first, 12 in the first
// hour, and then at most one an hour. If the endpoint fails again before its first success after the probe, the
// outage goes on, and the cooldown grows from where it was.
//
// # Failures in a row
//
// Failures in a row are the failures of the batch that stored the first one, and those of attempts
// that were admitted afterwards, without a success between them. The failures of other batches that
// were in flight meanwhile do not count: each of five slots may hold a delivery that always fails,
// while many others succeed. So with 5 configured failures, an outage of a healthy endpoint with n
// attempts in flight is found after at most n + 4 failures, or a few more, if other batches were counted before the row
// was stored: they raise the rate that the row must exceed. For an endpoint that a review found
// fragile, at most 3 count as configured; its speed class makes no difference. An endpoint without any
// success within ten minutes also opens by the number of its attempts (Settings.Minimum), but not in the ten minutes
// after an outage.
//
// A success of an attempt that was admitted before the first failure was written ends no row, as a rule: package admit
// applies it to the record that admitted it, where it changes nothing, and so writes nothing.
//
// An endpoint that fails now and then has rows of failures by chance. If p is its failure rate,
// a row of n has the probability p^n. A row opens the circuit when this is no more than the
// probability of the configured row at an endpoint without history, which counts as one that
// fails in 1 of 25 attempts. p is the rate before the row, plus these 25 attempts: of ten minutes
// or of the current minute, whichever is higher. No history requires more than 150 failures, or
// the configured number if that is higher. Circuit.Threshold is the required length; it is computed
// at the first failure.
//
//	p                     1 %  4 %  5 %  10 %  20 %  30 %  40 %  50 %  60 %  70 %  80 %  90 %
//	failures that open    5    5    6    7     10    14    18    24    32    46    73    150
//
// Without a success in the window, the configured number applies. It also applies after an outage
// until the first success after the probe's.
//
// # Strain
//
// An endpoint that answers 40 of 100 attempts is not down, but has too much to do. So the
// failure rate does not open the circuit: from Settings.Rate on, each attempt needs an in-flight slot, as at a slow
// endpoint, and the slots follow the answers (package admission). A row of
// successes that is not luck ends the strain at once. There is none within ten minutes after
// an outage or after such a row, because the window still contains the failures before it.
//
// # Late results
//
// A result counts only in the generation that admitted it. So attempts that are in flight
// during an opening, a closing or a reset change nothing afterwards, except in the counts of the window.
//
// A probe may end after its lease. If it succeeds, the endpoint answered during the outage, and
// the circuit closes. If it fails, this says nothing about the present, and the holder of the
// lease decides.
package circuit
