package settle_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestOrders_WhatEachThingDoes posts 1, 2 and 3 of one key, does something while 1 waits for its retry, and
// says which events arrive, in their order.
func TestOrders_WhatEachThingDoes(t *testing.T) {
	t.Parallel()

	cancel := func(n int) func(*ordered, []hook.DeliveryRef) error {
		return func(w *ordered, refs []hook.DeliveryRef) error {
			_, err := w.Replayer().Cancel(w.T.Context(), world.Tenant, refs[n].DeliveryID, "", "")
			return err
		}
	}
	erase := func(n int) func(*ordered, []hook.DeliveryRef) error {
		return func(w *ordered, refs []hook.DeliveryRef) error {
			_, err := w.Replayer().Erase(w.T.Context(), world.Tenant, refs[n].Event, "")
			return err
		}
	}
	again := func(n int) func(*ordered, []hook.DeliveryRef) error {
		return func(w *ordered, refs []hook.DeliveryRef) error {
			_, err := w.Replayer().Delivery(w.T.Context(), world.Tenant, refs[n].DeliveryID, replay.Request{Force: true})
			return err
		}
	}
	tests := []struct {
		name string
		do   func(w *ordered, refs []hook.DeliveryRef) error
		want string // arrived after the first attempt of 1
	}{
		{name: "nothing", do: func(*ordered, []hook.DeliveryRef) error { return nil }, want: "[1 2 3]"},
		{name: "cancel the head", do: cancel(0), want: "[2 3]"},
		{name: "cancel one that waits", do: cancel(1), want: "[1 3]"},
		{name: "cancel the last one", do: cancel(2), want: "[1 2]"},
		{name: "erase the head", do: erase(0), want: "[2 3]"},
		{name: "erase one that waits", do: erase(1), want: "[1 3]"},
		{name: "replay the head", do: again(0), want: "[1 2 3]"},
		{name: "replay one that waits", do: again(1), want: "[1 2 3]"},
		{name: "no order any more", do: func(w *ordered, _ []hook.DeliveryRef) error {
			w.change(func(e *hook.Endpoint) { e.Ordered = false })
			return nil
		}, want: "[1 2 3]"},
		{name: "delete the endpoint", do: func(w *ordered, _ []hook.DeliveryRef) error {
			e, err := w.Store.Endpoint(w.T.Context(), world.Tenant, w.endpoint.ID)
			if err != nil {
				return err
			}
			return w.Store.DeleteEndpoint(w.T.Context(), e)
		}, want: "[]"},
		{name: "a repeated post", do: func(w *ordered, _ []hook.DeliveryRef) error {
			w.post("a", "3", "2", "1")
			return nil
		}, want: "[1 2 3]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, nil)
			ok := w.Answer
			w.Answer = world.Status(func(send.Request) int { return 500 })
			refs := w.post("a", "1", "2", "3")
			w.Now()
			w.want("first attempt", w.received(), "[1]")
			w.Posts, w.Answer = nil, ok
			if err := tt.do(w, refs); err != nil {
				t.Fatal(err)
			}
			w.RunFor(time.Hour)
			w.want("received", w.received(), tt.want)
			w.want("idle", w.sequence("a").Idle(), true)
		})
	}
}

// TestOrders_SkipsLater changes the endpoint while a dead delivery blocks: the others come with the next event of
// the key, or with the sweep.
func TestOrders_SkipsLater(t *testing.T) {
	t.Parallel()

	for _, post := range []bool{false, true} {
		t.Run(fmt.Sprintf("post %t", post), func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, nil)
			w.refuse["1"] = true
			refs := w.post("a", "1", "2")
			w.RunFor(10 * time.Minute)
			w.change(func(e *hook.Endpoint) { e.OnFailure = hook.OnFailureSkip })
			want := "[1 2]"
			if post {
				want = "[1 2 3]"
				w.post("a", "3")
				w.Run()
			} else {
				w.tend(refs...)
			}
			w.want("received", w.received(), want)
		})
	}
}

// TestOrders_Limits posts three events of two keys to endpoints that hold attempts back.
func TestOrders_Limits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(e *hook.Endpoint)
	}{
		{name: "a rate", change: func(e *hook.Endpoint) { e.RatePerSecond = 0.01 }},
		{name: "one slot", change: func(e *hook.Endpoint) { e.MaxInFlight = 1 }},
		{name: "shards", change: func(e *hook.Endpoint) { *e = e.Sharded(8) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, tt.change)
			w.post("a", "1", "2", "3")
			w.RunFor(2 * time.Hour)
			w.want("received", w.received(), "[1 2 3]")
		})
	}
}

// TestOrders_AnOutage opens the circuit at the head: those behind wait, and their max_age does not begin.
func TestOrders_AnOutage(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) {
		e.MaxAge = 2 * time.Hour
		e.Retry = hook.RetryPolicy{Preset: "standard"}
		e.OnFailure = hook.OnFailureSkip
	})
	w.Answer = world.Status(func(send.Request) int { return 500 })
	refs := w.post("a", "1", "2", "3")
	w.RunFor(3 * time.Hour)
	first, second := w.Delivery(refs[0]), w.Delivery(refs[1])
	w.want("the first one", first.Reason, "expired")
	w.want("the age of the second one begins", second.CreatedAt, first.UpdatedAt)
}

// TestOrders_AWarning accepts a key that no endpoint orders.
func TestOrders_AWarning(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Ingest, func(e *hook.Endpoint) { e.Ordered = false })
	r, err := w.Acceptor().Accept(t.Context(), world.Tenant, ingest.Request{Type: "order.paid", Payload: []byte("1"), OrderingKey: "a"})
	if err != nil || len(r.Warnings) != 1 || r.Warnings[0].Field != "ordering_key" {
		t.Errorf("Accept() = %+v, %v; want a warning about ordering_key", r, err)
	}
	w.Run()
	w.want("received", w.received(), "[1]")
}
