package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/settlement"
	"surehook.example/surehook/internal/rule/shape"
)

// Maker makes attempts. All fields without a remark must be set. A Maker is safe for
// concurrent use.
type Maker struct {
	Store   Store
	Vault   Vault
	Sender  Sender
	Remote  Remote // nil: there are no other origins
	AWS     Sender // for AWS destinations; nil: the deployment has none
	Shaper  *shape.Shaper
	Metrics emf.Set
	Log     *slog.Logger
	Now     func() time.Time

	materials materials
}

// Attempt is the outcome of an attempt, and when it was made.
type Attempt struct {
	Outcome        hook.Outcome
	Started, Ended time.Time
}

// Make makes one request for the members, which is one delivery, or the deliveries to a coalescing
// endpoint, and returns the attempt of each. The task of the leader names the request. watch runs the
// request alone: to shape the event and to open secrets says nothing about the endpoint. An error means
// that no request was made and no outcome is known.
func (m *Maker) Make(ctx context.Context, members []*settlement.Subject, leader *settlement.Subject, open Opener, watch func(request func())) ([]*Attempt, error) {
	if !coalesces(leader.Endpoint) {
		made, err := m.request(ctx, leader, leader.Event, open, watch)
		return []*Attempt{made}, err
	}
	batch, content := Document(members, leader)
	made, err := m.request(ctx, leader, content, open, watch)
	if err != nil {
		return nil, err
	}
	all := make([]*Attempt, len(members))
	for i, s := range members {
		all[i] = made.of(batch, s.Task.Delivery.DeliveryID)
	}
	return all, nil
}

// request sends the content to the endpoint of the delivery.
func (m *Maker) request(ctx context.Context, s *settlement.Subject, content *hook.Event, open Opener, watch func(request func())) (*Attempt, error) {
	if !HasTime(ctx, m.Now(), timeOf(s.Endpoint)) {
		return nil, ErrNoTime
	}
	started := m.Now()
	shaped := shape.Content{Body: content.Payload, ContentType: shape.JSON} // for several events, the content is their document
	if content == s.Event {
		if s.Delivery.Number > 0 {
			content = new(*content)
			content.Ordering = s.Sequence.Ordering(*s.Delivery)
		}
		var err error
		shaped, err = m.Shaper.Shape(ctx.Done(), s.Endpoint, content)
		switch {
		case errors.Is(err, shape.ErrStopped):
			return nil, fmt.Errorf("shape: %w: %w", err, context.Cause(ctx))
		case err != nil:
			return &Attempt{Outcome: unshaped(s.Endpoint, err), Started: started, Ended: m.Now()}, nil
		}
	}
	secret, err := open()
	if err != nil {
		return nil, err
	}
	request := send.Request{
		Endpoint: s.Endpoint,
		Own:      secret.own,
		Keys:     secret.keys,
		Grant:    secret.grant,
		TLS:      secret.tls,
		Event:    content,
		Content:  shaped,
		Delivery: s.Task.Delivery.DeliveryID,
		Attempt:  s.Task.Attempt,
		Fresh:    s.Delivery.AfterStale(s.Task.Attempt),
	}
	var outcome hook.Outcome
	watch(func() { outcome, err = m.send(ctx, s, request) })
	if err != nil {
		return nil, err
	}
	outcome.Shape = versionOf(shaped)
	var note string
	if outcome.RetryAfter, note = retry.Wait(outcome.Class, outcome.RetryAfter, s.Endpoint); note != "" {
		outcome.Error = strings.TrimSpace(outcome.Error + " " + note)
	}
	return &Attempt{Outcome: outcome, Started: started, Ended: m.Now()}, nil
}

// unshaped returns the outcome for an event that the transformation cannot shape.
func unshaped(e *hook.Endpoint, err error) hook.Outcome {
	return hook.Outcome{
		Class: hook.ClassTransformation, URL: e.URL, Shape: shape.Version(e),
		Error: "The transformation cannot shape the event: " + err.Error() + ".",
	}
}

// versionOf returns the version of the shape as recorded in outcomes, where raw is empty.
func versionOf(c shape.Content) string {
	if c.Version == hook.EnvelopeRaw.String() {
		return ""
	}
	return c.Version
}
