package deliver

import (
	"context"
	"errors"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// step is the next action for a token, according to the records.
type step uint8

const (
	stepDrop    step = iota + 1 // nothing is left to do
	stepResume                  // the token's own decision is recorded: resume at (b)
	stepDefer                   // the token came too early
	stepExpire                  // the delivery is older than max_age
	stepErase                   // the payload was erased
	stepAttempt                 // the delivery is due
)

// earlyTolerance is the accepted difference between the clocks of two machines: a
// token is due from this long before the planned time.
const earlyTolerance = time.Second

var errForeignToken = errors.New("the token names a delivery unknown to the event")

// subject is a token with the records of the delivery.
type subject struct {
	token    hook.Token
	event    *hook.Event
	endpoint *hook.Endpoint // nil: deleted
	delivery *hook.Delivery // nil before judgeJob, and for a token without records; nobody changes the record
}

// judgeToken returns the next step for the token, and the reason for the log.
//
// A token with its own nonce in the record has decided: the attempt is recorded, or
// the delivery is settled. The token resumes at (b).
//
// A token older than the last park of the record is dropped, unless its attempt is
// recorded. The message of the token may be deleted: a copy of the token may have
// parked the delivery. An attempt would be the last effect of the token: after a
// death between (a) and (b) no message returns with this nonce, and other tokens find
// the attempt recorded. The drop loses nothing. While the delivery is parked, the
// breaker sends another token. A release sends its token before it ends the park.
// All other writes leave Parks as the token knows it.
func judgeToken(s *subject, now time.Time) (st step, reason string) {
	t, d := s.token, s.delivery
	own := d.Token == t.Nonce
	switch {
	case t.Attempt == d.Attempts && own,
		d.State.Settled() && own: // expired or cancelled: decided without an attempt
		return stepResume, "own decision is recorded"
	case t.Attempt <= d.Attempts:
		return stepDrop, "attempt is recorded already"
	case d.State.Settled():
		return stepDrop, "delivery is " + d.State.String()
	case t.Parks < d.Parks:
		return stepDrop, "the delivery was parked after the token was made"
	case t.Attempt > d.Attempts+1:
		return stepDrop, "the attempt before is not recorded"
	case s.event.Erased():
		return stepErase, "the payload was erased"
	case d.State == hook.StateRetrying && now.Before(d.NextAttemptAt.Add(-earlyTolerance)):
		return stepDefer, "too early"
	case s.endpoint != nil && retry.Expired(*d, now, s.endpoint.MaxAge):
		return stepExpire, "older than max_age"
	}
	return stepAttempt, ""
}

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
	s = subject{token: t, event: event, endpoint: from.Endpoints[t.Delivery.Endpoint]}
	if d, ok := from.Deliveries[t.Delivery]; ok {
		s.delivery = d
		return s, true, nil
	}
	before, replay := t.Delivery.Predecessor()
	if !replay {
		s.delivery = new(hook.QueuedDelivery(*event, hook.Target{Endpoint: t.Delivery.Endpoint}).At(ref))
		return s, true, nil
	}
	replayed, ok := from.Deliveries[before]
	if !ok {
		return s, false, nil
	}
	s.delivery = new(hook.QueuedReplay(*event, *replayed))
	return s, replayed.Replayed.Generation == t.Delivery.Generation, nil
}

// applyStep acts on a judgement without a question to the gate.
func (d *Deliverer) applyStep(ctx context.Context, s *subject, st step, now time.Time) (gate.Result, error) {
	switch st {
	case stepResume:
		return gate.Result{}, d.followUp(ctx, s, s.delivery)
	case stepDefer:
		return gate.Result{}, d.requeue(ctx, s)
	case stepExpire:
		return d.settleUnattempted(ctx, s, settleAs(s, hook.StateDead, hook.ReasonExpired, now))
	case stepErase:
		return d.settleUnattempted(ctx, s, eraseAs(s, now))
	case stepDrop, stepAttempt:
	}
	return gate.Result{}, nil
}
