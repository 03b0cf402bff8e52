package memory

import (
	"math"
	"time"
)

// The rules of fair queues of SQS. AWS does not state the period of "recent".
const (
	manyInFlight = 30              // messages of a noisy group, unless its messages take long
	noisyShare   = 0.1             // of the messages in flight, or of the recent processing time
	recentPeriod = time.Minute     // processing time of this age counts 1/e
	quietAfter   = 5 * time.Minute // without a message sent
)

// load is the messages in flight and the recent processing time, of a group or of a
// queue. The processing time of a message is the time in flight.
type load struct {
	inFlight int
	recent   time.Duration // at the time at
	at       time.Time
}

// recentAt returns the recent processing time: the integral of the messages in flight,
// weighted by age.
func (l load) recentAt(now time.Time) time.Duration {
	kept := math.Exp(-float64(now.Sub(l.at)) / float64(recentPeriod))
	return time.Duration(kept*float64(l.recent) + (1-kept)*float64(l.inFlight)*float64(recentPeriod))
}

// add returns the load with n messages more in flight, from now on.
func (l load) add(n int, now time.Time) load {
	return load{inFlight: l.inFlight + n, recent: l.recentAt(now), at: now}
}

// exceeds reports whether the load is more than the noisy share of all.
func (l load) exceeds(all load, now time.Time) bool {
	return l.inFlight >= manyInFlight && float64(l.inFlight) > noisyShare*float64(all.inFlight) ||
		float64(l.recentAt(now)) > noisyShare*float64(all.recentAt(now))
}

// chooseFairly returns the next message to receive: the first of the quiet groups, or of
// the noisy group with the fewest messages in flight; ok is false without visible
// messages.
func (q *standardQueue[T]) chooseFairly(now time.Time) (e *entry[T], ok bool) {
	var least *group[T]
	q.heads.scan(func(g *group[T]) bool {
		if !q.isNoisy(g, now) {
			least = g
			return false
		}
		if least == nil || g.load.inFlight < least.load.inFlight {
			least = g
		}
		return true
	})
	if least == nil {
		return nil, false
	}
	return least.head, true
}

// isNoisy reports whether the fair queue delays the group. A noisy group stays noisy
// until its last message is received, or until no message is sent for quietAfter.
func (q *standardQueue[T]) isNoisy(g *group[T], now time.Time) bool {
	g.noisy = g.id != "" && now.Sub(g.sentAt) < quietAfter && (g.noisy || g.load.exceeds(q.load, now))
	return g.noisy
}
