package dev

import (
	"sync"
	"time"
)

// clock is the clock of a process: the real one, or during a history one that stands still until it
// is moved. The zero clock is real. A clock is safe for concurrent use.
type clock struct {
	mu sync.Mutex
	at time.Time // zero: the real time
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return time.Now()
	}
	return c.at
}

// set makes the clock stand at the time, or, for the zero time, real.
func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// reach moves a standing clock to the time, unless it is there already. It reports whether the
// clock stands.
func (c *clock) reach(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return false
	}
	if at.After(c.at) {
		c.at = at
	}
	return true
}
