package settle_test

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// early stores a place just before the first write of the sequence.
type early struct {
	*memory.Store

	place *order.Place
}

func (s *early) SaveSequence(ctx context.Context, q order.Sequence) error {
	if p := s.place; p != nil {
		s.place = nil
		if err := s.PutPlace(ctx, q.ID, *p); err != nil {
			return err
		}
	}
	return s.Store.SaveSequence(ctx, q)
}

// TestOrders_APlaceStoredWhileTheHeadEnds stores the place of the second delivery before, between and after
// the steps of moving the head on: one of the two processes sends the task.
func TestOrders_APlaceStoredWhileTheHeadEnds(t *testing.T) {
	t.Parallel()

	for _, late := range []bool{false, true} {
		w := newOrdered(t, world.Deliver, nil)
		id := order.ID{Endpoint: w.endpoint.ID, Key: "a"}
		e := w.Event("order.paid", w.Clock.Now(), w.endpoint)
		first, _ := e.Ref(w.endpoint.ID, 1)
		second, _ := w.Event("order.paid", w.Clock.Now(), w.endpoint).Ref(w.endpoint.ID, 1)
		if _, _, err := w.orders().Give(t.Context(), world.Tenant, id, 2, first); err != nil {
			t.Fatal(err)
		}
		place := order.Place{Number: 2, Delivery: second, Tenant: world.Tenant, GivenAt: w.Clock.Now()}
		store, orders := &early{Store: w.Store, place: &place}, w.orders()
		if late {
			store.place = nil
		}
		orders.Store = store
		ended := hook.Delivery{Tenant: world.Tenant, OrderingKey: "a", Number: 1, State: hook.StateDelivered}.At(first)
		if err := orders.Ended(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		due, err := w.orders().Await(t.Context(), world.Tenant, id, []order.Place{place}, false)
		if err != nil || len(due) != 1 {
			t.Errorf("late %t: Await() = %v, %v; want the delivery, which has the turn", late, due, err)
		}
		if got := len(w.Queue.Receive(hook.QueueLive, 10)); (got == 1) == late {
			t.Errorf("late %t: the end of the head sent %d tasks", late, got)
		}
	}
}
