package memory

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"surehook/internal/deliver"
	"surehook/internal/hook"
)

var _ deliver.Schedules = (*Schedules)(nil)

// Schedules are tokens that come to the retry lane of a queue at their time.
// They are safe for concurrent use.
type Schedules struct {
	queue *Queue
	now   func() time.Time

	mu    sync.Mutex
	plans map[string]Plan // by delivery and attempt; those that fired go when they are next looked at
}

// Plan is a token and the time at which it comes to the retry lane.
type Plan struct {
	Token hook.Token
	At    time.Time
}

// NewSchedules returns schedules, none yet, that fire into q and live by now.
func NewSchedules(q *Queue, now func() time.Time) *Schedules {
	return &Schedules{queue: q, now: now, plans: make(map[string]Plan)}
}

// At puts the token on the retry lane at the time given, rounded up to a whole
// second, unless the attempt has a schedule that has not fired yet.
func (s *Schedules) At(_ context.Context, token hook.Token, at time.Time) error {
	at = at.UTC().Add(time.Second - 1).Truncate(time.Second)
	name := token.Delivery.String() + "_" + strconv.Itoa(token.Attempt) + "_" + strconv.Itoa(token.Delays)

	s.mu.Lock()
	defer s.mu.Unlock()

	if plan, ok := s.plans[name]; ok && s.now().Before(plan.At) {
		return nil
	}
	s.plans[name] = Plan{Token: token, At: at}
	s.queue.put(hook.LaneRetry, "", token, at)
	return nil
}

// Plans returns the schedules that have not fired yet, the earliest first.
func (s *Schedules) Plans() []Plan {
	s.mu.Lock()
	defer s.mu.Unlock()

	now := s.now()
	var plans []Plan
	for name, plan := range s.plans {
		if !now.Before(plan.At) {
			delete(s.plans, name)
			continue
		}
		plans = append(plans, plan)
	}
	slices.SortFunc(plans, func(a, b Plan) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Token.Nonce, b.Token.Nonce))
	})
	return plans
}
