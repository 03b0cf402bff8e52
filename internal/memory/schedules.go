package memory

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/hook"
)

var _ deliver.Schedules = (*Schedules)(nil)

// Schedules puts tokens on the retry lane of a queue at their times. Schedules is
// safe for concurrent use.
type Schedules struct {
	queue *Queue
	now   func() time.Time

	mu    sync.Mutex
	plans *ordered[plan]  // by time
	names map[string]plan // of plans
}

// Plan is a schedule that has not fired.
type Plan struct {
	Token hook.Token
	At    time.Time
}

// plan is a Plan with its unique name.
type plan struct {
	Plan

	name string
}

// NewSchedules returns an empty set of schedules for the retry lane of q, with the
// clock now.
func NewSchedules(q *Queue, now func() time.Time) *Schedules {
	return &Schedules{
		queue: q,
		now:   now,
		plans: newOrdered(func(a, b plan) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.name, b.name)) }),
		names: make(map[string]plan),
	}
}

// At rounds the time up to a whole second. At does nothing when the attempt has a
// schedule that has not fired.
func (s *Schedules) At(_ context.Context, token hook.Token, at time.Time) error {
	at = at.UTC().Add(time.Second - 1).Truncate(time.Second)
	name := token.Delivery.String() + "_" + strconv.Itoa(token.Attempt) + "_" + strconv.Itoa(token.Delays)

	s.mu.Lock()
	defer s.mu.Unlock()

	s.forget()
	if _, ok := s.names[name]; ok {
		return nil
	}
	if err := s.queue.put(hook.LaneRetry, "", token, at); err != nil {
		return fmt.Errorf("schedule %s: %w", name, err)
	}
	p := plan{Plan{Token: token, At: at}, name}
	s.names[name] = p
	s.plans.add(p)
	return nil
}

// Plans returns the schedules that have not fired, the earliest first.
func (s *Schedules) Plans() []Plan {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.forget()
	var plans []Plan
	for p := range s.plans.all() {
		plans = append(plans, p.Plan)
	}
	return plans
}

// forget removes fired schedules.
func (s *Schedules) forget() {
	now := s.now()
	for p, ok := s.plans.first(); ok && !p.At.After(now); p, ok = s.plans.first() {
		s.plans.remove(p)
		delete(s.names, p.name)
	}
}
