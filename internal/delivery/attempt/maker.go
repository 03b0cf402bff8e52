package attempt

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"surehook/internal/delivery/send"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/settlement"
	"surehook/internal/rule/trace"
)

// settleReserve is the part of the invocation's time kept for settling after the
// attempt.
const settleReserve = 5 * time.Second

// ErrNoTime fails a message whose attempt would outlast the invocation: another invocation
// makes it.
var ErrNoTime = errors.New("too little time is left in this invocation")

// HasTime reports whether the invocation has the time for an attempt and the settling.
func HasTime(ctx context.Context, now time.Time, attempt time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || deadline.Sub(now) >= attempt+settleReserve
}

// Maker makes attempts. All fields without a remark must be set. A Maker is safe for
// concurrent use.
type Maker struct {
	Store   Store
	Vault   Vault
	Sender  Sender
	Remote  Remote // nil: all attempts are made here
	Metrics emf.Set
	Log     *slog.Logger
	Now     func() time.Time

	materials materials
}

// Attempt is a request that was made.
type Attempt struct {
	Outcome        hook.Outcome
	Started, Ended time.Time
}

// Make sends the content to the endpoint of the delivery. An error means that no request
// was made.
func (m *Maker) Make(ctx context.Context, s *settlement.Subject, content *hook.Event, open Opener) (*Attempt, error) {
	if !HasTime(ctx, m.Now(), timeOf(s.Endpoint)) {
		return nil, ErrNoTime
	}
	started := m.Now()
	secret, err := open()
	if err != nil {
		return nil, err
	}
	outcome, err := m.send(ctx, s, send.Request{
		Endpoint: s.Endpoint,
		Own:      secret.own,
		Keys:     secret.keys,
		Grant:    secret.grant,
		TLS:      secret.tls,
		Event:    content,
		Delivery: s.Token.Delivery.DeliveryID,
		Attempt:  s.Token.Attempt,
	})
	if err != nil {
		return nil, err
	}
	return &Attempt{Outcome: outcome, Started: started, Ended: m.Now()}, nil
}

// Attrs appends what every log line about the subject names.
func Attrs(attrs []slog.Attr, s *settlement.Subject) []slog.Attr {
	attrs = append(attrs,
		slog.String(names.LogTenant, string(s.Token.Tenant)),
		slog.String(names.LogEvent, string(s.Token.Delivery.Event)),
		slog.String(names.LogEventType, s.Event.Type),
		slog.String(names.LogEndpoint, string(s.Token.Delivery.Endpoint)),
		slog.String(names.LogDelivery, s.Token.Delivery.String()),
		slog.Int(names.LogAttempt, s.Token.Attempt),
	)
	if t, given := trace.Parse(s.Event.TraceParent); given {
		attrs = append(attrs, slog.String(names.LogTrace, t.String()))
	}
	return attrs
}
