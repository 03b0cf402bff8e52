package world

import (
	"sync"
	"time"
)

// Start is the time at which every World begins.
func Start() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// Clock is a clock that tests move. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands at now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.now
}

// Pass moves the clock forward by d.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.now = c.now.Add(d)
}

// Until moves the clock to the time given. An earlier time changes nothing.
func (c *Clock) Until(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if at.After(c.now) {
		c.now = at
	}
}

// Earliest collects the times of pending work, and keeps the first of them.
type Earliest struct {
	At time.Time
	OK bool // false: no work is pending
}

// Consider takes the result of a queue's Next.
func (e *Earliest) Consider(at time.Time, ok bool) {
	if ok && (!e.OK || at.Before(e.At)) {
		e.At, e.OK = at, true
	}
}
