// Package retry decides when a failed attempt is made again, and when a
// delivery has had its chances.
//
// It is arithmetic only: it knows no clock, no queue and no store. It takes an
// endpoint's policy, the delivery, the number of the attempt that failed and
// the wait the endpoint asked for, and gives back a delay or the news that
// there is no next attempt.
//
// The presets, as delays after each failure before jitter, and the time from
// the first attempt to the last that they add up to:
//
//	             1    2    3    4    5    6    7  attempts  last after  jitter
//	standard     30s  5m   30m  2h   8h   24h      7        34h35m30s   full
//	minute       1m   5m   30m  2h   8h   24h      7        34h36m      proportional
//	exponential  30s  1m   2m   4m   8m   16m  32m 8        1h3m30s     full
//	day          30s  2m   10m  30m  1h   4h   8h  8        13h42m30s   proportional
//
// exponential is 30 s x 2^n, at most 1 h. standard is the default.
//
// Jitter spreads a delay d so that deliveries that failed together do not
// return together: full draws from [0, d], equal from [d/2, d], proportional
// from [0.9 d, 1.1 d]. The draw is a hash of the delivery and the attempt, so it
// is uniform over deliveries and always the same for one: a crash between two
// steps cannot move an attempt, and the planned times can be shown beforehand.
package retry
