package settle_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// TestOrders_ALongWait: those behind a blocked key have no record and no task however long they wait, and come
// when the head is replayed. The sweep looks after their sequence until it is idle.
func TestOrders_ALongWait(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.refuse["1"] = true
	refs := w.post("cart", "1", "2", "3")
	w.Run()
	for range 12 {
		w.tend(refs...)
	}
	w.want("states", w.States(refs), "1 dead rejected, 2 none")
	if due, err := w.Store.DueSequences(t.Context(), w.Clock.Now().Add(hook.SweepPause), 10); err != nil || len(due) != 1 {
		t.Errorf("DueSequences() = %v, %v; want the one of the key", due, err)
	}
	delete(w.refuse, "1")
	if _, err := w.Replayer().Delivery(t.Context(), world.Tenant, refs[0].DeliveryID, replay.Request{}); err != nil {
		t.Fatal(err)
	}
	w.Run()
	w.want("received", w.received(), "[1 2 3]")
	if s := w.sequence("cart"); !s.LookAt.IsZero() {
		t.Errorf("the sequence is %+v; want no further look", s)
	}
}

// TestOrders_ALostTurn: the head ends, and its process dies before the sequence moves on, or before the task of the
// next delivery is sent. No message of the head comes again, and nobody posts. If the stream came before, those behind
// have no record, and only their sequence is looked after.
func TestOrders_ALostTurn(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct{ streamed, moved bool }{{}, {moved: true}, {streamed: true}, {streamed: true, moved: true}} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, nil)
			w.change(func(e *hook.Endpoint) { e.Status = hook.StatusPaused })
			refs := w.post("cart", "1", "2", "3")
			w.Now()
			w.change(func(e *hook.Endpoint) { e.Status = hook.StatusActive })
			begun := refs // in the records of the stream that are to come
			if tt.streamed {
				if err := w.Breaker().Record(t.Context(), begun); err != nil {
					t.Fatal(err)
				}
				begun = nil
			}
			d := w.Delivery(refs[0])
			d.State, d.Reason = hook.StateCancelled, hook.ReasonManual
			if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
				t.Fatal(err)
			}
			if tt.moved {
				s := w.sequence("cart")
				if err := w.Store.SaveSequence(t.Context(), s.Advance(&d, 1, w.Clock.Now())); err != nil {
					t.Fatal(err)
				}
			}
			w.tend(begun...)
			w.want("received", w.received(), "[2 3]")
		})
	}
}

// TestOrders_AnEmptyNumber: a number whose event was not stored holds up its key for at most 20 minutes, if nobody
// posts: the stream brings an event within ten, and the sweep comes every five.
func TestOrders_AnEmptyNumber(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	if _, _, err := w.orders().Give(t.Context(), order.ID{Endpoint: w.endpoint.ID, Key: "cart"}, w.unstored(1)); err != nil {
		t.Fatal(err)
	}
	began := w.Clock.Now()
	refs := w.post("cart", "1", "2")
	w.RunFor(10 * time.Minute)
	if err := w.Breaker().Record(t.Context(), refs); err != nil {
		t.Fatal(err)
	}
	w.RunFor(5*time.Minute + time.Second) // a sweep runs just before
	for len(w.received()) == 0 && w.Clock.Now().Before(began.Add(time.Hour)) {
		if err := w.Breaker().Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.RunFor(5 * time.Minute)
	}
	w.want("received", w.received(), "[1 2]")
	if passed := w.Posts[0].At.Sub(began); passed > 20*time.Minute {
		t.Errorf("the key waited for %s; want 20 minutes at most", passed)
	}
}

// TestOrders_RetentionEndsABlock: when the retention of a dead head is about to end, those behind it go on. One that is
// as old is dead, and none is forgotten.
func TestOrders_RetentionEndsABlock(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.refuse["1"] = true
	refs := w.post("cart", "1", "2", "3")
	w.Run()
	w.RunFor(24 * time.Hour)
	refs = append(refs, w.post("cart", "4", "5")...)
	w.tend(refs...)
	w.want("received before", w.received(), "[1]")
	w.Clock.Until(w.Delivery(refs[0]).ClosesAt().Add(-time.Second))
	w.tend(refs...)
	w.want("received after", w.received(), "[1 4 5]")
	w.want("states", w.States(refs), "2 dead expired, 1 dead rejected, 2 delivered")
}

// TestOrders_AShortRetentionEndsAWait: one that is kept for a shorter time than the head is dead before it is
// forgotten, and one that is kept for as long waits.
func TestOrders_AShortRetentionEndsAWait(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.refuse["1"] = true
	refs := w.post("cart", "1", "2")
	got, err := w.Acceptor().Accept(t.Context(), world.Tenant, ingest.Request{
		Type: "order.paid", Payload: []byte("3"), OrderingKey: "cart", RetainFor: hook.MinRetention,
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Store.Event(t.Context(), got.ID)
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := e.Ref(w.endpoint.ID, 1)
	refs = append(refs, ref)
	w.tend(refs...)
	w.want("states", w.States(refs), "1 dead rejected, 1 none, 1 queued")
	w.Clock.Until(e.ExpiresAt.Add(-time.Hour + time.Second))
	w.tend()
	w.want("states", w.States(refs), "1 dead expired, 1 dead rejected, 1 none")
}
