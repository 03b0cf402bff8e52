package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/settlement"
)

var (
	errTransit  = errors.New("the sender did not answer in time")
	errNoSender = errors.New("this deployment has no senders")
)

// timeOf returns how long an attempt takes at most.
func timeOf(e *hook.Endpoint) time.Duration {
	if e.Remote() {
		return e.Timeout + send.Transit
	}
	return e.Timeout
}

// send makes the attempt at the endpoint's origin.
//
// If the sender in the endpoint's region did not run, the endpoint received nothing, and the
// attempt is made here. With fixed addresses, or in the private network, no other origin will do,
// so send returns an error: the message goes back to the queue, and the delivery waits for the
// sender.
//
// If the response of a sender is lost, the endpoint may have received the request. The attempt
// counts as a failure, so that the delivery is not lost. The endpoint may then receive it
// twice, just as when its own response is lost.
//
// If the deployment has no AWS destinations, attempts at them fail, and their deliveries are
// parked as in any outage.
func (m *Maker) send(ctx context.Context, s *settlement.Subject, r send.Request) (hook.Outcome, error) {
	switch {
	case r.Endpoint.Destination.On() && m.AWS == nil:
		return hook.Outcome{Class: hook.ClassBlocked, URL: r.Endpoint.URL, Error: "This deployment has no destinations in AWS."}, nil
	case r.Endpoint.Destination.On():
		return m.AWS.Send(ctx, r), nil
	case !r.Endpoint.Remote():
		return m.Sender.Send(ctx, r), nil
	}
	started := m.Now()
	outcome, err := m.sendRemote(ctx, r)
	switch {
	case err == nil:
		return outcome, nil
	case !errors.Is(err, send.ErrNotSent):
		m.logSender(ctx, "sender.answer_lost", s, err, names.MetricAnswersLost)
		return lostOutcome(r.Endpoint, err, m.Now().Sub(started)), nil
	case r.Endpoint.Fixed:
		_, egress := r.Endpoint.Origin()
		return hook.Outcome{}, fmt.Errorf("send with egress %s: %w", egress, err)
	}
	m.logSender(ctx, "sender.fell_back", s, err, names.MetricFallbacks)
	if !HasTime(ctx, m.Now(), r.Endpoint.Timeout) {
		return hook.Outcome{}, ErrNoTime
	}
	return m.Sender.Send(ctx, r), nil
}

func (m *Maker) sendRemote(ctx context.Context, r send.Request) (hook.Outcome, error) {
	if m.Remote == nil {
		return hook.Outcome{}, fmt.Errorf("%w: %w", send.ErrNotSent, errNoSender)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeOf(r.Endpoint), errTransit)
	defer cancel()
	return m.Remote.Send(ctx, r)
}

// lostOutcome is the outcome of an attempt whose sender did not respond.
func lostOutcome(e *hook.Endpoint, err error, took time.Duration) hook.Outcome {
	class := hook.ClassReset
	if errors.Is(err, context.DeadlineExceeded) {
		class = hook.ClassTimeout
	}
	return hook.Outcome{
		Class: class, URL: e.URL, Region: e.Region, Duration: took,
		Error: "Surehook's sender did not report the outcome. The endpoint may have received the request.",
	}
}

// logSender logs and counts a fault of a sender.
func (m *Maker) logSender(ctx context.Context, message string, s *settlement.Subject, err error, metric string) {
	line := append(Attrs(nil, s), slog.String(names.LogRegion, s.Endpoint.Region), slog.Any(names.LogError, err))
	m.Log.LogAttrs(ctx, slog.LevelWarn, message, m.Metrics.Append(line, m.Now(), emf.Count(metric, 1).By(emf.Region(s.Endpoint.Region)))...) //nolint:sloglint // a constant of the caller
}
