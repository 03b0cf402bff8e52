package settle_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// TestOrders_AnEventStoredWhileTheHeadEnds lets the head end before, between and after the steps of the post of
// the next delivery: at least one of the two processes sends its task, and its number is not passed.
func TestOrders_AnEventStoredWhileTheHeadEnds(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		ends        int // before this step of the post: the place, the event, the look at the head
		moved, post int // tasks
	}{
		{name: "before the place", ends: 0, post: 1},
		{name: "before the event", ends: 1, post: 1},
		{name: "before the look", ends: 2, moved: 1, post: 1},
		{name: "after the post", ends: 3, moved: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, nil)
			o, id := w.orders(), order.ID{Endpoint: w.endpoint.ID, Key: "a"}
			first, second := w.unstored(1)[0], w.unstored(2)[1]
			if _, _, err := o.Give(t.Context(), id, []hook.Delivery{first}); err != nil {
				t.Fatal(err)
			}
			first.OrderingKey, first.Number, first.State = "a", 1, hook.StateDelivered
			second.OrderingKey, second.Number = "a", 2
			var due []int64
			for step, do := range []func() error{
				func() error {
					_, now, err := o.Give(t.Context(), id, []hook.Delivery{second})
					if now {
						due = []int64{2}
					}
					return err
				},
				func() error { return w.Store.PutEvent(t.Context(), w.eventOf(second)) },
				func() (err error) {
					if due == nil {
						due, err = o.Due(t.Context(), id, []hook.Delivery{second}, false)
					}
					return err
				},
				func() error { return nil },
			} {
				if step == tt.ends {
					if err := o.Ended(t.Context(), first); err != nil {
						t.Fatal(err)
					}
				}
				if err := do(); err != nil {
					t.Fatal(err)
				}
			}
			if moved := len(w.Queue.Receive(hook.QueueLive, 10)); moved != tt.moved || len(due) != tt.post {
				t.Errorf("the end of the head sent %d tasks, and the post %d; want %d and %d", moved, len(due), tt.moved, tt.post)
			}
			w.want("head", w.sequence("a").Head, 2)
		})
	}
}
