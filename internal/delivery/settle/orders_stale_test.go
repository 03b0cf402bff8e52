package settle_test

import (
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// TestOrders_AStaleJoin: of two tasks of one delivery, one delivers it, and the other, which read the record before
// and the sequence after, gives it another place. Nobody waits for that.
func TestOrders_AStaleJoin(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	stale := hook.QueuedDelivery(w.eventOf(hook.Delivery{}), w.endpoint.Target())
	ref := w.post("cart", "1")[0]
	w.Run()
	delivered := w.Delivery(ref)
	stale.ID, stale.OrderingKey, stale.Number, stale.Version = delivered.ID, "cart", 1, delivered.Version-1
	if err := w.orders().Join(t.Context(), stale); err != nil || !w.sequence("cart").Idle() {
		t.Errorf("Join() = %v, and the sequence is %+v; want an idle one", err, w.sequence("cart"))
	}
}

// TestOrders_AJoinWithALostAnswer: the record has the new place, so its task is sent.
func TestOrders_AJoinWithALostAnswer(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) { e.OnFailure = hook.OnFailureSkip })
	w.refuse["1"] = true
	ref := w.post("cart", "1")[0]
	w.Run()
	if _, err := w.Replayer().Delivery(t.Context(), world.Tenant, ref.DeliveryID, replay.Request{}); err != nil {
		t.Fatal(err)
	}
	delete(w.refuse, "1")
	w.Calls.Lose("write delivery")
	w.Run()
	w.want("requests", len(w.Posts), 2)
	if s := w.sequence("cart"); !s.Idle() {
		t.Errorf("the sequence is %+v; want an idle one", s)
	}
}

// TestOrders_AStaleDeath: a dead delivery is replayed before the process that wrote its death moves the sequence. The
// replay has the turn.
func TestOrders_AStaleDeath(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) { e.OnFailure = hook.OnFailureSkip })
	w.refuse["1"] = true
	refs := w.post("cart", "1", "2")
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "write sequence" {
			return errors.New("refused")
		}
		return nil
	}
	w.Now()
	w.Calls.Fail = nil
	dead := w.Delivery(refs[0])
	if dead.State != hook.StateDead {
		t.Fatalf("the head is %s; want dead", dead.State)
	}
	if _, err := w.Replayer().Delivery(t.Context(), world.Tenant, dead.ID, replay.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := w.orders().Ended(t.Context(), dead); err != nil || w.sequence("cart").Head != 1 {
		t.Errorf("Ended() = %v, and the head is %d; want the replay's, 1", err, w.sequence("cart").Head)
	}
}

// TestOrders_ARetryThatLostItsTask: a head that waited as a due retry, and whose task was not sent, gets it with the
// message that comes again.
func TestOrders_ARetryThatLostItsTask(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	refs := w.post("cart", "1", "2")
	ended := hook.Delivery{ID: refs[0].DeliveryID, Tenant: world.Tenant, OrderingKey: "cart", Number: 1, State: hook.StateCancelled}
	s := w.sequence("cart")
	if err := w.Store.SaveSequence(t.Context(), s.Advance(&ended, 1, w.Clock.Now())); err != nil {
		t.Fatal(err)
	}
	head, err := w.Store.Event(t.Context(), refs[1].Event)
	if err != nil {
		t.Fatal(err)
	}
	d := hook.QueuedDelivery(head, w.endpoint.Target())
	w.Queue.Receive(hook.QueueLive, 10)
	for _, tt := range []struct {
		name string
		at   time.Time
		want int
	}{{"later", w.Clock.Now().Add(time.Second), 0}, {"due", w.Clock.Now(), 1}} {
		d.State, d.NextAttemptAt = hook.StateRetrying, tt.at
		if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
		d.Version++
		if err := w.orders().Ended(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		w.want("tasks of a retry "+tt.name, len(w.Queue.Receive(hook.QueueLive, 10)), tt.want)
	}
}

// TestOrders_ALookAtAnIdleSequence: the last delivery ended after the sweep listed the sequence.
func TestOrders_ALookAtAnIdleSequence(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, nil)
	w.post("cart", "1")
	listed := w.sequence("cart")
	listed.LookAt = w.Clock.Now()
	w.Run()
	err := w.orders().Look(t.Context(), listed)
	none := w.orders().Look(t.Context(), order.New(order.ID{Endpoint: w.endpoint.ID, Key: "none"}, world.Tenant))
	if s := w.sequence("cart"); err != nil || none != nil || !s.LookAt.IsZero() || w.sequence("none").Version != 0 {
		t.Errorf("Look() = %v and %v, and the sequence is %+v; want no further look, and no record of an unknown one", err, none, s)
	}
}
