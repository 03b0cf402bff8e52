// Package retry computes the delays between attempts, and when there are no more. It is pure
// arithmetic and knows no clock, queue or store. Its input is the endpoint's policy, the
// delivery, the number of the failed attempt and the requested wait. Its result is a delay, or
// the end of the retries.
//
// # Presets
//
// The delays after each failure, before jitter. "last after" is the sum of the
// delays: the time from the first attempt to the last.
//
//	             1    2    3    4    5    6    7  attempts  last after  jitter
//	standard     30s  5m   30m  2h   8h   24h      7        34h35m30s   full
//	minute       1m   5m   30m  2h   8h   24h      7        34h36m      proportional
//	exponential  30s  1m   2m   4m   8m   16m  32m 8        1h3m30s     full
//	day          30s  2m   10m  30m  1h   4h   8h  8        13h42m30s   proportional
//
// exponential is 30 s x 2^n, at most 1 h. standard is the default.
//
// An attempt that a stale connection lost counts once per delivery as if it had not been made: see
// hook.Delivery.Counted.
//
// # Jitter
//
// Jitter spreads a delay d, so that deliveries that failed together are not retried together:
// full draws from [0, d], equal from [d/2, d], proportional from [0.9 d, 1.1 d].
//
// The draw is a hash of the delivery and the attempt: uniform over deliveries, and constant for
// each attempt. So a repetition after a crash does not move an attempt, and the API can show
// the planned times.
package retry
