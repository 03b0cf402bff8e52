package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/internal/rule/settlement"
)

// judge judges the jobs of one endpoint: those that are due ask the gate, the others know their step.
// If several tasks of the batch are for one attempt, one of them decides, and the others fail
// and come again.
func (d *Deliverer) judge(ctx context.Context, jobs []*job, snapshot *Snapshot, now time.Time) (due, ungated []*job) {
	var taken []attemptKey
	for _, j := range jobs {
		if j.step, j.err = stepOf(j, snapshot, now); j.err != nil {
			continue
		}
		if key := attemptOf(j.Task); j.step.Decides() {
			if slices.Contains(taken, key) {
				j.err = errOtherTask
				continue
			}
			taken = append(taken, key)
		}
		switch j.step.Do {
		case settlement.Attempt:
			due = append(due, j)
			continue
		case settlement.Drop: // it may hold a slot or a share
			d.logDropped(ctx, j.Task, j.step.Reason)
		case settlement.Resume, settlement.Send, settlement.Write, settlement.Await, settlement.Join:
		}
		ungated = append(ungated, j)
	}
	return due, ungated
}

// stepOf finds the job's records and returns the next step.
func stepOf(j *job, snapshot *Snapshot, now time.Time) (settlement.Step, error) {
	found, ok, err := findSubject(j.Task, snapshot, now)
	if err != nil {
		return settlement.Step{}, fmt.Errorf("find delivery %s: %w", j.Task.Delivery, err)
	}
	if !ok {
		j.Endpoint = snapshot.Endpoints[j.Task.Delivery.Endpoint] // so that Return hands over the slot that the task may hold
		return settlement.Step{Do: settlement.Drop, Reason: "the event is gone, or no replay is recorded"}, nil
	}
	j.subject = found
	j.takeTurn(snapshot)
	return settlement.Judge(&j.subject, now), nil
}

// takeTurn finds the place of a delivery with a number, whose age counts from its turn. What a build that
// knows no order left out of the record, the event has.
func (j *job) takeTurn(snapshot *Snapshot) {
	if j.Event.Numbers[j.Delivery.ID.Endpoint] == 0 {
		return
	}
	d := j.Delivery.InOrder(*j.Event)
	j.Sequence = snapshot.Sequences[order.IDOf(d)]
	if j.Sequence.TurnOf(d) == order.Now && !d.State.Settled() {
		d = j.Sequence.Begin(d)
	}
	j.Delivery = &d
}

var errForeignTask = errors.New("the task names a delivery unknown to the event")

type subject = settlement.Subject

// findSubject returns the records for the task. ok is false if the event is gone or expired,
// if another event has its id because an idempotency key was reused, or if no record confirms
// the replay that the task names. It is an error if the task names another tenant, endpoint
// or shard than the event.
func findSubject(t hook.Task, from *Snapshot, now time.Time) (s subject, ok bool, err error) {
	event, ok := from.Events[t.Delivery.Event]
	if !ok || event.Expired(now) {
		return subject{}, false, nil
	}
	ref, target := event.Ref(t.Delivery.Endpoint, t.Delivery.Generation)
	switch {
	case event.Tenant != t.Tenant:
		return subject{}, false, errForeignTask
	case event.AcceptedAt.UnixMilli() != t.Delivery.AcceptedAt: // another event, which may have other targets
		return subject{}, false, nil
	case !target || ref != t.Delivery:
		return subject{}, false, errForeignTask
	}
	s = subject{Task: t, Event: event, Endpoint: from.Endpoints[t.Delivery.Endpoint]}
	if d, ok := from.Deliveries[t.Delivery]; ok {
		s.Delivery = d
		return s, true, nil
	}
	var previous *hook.Delivery
	if before, replay := t.Delivery.Predecessor(); replay {
		previous = from.Deliveries[before]
	}
	queued, ok := event.Unrecorded(t.Delivery, previous)
	s.Delivery = &queued
	return s, ok, nil
}
