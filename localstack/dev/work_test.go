package dev //nolint:testpackage // one step of one worker

import (
	"log/slog"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// A failed message returns after the back-off, not after the visibility timeout.
func TestWork_ReturnsFailedMessagesWithinSeconds(t *testing.T) {
	t.Parallel()

	p := setup(t)
	sendForeign(t, p, hook.LaneLive, 1)
	p.deliver(t.Context(), hook.LaneLive)
	if at, ok := p.queue.Next(); !ok || time.Until(at) > 3*time.Second {
		t.Errorf("the failed task returns at %s, %t; want within 2 s, or 3 s when rounded up", at, ok)
	}
}

// Every lane has workers. One of slot or overflow receives one task at a time, one of coalesce the
// tasks of a window, and all others up to 10.
func TestWork_ReceivesAsDeployed(t *testing.T) {
	t.Parallel()

	for _, lane := range hook.Lanes() {
		if workersOf(lane) == 0 {
			t.Errorf("the lane %s has no workers", lane)
		}
		p := setup(t)
		sendForeign(t, p, lane, 11)
		p.deliver(t.Context(), lane)
		want := 1
		if lane == hook.LaneSlot || lane == hook.LaneOverflow {
			want = 10
		}
		if lane == hook.LaneCoalesce {
			want = 0
		}
		if left, err := p.queue.Visible(t.Context(), lane); err != nil || left != want {
			t.Errorf("one batch of the lane %s leaves %d of 11 tasks, %v; want %d", lane, left, err, want)
		}
	}
}

func setup(t *testing.T) *process {
	t.Helper()

	p, err := newProcess(Options{Log: slog.New(slog.DiscardHandler)}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sendForeign sends n tasks whose tenant is not the tenant of their event, so deliver fails.
func sendForeign(t *testing.T, p *process, lane hook.Lane, n int) {
	t.Helper()

	ctx := t.Context()
	event := hook.Event{ID: "evt_01jb2z8v9kfq6t3m5n7p9r1s2w", Tenant: "acme", Type: "order.paid", Payload: []byte(`{}`), AcceptedAt: time.Now().Truncate(time.Millisecond), ExpiresAt: time.Now().Add(time.Hour)}
	if err := p.store.PutEvent(ctx, event); err != nil {
		t.Fatal(err)
	}
	tasks := make([]hook.Task, n)
	for i := range tasks {
		id := hook.DeliveryID{Event: event.ID, Endpoint: hook.NewEndpointID(), Generation: 1}
		tasks[i] = hook.NewTask("globex", hook.DeliveryRef{DeliveryID: id, AcceptedAt: event.AcceptedAt.UnixMilli()}, 1)
	}
	if errs := p.queue.Send(ctx, lane, tasks, 0); errs != nil {
		t.Fatal(errs)
	}
}
