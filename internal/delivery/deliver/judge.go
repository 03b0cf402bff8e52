package deliver

import (
	"context"
	"errors"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/settlement"
)

var errForeignToken = errors.New("the token names a delivery unknown to the event")

type subject = settlement.Subject

// findSubject returns the records for the token. ok is false when the event is
// gone or expired, when another event took its id with a reused idempotency key, and when no
// record confirms the replay named by the token. A token of another tenant, endpoint
// or shard than the event's is an error.
func findSubject(t hook.Token, from *Snapshot, now time.Time) (s subject, ok bool, err error) {
	event, ok := from.Events[t.Delivery.Event]
	if !ok || event.Expired(now) {
		return subject{}, false, nil
	}
	ref, target := event.Ref(t.Delivery.Endpoint, t.Delivery.Generation)
	switch {
	case event.Tenant != t.Tenant:
		return subject{}, false, errForeignToken
	case event.AcceptedAt.UnixMilli() != t.Delivery.AcceptedAt: // the events may have other targets
		return subject{}, false, nil
	case !target || ref != t.Delivery:
		return subject{}, false, errForeignToken
	}
	s = subject{Token: t, Event: event, Endpoint: from.Endpoints[t.Delivery.Endpoint]}
	if d, ok := from.Deliveries[t.Delivery]; ok {
		s.Delivery = d
		return s, true, nil
	}
	before, replay := t.Delivery.Predecessor()
	if !replay {
		s.Delivery = new(hook.QueuedDelivery(*event, hook.Target{Endpoint: t.Delivery.Endpoint}).At(ref))
		return s, true, nil
	}
	replayed, ok := from.Deliveries[before]
	if !ok {
		return s, false, nil
	}
	s.Delivery = new(hook.QueuedReplay(*event, *replayed))
	return s, replayed.Replayed.Generation == t.Delivery.Generation, nil
}

// applyStep acts on a judgement without a question to the gate.
func (d *Deliverer) applyStep(ctx context.Context, s *subject, st settlement.Step, now time.Time) (gate.Result, error) {
	switch st {
	case settlement.Resume:
		return gate.Result{}, d.followUp(ctx, s, s.Delivery)
	case settlement.Defer:
		return gate.Result{}, d.sendToken(ctx, settlement.Wait(s))
	case settlement.Expire:
		return d.settleUnattempted(ctx, s, settlement.Expired(now))
	case settlement.Erase:
		return d.settleUnattempted(ctx, s, settlement.Erased(now))
	case settlement.Drop, settlement.Attempt:
	}
	return gate.Result{}, nil
}
