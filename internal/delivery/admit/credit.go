package admit

import (
	"sync"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	// creditFor is how long a credit lasts after the last answer in time. If the endpoint
	// hangs, each process with a credit forgives late attempts, so a credit must end soon after
	// the answers in time do.
	creditFor = 10 * time.Second
	// maxCredits is the number of credits from which expired ones are removed.
	maxCredits = 1000
)

// credits are the credits that fast endpoints have with this process. If the process ends they
// are lost, and a few more late attempts may count. The zero value is empty, and safe for
// concurrent use.
type credits struct {
	mu  sync.Mutex
	all map[hook.EndpointID]credit
}

type credit struct {
	admission.Credit

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
			if old.over(now) {
				delete(c.all, id)
			}
		}
	}
	old := c.all[id]
	if old.over(now) {
		old = credit{}
	}
	c.all[id] = credit{old.Earn(n), now}
}

// forgive uses up credit, and returns the number of late attempts that it does not cover.
func (c *credits) forgive(id hook.EndpointID, late int, now time.Time) (left int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	old, known := c.all[id]
	if !known || old.over(now) {
		return late
	}
	old.Credit, left = old.Forgive(late)
	c.all[id] = old
	return left
}

func (c credit) over(now time.Time) bool { return now.Sub(c.at) > creditFor }
