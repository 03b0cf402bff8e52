package dev //nolint:testpackage // one step of one worker

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
)

// A failed message returns after the back-off, not after the visibility timeout.
func TestWork_ReturnsFailedMessagesWithinSeconds(t *testing.T) {
	t.Parallel()

	p := setup(t)
	sendForeign(t, p, hook.QueueLive, 1)
	p.deliver(t.Context(), hook.QueueLive)
	if at, ok := p.queue.Next(); !ok || time.Until(at) > 3*time.Second {
		t.Errorf("the failed task returns at %s, %t; want within 2 s, or 3 s when rounded up", at, ok)
	}
}

// Every queue has workers. One of slot or overflow receives one task at a time, one of coalesce the
// tasks of a window, and all others up to 10.
func TestWork_ReceivesAsDeployed(t *testing.T) {
	t.Parallel()

	for _, queue := range hook.Queues() {
		if workersOf(queue) == 0 {
			t.Errorf("the queue %s has no workers", queue)
		}
		p := setup(t)
		sendForeign(t, p, queue, 11)
		p.deliver(t.Context(), queue)
		want := 1
		if queue == hook.QueueSlot || queue == hook.QueueOverflow {
			want = 10
		}
		if queue == hook.QueueCoalesce {
			want = 0
		}
		if left, err := p.queue.Visible(t.Context(), queue); err != nil || left != want {
			t.Errorf("one batch of the queue %s leaves %d of 11 tasks, %v; want %d", queue, left, err, want)
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
func sendForeign(t *testing.T, p *process, queue hook.Queue, n int) {
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
	if errs := p.queue.Send(ctx, queue, tasks, 0); errs != nil {
		t.Fatal(errs)
	}
}

// Each minute the process forgets the oldest events with their deliveries and attempts; what was
// posted in the same second as the oldest that it keeps stays, too.
func TestTick_forgetsTheOldest(t *testing.T) {
	t.Parallel()

	p := setup(t)
	p.keep = 3
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	url := receiver.URL
	e, _, err := p.admin.Endpoints.Create(t.Context(), "acme", endpoint.Fields{URL: &url}, "")
	if err != nil {
		t.Fatal(err)
	}
	var posted []hook.EventID
	for _, second := range []int{0, 1, 2, 2, 3, 4} {
		p.clock.set(e.CreatedAt.Truncate(time.Second).Add(time.Duration(second+1) * time.Second))
		result, err := p.acceptor.Accept(t.Context(), "acme", ingest.Request{Type: "order.paid", Payload: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		for _, queue := range hook.Queues() { // in this order it moves on
			p.process(t.Context(), queue, p.queue.Receive(queue, 1))
		}
		posted = append(posted, result.ID)
	}
	before := len(p.store.Remains("acme"))
	p.forget(t.Context())
	var left []hook.EventID
	for _, id := range posted {
		if _, err := p.store.Event(t.Context(), id); err == nil {
			left = append(left, id)
		}
	}
	if !slices.Equal(left, posted[2:]) {
		t.Errorf("of the events %v the process keeps %v; want the last four", posted, left)
	}
	if after := len(p.store.Remains("acme")); before-after != 2*2 {
		t.Errorf("%d items of %d stay; want two events and their deliveries gone, and all else there", after, before)
	}
	p.forget(t.Context())
	if _, err := p.store.EndpointByID(t.Context(), e.ID); err != nil {
		t.Errorf("the endpoint: %v", err)
	}
}
