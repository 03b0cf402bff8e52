package deliver

import (
	"sync"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/isolation"
)

const (
	// creditFor is how long a credit lasts after the last answer in time. At an endpoint
	// that hangs, each process with a credit forgives late attempts, so the credit must
	// not outlive the answers.
	creditFor = 10 * time.Second
	// maxCredits is the number of credits from which the ended credits are removed.
	maxCredits = 1000
)

// credits are the credits of fast endpoints that this process earned. A process that ends
// loses the credits: a late attempt more may count. The zero value is empty, and safe
// for concurrent use.
type credits struct {
	mu  sync.Mutex
	all map[hook.EndpointID]credit
}

type credit struct {
	isolation.Credit

	at time.Time // of the last answer in time
}

// earn adds n answers in time.
func (c *credits) earn(id hook.EndpointID, n int, now time.Time) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.all == nil {
		c.all = make(map[hook.EndpointID]credit)
	}
	if len(c.all) >= maxCredits {
		for id, old := range c.all {
			if old.ended(now) {
				delete(c.all, id)
			}
		}
	}
	old := c.all[id]
	if old.ended(now) {
		old = credit{}
	}
	c.all[id] = credit{old.Earn(n), now}
}

// forgive returns the number of late attempts that the credit does not forgive.
func (c *credits) forgive(id hook.EndpointID, late int, now time.Time) (left int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	old, known := c.all[id]
	if !known || old.ended(now) {
		return late
	}
	old.Credit, left = old.Forgive(late)
	c.all[id] = old
	return left
}

func (c credit) ended(now time.Time) bool { return now.Sub(c.at) > creditFor }
