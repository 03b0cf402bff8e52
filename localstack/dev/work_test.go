package dev //nolint:testpackage // one step of one worker

import (
	"log/slog"
	"testing"
	"time"

	"surehook/internal/hook"
)

// TestWork_ReturnsFailedMessagesWithinSeconds checks that a failed message returns
// after the back-off, and not after the visibility timeout.
func TestWork_ReturnsFailedMessagesWithinSeconds(t *testing.T) {
	t.Parallel()

	p, err := newProcess(Options{Log: slog.New(slog.DiscardHandler)}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	event := hook.Event{ID: "evt_01jb2z8v9kfq6t3m5n7p9r1s2w", Tenant: "acme", Type: "order.paid", Payload: []byte(`{}`), AcceptedAt: time.Now().Truncate(time.Millisecond), ExpiresAt: time.Now().Add(time.Hour)}
	if err := p.store.PutEvent(ctx, event); err != nil {
		t.Fatal(err)
	}
	// The token is of another tenant, so deliver fails.
	id := hook.DeliveryID{Event: event.ID, Endpoint: hook.NewEndpointID(), Generation: 1}
	if errs := p.queue.Send(ctx, hook.LaneLive, []hook.Token{hook.NewToken("globex", hook.DeliveryRef{DeliveryID: id, AcceptedAt: event.AcceptedAt.UnixMilli()}, 1)}, 0); errs != nil {
		t.Fatal(errs)
	}
	p.deliver(ctx, hook.LaneLive)
	if at, ok := p.queue.Next(); !ok || time.Until(at) > 3*time.Second {
		t.Errorf("the failed token returns at %s, %t; want within 2 s, rounded up", at, ok)
	}
}
