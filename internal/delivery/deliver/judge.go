package deliver

import (
	"errors"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/retry"
)

// step is what a token asks for, seen against what is stored.
type step uint8

const (
	stepDrop    step = iota + 1 // stale: nothing is left to do
	stepResume                  // its own decision is recorded: go on from (b)
	stepDefer                   // it came before its time
	stepExpire                  // the delivery is older than max_age
	stepAttempt                 // due
)

// earlyTolerance is how far before its time a token may be worked on: the
// clocks of two machines differ.
const earlyTolerance = time.Second

var (
	errForeignToken = errors.New("the token names a delivery that its event does not have")
	errNoTime       = errors.New("too little time is left in this invocation")
)

// subject is all that one token is about. endpoint is nil when it was deleted.
type subject struct {
	token    hook.Token
	event    hook.Event
	endpoint *hook.Endpoint
	delivery hook.Delivery
}

// judgeToken says what to do with a token. Reason is for the log.
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
	case t.Attempt > d.Attempts+1:
		return stepDrop, "attempt before it is not recorded"
	case d.State == hook.StateRetrying && now.Before(d.NextAttemptAt.Add(-earlyTolerance)):
		return stepDefer, "before its time"
	case s.endpoint != nil && retry.Expired(d.CreatedAt, now, s.endpoint.MaxAge):
		return stepExpire, "older than max_age"
	}
	return stepAttempt, ""
}

// findSubject puts together what the token is about. ok is false when its event is
// there no more, or the record that says that it was replayed.
func findSubject(t hook.Token, from Snapshot) (s subject, ok bool, err error) {
	event, ok := from.Events[t.Delivery.Event]
	if !ok {
		return subject{}, false, nil
	}
	if event.Tenant != t.Tenant || !event.Has(t.Delivery.Endpoint) {
		return subject{}, false, errForeignToken
	}
	s = subject{token: t, event: event}
	if endpoint, ok := from.Endpoints[t.Delivery.Endpoint]; ok {
		s.endpoint = &endpoint
	}
	s.delivery, ok = from.Deliveries[t.Delivery]
	if ok {
		return s, true, nil
	}
	before, replay := t.Delivery.Predecessor()
	if !replay {
		s.delivery = hook.QueuedDelivery(event, t.Delivery.Endpoint)
		return s, true, nil
	}
	replayed, ok := from.Deliveries[before]
	s.delivery = hook.QueuedReplay(event, replayed)
	return s, ok && replayed.Replayed.Generation == t.Delivery.Generation, nil
}
