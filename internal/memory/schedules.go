package memory

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

var _ settle.Schedules = (*Schedules)(nil)

// Schedules puts tasks on the retry queue at their times. Schedules is
// safe for concurrent use.
type Schedules struct {
	// Linger is the time during which the name of a fired schedule stays taken; 5
	// minutes at first. Set Linger before the first call of At.
	Linger time.Duration

	queues *TaskQueues
	now    func() time.Time

	mu    sync.Mutex
	plans ordered[*plan]   // not fired, by time
	fired ordered[*plan]   // fired less than Linger ago, by time
	names map[string]*plan // of plans and fired
}

// defaultLinger is the time of a fired schedule until its deletion. EventBridge
// Scheduler documents no bound; some minutes are usual.
const defaultLinger = 5 * time.Minute

// Plan is a schedule that has not fired.
type Plan struct {
	Task hook.Task
	At   time.Time
}

// plan is a Plan with its unique name.
type plan struct {
	Plan

	name string
}

// NewSchedules returns an empty set of schedules for the retry queue of q, with the
// clock now.
func NewSchedules(q *TaskQueues, now func() time.Time) *Schedules {
	byTime := func(a, b *plan) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.name, b.name)) }
	return &Schedules{
		Linger: defaultLinger,
		queues: q,
		now:    now,
		plans:  newOrdered(byTime),
		fired:  newOrdered(byTime),
		names:  make(map[string]*plan),
	}
}

// At rounds the time up to a whole second. At does nothing when the name is taken: as
// on AWS, a schedule keeps its name for some minutes after the schedule fired.
func (s *Schedules) At(_ context.Context, task hook.Task, at time.Time) error {
	at = at.UTC().Add(time.Second - 1).Truncate(time.Second)
	name := settle.ScheduleName(task, at)

	s.mu.Lock()
	defer s.mu.Unlock()

	s.forget()
	if _, ok := s.names[name]; ok {
		return nil
	}
	if err := s.queues.put(hook.QueueRetry, "", task, at); err != nil {
		return fmt.Errorf("schedule %s: %w", name, err)
	}
	p := &plan{Plan{Task: task, At: at}, name}
	s.names[name] = p
	s.plans.set(p)
	return nil
}

// Plans returns the schedules that have not fired, the earliest first.
func (s *Schedules) Plans() []Plan {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.forget()
	var plans []Plan
	s.plans.scan(func(p *plan) bool {
		plans = append(plans, p.Plan)
		return true
	})
	return plans
}

// forget moves fired schedules from plans to fired, and frees the names of the
// schedules fired at least Linger ago.
func (s *Schedules) forget() {
	now := s.now()
	for p, ok := s.plans.min(); ok && !p.At.After(now); p, ok = s.plans.min() {
		s.plans.delete(p)
		s.fired.set(p)
	}
	for p, ok := s.fired.min(); ok && !p.At.Add(s.Linger).After(now); p, ok = s.fired.min() {
		s.fired.delete(p)
		delete(s.names, p.name)
	}
}
