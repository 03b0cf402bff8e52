package cost_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/cost"
)

// streamBatch is the events of a batch of the stream: fewer than the 10,000 that may come.
const streamBatch = 1000

// looked returns what the breaker's look at a batch of the stream costs, minutes after the
// deliveries.
func looked(t *testing.T) cost.Account {
	t.Helper()

	w := newBundle(t, full, 1)
	w.endpoint(nil)
	w.warm()
	for range streamBatch / 100 {
		w.post(100)
	}
	var begun []hook.DeliveryRef
	for _, m := range w.inbox {
		task, err := hook.DecodeTask(m.body)
		if err != nil {
			t.Fatal(err)
		}
		begun = append(begun, task.Delivery)
	}
	w.drain(streamBatch)
	w.wantDelivered(streamBatch)
	w.ledger.Reset()
	w.invoke(len(begun), breakerAtOnce, func() {
		if err := w.breaker.Record(t.Context(), begun); err != nil {
			t.Fatal(err)
		}
	})
	a := w.account()
	if len(begun) != streamBatch || a.Writes("") != 0 {
		t.Errorf("%d deliveries looked at with %g writes; want %d, none", len(begun), a.Writes(""), streamBatch)
	}
	return a
}
