package settle

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/rule/settlement"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/internal/store"
)

// maxPersistAttempts limits the tries of writing the decision after an attempt. If the decision
// is not written, the next task repeats the request. So the tries go on through conflicts and
// throttling, for 1.8 s on average and 3.5 s at most: callers must reserve that time.
const maxPersistAttempts = 16

// Settler settles deliveries by the decisions of their tasks. All fields but Wait must be set.
// With an empty environment in Metrics, no metrics are written.
type Settler struct {
	Completion

	Schedules Schedules
	Metrics   emf.Set
}

// Written says what was written:
//
//	Own, Made       this process wrote the decision, perhaps in a write whose answer was lost
//	Own, not Made   a copy of the task wrote it
//	neither         another decision stands: Record shows it
type Written struct {
	Record *hook.Delivery // with this decision, or with the other decision that stands
	Own    bool
	Made   bool
}

// Write writes the decision (a) and follows up (b), in the order of the plan. After a conflict it repeats both with the
// newest record. A plan to follow up first never becomes an ordinary one that writes first, which would send a retry
// after the work of an end: it stays, replaces a death, finds its own write, or stands back, because attempts, parks
// and settled states do not go back. If another decision stands, it does nothing. Even with an error, Written says what
// was done; the queue then brings the task back.
func (s *Settler) Write(ctx context.Context, about *settlement.Subject, decision settlement.Decision) (Written, error) {
	repeat, tries := store.Repeat, store.Tries
	if decision.HasAttempt() {
		repeat, tries = store.Persist, maxPersistAttempts
	}
	var (
		plan     = decision.On(about, about.Delivery)
		saved    bool
		followed bool      // before the write
		fault    error     // of that follow-up
		undone   time.Time // when the delivery died, if the decision replaces the death
	)
	err := repeat(ctx, s.Wait, tries, func() error {
		switch plan.Course {
		case settlement.FollowOnly, settlement.Stand:
			return nil
		case settlement.FollowFirst:
			if fault = s.Complete(ctx, *plan.Record); fault != nil {
				return nil //nolint:nilerr // returned below: a conflict in the follow-up must not repeat this write
			}
			followed = true
		case settlement.WriteFirst:
			followed, undone = false, plan.Undone
		}
		newest, err := s.save(ctx, plan)
		switch {
		case err == nil:
			saved = true
		case newest != nil:
			plan = decision.On(about, newest)
		}
		return err
	})
	done := Written{Record: plan.Record, Own: saved || plan.Course == settlement.FollowOnly, Made: saved || plan.Made}
	if done.Made && !decision.HasAttempt() && done.Record.State == hook.StateDead {
		s.countDead(ctx, about, 1, s.Now()) // the gate counts the deaths after attempts
	}
	if err = cmp.Or(err, fault); err != nil {
		return done, store.Busy(err, "delivery "+about.Task.Delivery.String())
	}
	if done.Made && !undone.IsZero() {
		s.countDead(ctx, about, -1, undone) // the success counts instead
	}
	switch {
	case !done.Own:
		return done, nil
	case !followed:
		return done, s.FollowUp(ctx, about, done.Record)
	}
	return done, s.orders().Ended(ctx, *done.Record)
}

// save writes the plan's record. After a conflict it returns the newest record with the error.
func (s *Settler) save(ctx context.Context, plan settlement.Plan) (newest *hook.Delivery, err error) {
	err = s.Store.SaveDelivery(ctx, *plan.Record, plan.Attempt)
	if err == nil {
		return nil, nil //nolint:nilnil // no conflict
	}
	err = fmt.Errorf("save delivery %s: %w", plan.Record.ID, err)
	if hook.CodeOf(err) != hook.CodeConflict {
		return nil, err
	}
	current, readErr := s.Store.Delivery(ctx, plan.Record.Ref())
	if readErr != nil {
		return nil, fmt.Errorf("read delivery %s: %w", plan.Record.ID, readErr)
	}
	return &current, err
}

// FollowUp does the work that follows from the recorded decision (b): it sends the next task, or ends the
// delivery; nothing for a parked one, which the breaker or a hand-over sends. Repeating it is harmless: a second task finds the
// attempt recorded, or, if both come at the same time, the endpoint gets the attempt twice, as after any crash.
func (s *Settler) FollowUp(ctx context.Context, about *settlement.Subject, recorded *hook.Delivery) error {
	if recorded.State == hook.StateRetrying {
		return s.Send(ctx, settlement.NextSending(recorded, about.Endpoint))
	}
	return s.End(ctx, *recorded)
}

// AwaitTurn looks after an ordered delivery whose turn has not come.
func (s *Settler) AwaitTurn(ctx context.Context, d *hook.Delivery) error {
	return s.orders().Tend(ctx, d.Tenant, order.IDOf(*d))
}

// Join gives an ordered delivery whose turn is over another place.
func (s *Settler) Join(ctx context.Context, d *hook.Delivery) error { return s.orders().Join(ctx, *d) }

func (s *Settler) countDead(ctx context.Context, about *settlement.Subject, n int, at time.Time) {
	s.CountDead(ctx, about.Task.Tenant, about.Task.Delivery.Endpoint, stats.Deaths(about.Event.Type, n), at)
}
