package world

import (
	"errors"
	"sync"
	"testing"
)

// ErrDead is the error of each effect of a dead process.
var ErrDead = errors.New("the process is dead")

// Crash counts the effects of the function under test, and ends the function
// before or after one of them. The zero Crash never ends it. It is safe for
// concurrent use: the records of a batch make effects concurrently.
type Crash struct {
	mu      sync.Mutex
	effects int
	deaths  int
	at      int // the fatal effect, counted like effects; 0: none
	after   bool
	again   bool // the next process dies at its first effect
	dead    bool
}

// Arm lets the process die before, or after, its n-th effect from now on. Arm(0) disarms.
func (c *Crash) Arm(n int, after bool) { c.arm(n, after, false) }

// ArmTwice is Arm, and the next process dies at its first effect.
func (c *Crash) ArmTwice(n int, after bool) { c.arm(n, after, true) }

// Disarm lets the process live.
func (c *Crash) Disarm() { c.arm(0, false, false) }

// Armed reports whether a death is still to come.
func (c *Crash) Armed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.at != 0
}

// Effects returns the number of effects since the world began, or since Reset.
func (c *Crash) Effects() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.effects
}

// Deaths returns how often a process died.
func (c *Crash) Deaths() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.deaths
}

// Reset counts effects from zero, and disarms.
func (c *Crash) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.effects, c.at, c.again = 0, 0, false
}

// Restart replaces a dead process by a new one, and reports whether there was a
// dead process. The new process lives, except after ArmTwice.
func (c *Crash) Restart() (died bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	died = c.dead
	if died && c.again {
		c.at, c.again = c.effects+1, false
	}
	c.dead = false
	return died
}

func (c *Crash) arm(n int, after, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.at, c.after, c.again = 0, after, again
	if n > 0 {
		c.at = c.effects + n
	}
}

// Stride is the distance between the places of a disturbance in tables of crashes: 1, or a
// few places with -short, for `make test` and the race detector.
func Stride() int {
	if testing.Short() {
		return 13
	}
	return 1
}

// do makes the effect, unless the process is dead or dies before the effect.
func (c *Crash) do(effect func() error) error {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return ErrDead
	}
	c.effects++
	fatal := c.effects == c.at
	if fatal {
		c.dead, c.at = true, 0
		c.deaths++
	}
	after := c.after
	c.mu.Unlock()
	if fatal && !after {
		return ErrDead
	}
	if err := effect(); err != nil || !fatal {
		return err
	}
	return ErrDead
}
