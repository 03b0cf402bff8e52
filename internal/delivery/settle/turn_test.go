package settle_test

import (
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// TestOrders_EndOfAReplayedDelivery: a dead head blocks, its replay dies, and that discards the head. When
// the message of the head comes once more, its replay still blocks.
func TestOrders_EndOfAReplayedDelivery(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.refuse["1"] = true
	refs := w.post("cart", "1", "2")
	w.Now()
	if _, err := w.Replayer().Delivery(w.Context(), world.Tenant, refs[0].DeliveryID, replay.Request{}); err != nil {
		t.Fatal(err)
	}
	w.Now()
	d, err := w.Store.Delivery(t.Context(), refs[0])
	if err != nil || d.State != hook.StateDiscarded || d.Replayed.Generation != 2 {
		t.Fatalf("the head is %s, replayed by %+v (%v); want discarded by its replay", d.State, d.Replayed, err)
	}
	o := settle.Orders{Store: w.Store, Queue: w.Queue, Now: w.Clock.Now, Wait: world.NoWait}
	if err := o.Ended(w.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.Now()
	w.want("received", w.received(), "[1]")
	w.want("head", w.sequence("cart").Head, 1)
}

// TestOrders_Pause: the head waits for the end of a pause or of a disabling, and the others behind it.
func TestOrders_Pause(t *testing.T) {
	t.Parallel()

	for _, status := range []hook.Status{hook.StatusPaused, hook.StatusDisabled} {
		t.Run(status.String(), func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, nil)
			w.change(func(e *hook.Endpoint) { e.Status = status })
			w.post("cart", "1", "2", "3")
			w.Now()
			w.want("received before", w.received(), "[]")
			w.change(func(e *hook.Endpoint) { e.Status = hook.StatusActive })
			check := hook.CircuitCheck{Tenant: world.Tenant, Endpoint: w.endpoint.ID, Wave: 1}
			if err := w.CircuitQueue.Enqueue(w.Context(), check, 0); err != nil {
				t.Fatal(err)
			}
			w.RunFor(time.Hour)
			w.want("received after", w.received(), "[1 2 3]")
		})
	}
}

// TestOrders_OnlyWhatItGets: an event that the filter or the types of an endpoint refuse takes no number there.
func TestOrders_OnlyWhatItGets(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(e *hook.Endpoint){
		"filter": func(e *hook.Endpoint) { e.Filter = []byte(`{"payload":{"n":[1]}}`) },
		"types":  func(e *hook.Endpoint) { e.EventTypes = []string{"order.sent"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, change)
			for i, r := range []ingest.Request{
				{Type: "order.sent", Payload: []byte(`{"n":1}`)},
				{Type: "order.paid", Payload: []byte(`{"n":2}`)},
				{Type: "order.sent", Payload: []byte(`{"n":1,"last":true}`)},
			} {
				r.OrderingKey = "cart"
				if _, err := w.Acceptor().Accept(w.Context(), world.Tenant, r); err != nil {
					t.Fatalf("event %d: %v", i, err)
				}
			}
			w.Now()
			w.want("received", w.received(), `[{"n":1} {"n":1,"last":true}]`)
			w.want("last number", w.sequence("cart").Last, 2)
		})
	}
}

// TestOrders_MadeAnew: an endpoint that takes the place of a deleted one begins at 1.
func TestOrders_MadeAnew(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.post("cart", "1", "2")
	w.Now()
	e, err := w.Store.Endpoint(t.Context(), world.Tenant, w.endpoint.ID)
	if err == nil {
		err = w.Store.DeleteEndpoint(t.Context(), e)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.endpoint = w.Endpoint(func(e *hook.Endpoint) { e.Ordered = true })
	w.post("cart", "3")
	w.Now()
	w.want("received", w.received(), "[1 2 3]")
	w.want("last number", w.sequence("cart").Last, 1)
}

// TestOrders_NoCoalescing: a request of coalesced events has events of several keys.
func TestOrders_NoCoalescing(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	e := w.endpoint
	w.want("alone", hook.ValidateEndpoint(e), "[]")
	e.Coalesce = hook.Coalescing{Window: time.Second}.WithDefaults()
	w.want("errors", hook.ValidateEndpoint(e)[0].Field, "ordered")
}

// TestOrders_BlocksUntilItsRetentionEnds: a dead head blocks, and blocks no more when its retention ended,
// although the table still has it.
func TestOrders_BlocksUntilItsRetentionEnds(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.refuse["1"] = true
	first := w.post("cart", "1")[0]
	w.Now()
	w.Clock.Until(w.Clock.Now().Add(world.Retention - 2*time.Hour))
	second := w.post("cart", "2")
	w.Now()
	w.want("before", w.received(), "[1]")
	w.tend(second...)
	w.want("after", w.received(), "[1 2]")
	w.want("the first one", w.Delivery(first).State, "dead")
}

// TestOrders_ANumberInVain: two posts of one event at the same time each take a number. The number of the post that
// comes too late is void at once.
func TestOrders_ANumberInVain(t *testing.T) {
	t.Parallel()

	for _, head := range []bool{true, false} {
		w := newOrdered(t, world.Deliver, nil)
		o, id := w.orders(), order.ID{Endpoint: w.endpoint.ID, Key: "cart"}
		if !head {
			w.post("cart", "0")
		}
		late := hook.QueuedDelivery(hook.Event{
			ID: hook.KeyedEventID(world.Tenant, "1"), Tenant: world.Tenant, AcceptedAt: w.Clock.Now().Add(-time.Millisecond), Targets: []hook.Target{w.endpoint.Target()},
		}, w.endpoint.Target())
		if _, _, err := o.Give(t.Context(), id, []hook.Delivery{late}); err != nil {
			t.Fatal(err)
		}
		w.post("cart", "1", "2")
		w.post("cart", "1") // what the late post does next
		w.Now()
		if got := w.received(); !slices.Equal(got[len(got)-2:], []string{"1", "2"}) {
			t.Errorf("void number at the head %t: received %v; want 1 and 2 at once", head, got)
		}
	}
}

// TestOrders_AReleasedDeliveryJoins: a replay that was parked and released takes a place as a delivery that waits for its
// turn, because no breaker looks after it any more.
func TestOrders_AReleasedDeliveryJoins(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) { e.OnFailure = hook.OnFailureSkip })
	w.refuse["1"], w.refuse["2"] = true, true
	first := w.post("cart", "1", "2")[0]
	w.Now()
	w.post("cart", "3")
	d := w.Delivery(first)
	d.State, d.Reason = hook.StateParked, hook.ReasonCircuit
	if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	o := settle.Orders{Store: w.Store, Queue: w.Queue, Now: w.Clock.Now, Wait: world.NoWait}
	if err := o.Join(w.Context(), w.Delivery(first)); err != nil {
		t.Fatal(err)
	}
	w.want("state", w.Delivery(first).State, "retrying")
	w.want("place", w.Delivery(first).Place, 4)
}

// TestOrders_AnEndThatDoesNotStand: a sequence does not move on from a delivery whose end was not written.
func TestOrders_AnEndThatDoesNotStand(t *testing.T) {
	t.Parallel()

	for n := 1; ; n++ {
		w := newOrdered(t, world.Breaker, func(e *hook.Endpoint) { e.OnFailure, e.MaxAge = hook.OnFailureSkip, time.Minute })
		first := w.post("cart", "1", "2")[0]
		e, err := w.Store.Event(t.Context(), first.Event)
		if err != nil {
			t.Fatal(err)
		}
		d := hook.QueuedDelivery(e, w.endpoint.Target())
		d.State, d.Reason = hook.StateParked, hook.ReasonPaused
		if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
		w.Clock.Until(w.Clock.Now().Add(time.Hour))
		w.Crash.Arm(n, false)
		_ = w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: world.Tenant, Endpoint: w.endpoint.ID, Wave: 1})
		died := w.Crash.Restart()
		if state := w.Delivery(first).State; state == hook.StateParked && w.sequence("cart").Head != 1 {
			t.Fatalf("killed at effect %d: the sequence moved on from a delivery that is %s", n, state)
		}
		if !died {
			w.want("the end", w.Delivery(first).State, "dead")
			w.want("head", w.sequence("cart").Head, 2)
			return
		}
	}
}
