package deliver

import (
	"context"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/settlement"
)

// take takes the step of one job.
func (d *Deliverer) take(ctx context.Context, j *job, open attempt.Opener) (r gate.Result, err error) {
	s := &j.subject
	switch j.step.Do {
	case settlement.Drop:
	case settlement.Resume:
		return r, d.Settler.FollowUp(ctx, s, s.Delivery)
	case settlement.Send:
		return r, d.Settler.Send(ctx, *j.step.Sending)
	case settlement.Settle:
		return d.settleUnattempted(ctx, s, j.step.Decision)
	case settlement.Attempt:
		return d.makeAttempt(ctx, s, open)
	}
	return r, nil
}

// makeAttempt makes the attempt and settles the outcome.
func (d *Deliverer) makeAttempt(ctx context.Context, s *subject, open attempt.Opener) (gate.Result, error) {
	made, err := d.Attempts.Make(ctx, s, s.Event, open)
	if err != nil {
		return gate.Result{}, err
	}
	return d.settleAttempt(ctx, s, made)
}

// settleAttempt settles the delivery after the request.
func (d *Deliverer) settleAttempt(ctx context.Context, s *subject, a *attempt.Attempt) (gate.Result, error) {
	written, err := d.Settler.Settle(ctx, s, settlement.Attempted(&a.Outcome, a.Started, a.Ended))
	d.logAttempted(ctx, s, &a.Outcome, written.Record, a.Ended)
	return resultOf(s, &a.Outcome, written, a.Ended), err
}

// settleUnattempted settles a delivery without an attempt.
func (d *Deliverer) settleUnattempted(ctx context.Context, s *subject, decision settlement.Decision) (gate.Result, error) {
	written, err := d.Settler.Settle(ctx, s, decision)
	if written.Own {
		s.Delivery = written.Record
	}
	d.logDecided(ctx, s, written.Record)
	return resultOf(s, new(hook.Outcome), written, d.Now()), err
}
