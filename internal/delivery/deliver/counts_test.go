package deliver_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/proof/world"
)

// counts returns the counts of the endpoint since the start.
func (w *bundle) counts(e hook.EndpointID) stats.Counts {
	w.T.Helper()

	since := world.Start().Add(-time.Hour)
	hours, err := w.Store.Hours(w.T.Context(), e, since)
	if err != nil {
		w.T.Fatal(err)
	}
	return stats.Sum(hours, since)
}

// One request delivers three events of two types. The endpoint counts one attempt and three
// deliveries, and the types count their deliveries.
func TestCoalesce_TypesCountTheirDeliveries(t *testing.T) {
	t.Parallel()

	w := &bundle{world.New(t, world.Options{Function: world.Deliver})}
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.EventTypes = []string{"*"} }))
	a := w.Acceptor()
	for _, name := range []string{"order.paid", "order.sent", "order.sent"} {
		w.Clock.Pass(time.Millisecond)
		if _, err := a.Accept(t.Context(), world.Tenant, ingest.Request{Type: name, Payload: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	w.Run()
	c := w.counts(e.ID)
	f := c.Figures()
	if f.Attempts != 1 || f.Delivered != 3 || f.DeliveredAt[1] != 3 || f.FirstRate() != 1 || c.Latency.Count() != 1 {
		t.Errorf("the endpoint counts %d attempts with %d latencies, %d deliveries, %d at the first attempt, first rate %v; want 1, 1, 3, 3, 1",
			f.Attempts, c.Latency.Count(), f.Delivered, f.DeliveredAt[1], f.FirstRate())
	}
	latencies := 0
	for name, want := range map[string]int{"order.paid": 1, "order.sent": 2} {
		one := c.Types.Of(name)
		latencies += one.Latency.Count()
		if got := one.Figures(); got.Delivered != want || got.Attempts != want || got.FirstRate() != 1 {
			t.Errorf("type %s counts %d deliveries of %d attempts; want %d of %d", name, got.Delivered, got.Attempts, want, want)
		}
	}
	if latencies != 1 {
		t.Errorf("the types count %d latencies of one request; want 1", latencies)
	}
}

// Nine requests with 20 events each succeed, and one with 20 events dies.
func TestCoalesce_ATypeHasTheDeadRateOfItsDeliveries(t *testing.T) {
	t.Parallel()

	w := &bundle{world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{10 * time.Second}})}
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Coalesce.MaxEvents = 20 }))
	accept(w.World, e, numbered(180)...)
	w.Run()
	w.Answer = world.Always(503)
	accept(w.World, e, numbered(20)...)
	w.Run()
	c := w.counts(e.ID)
	f := c.Figures()
	if f.Delivered != 180 || f.Dead != 20 || c.Types.Len() != 1 {
		t.Fatalf("the endpoint counts %d delivered, %d dead, %d types; want 180, 20, 1", f.Delivered, f.Dead, c.Types.Len())
	}
	if one := c.Types.Named[0].Figures(); one.DeadRate() != f.DeadRate() {
		t.Errorf("the dead rate of the only type is %v; want that of the endpoint, %v", one.DeadRate(), f.DeadRate())
	}
}

// 100 deliveries wait for the end of a window of 5 s.
func TestCoalesce_EveryDeliveryCountsItsWait(t *testing.T) {
	t.Parallel()

	w := &bundle{world.New(t, world.Options{Function: world.Deliver})}
	e := w.Endpoint(windowed(nil))
	accept(w.World, e, numbered(100)...)
	w.Run()
	c := w.counts(e.ID)
	if c.Queued < 100*4*time.Second || c.Queued > 100*7*time.Second {
		t.Errorf("the sum of the waits of 100 deliveries is %v; want 100 times about 5 s", c.Queued)
	}
}

// Two tasks make the same attempt. The first answer is recorded as a death and counted; the
// success that replaces it takes the death back.
func TestProcessBatch_ALateSuccessTakesTheDeathBack(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	id := w.Post(e)[0]
	first := w.Queue.Receive(hook.QueueLive, 1)[0]
	second := first
	second.Task.Nonce = hook.NewNonce() // an event that is posted twice has two tasks
	process := w.Deliverer()
	writeTo(process, &racingStore{store: w.Store, race: func() {
		w.Answer = world.Always(404)
		if failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(second)); failed != nil {
			t.Fatal(failed)
		}
	}})
	w.Answer = world.Always(200)
	process.ProcessBatch(w.Context(), batchOf(first))
	c := w.counts(e.ID)
	if state := w.Delivery(id).State; state != hook.StateDelivered || c.Delivered != 1 || c.Dead != 0 || c.Types.Named[0].Dead != 0 {
		t.Errorf("the delivery is %s, counted %d times as delivered and %d times as dead; want once as delivered", state, c.Delivered, c.Dead)
	}
}

// SQS gives one message to two processes. Both send the request, and one of them records and
// counts the end of the delivery.
func TestProcessBatch_ACopyOfATaskCountsNoSecondDelivery(t *testing.T) {
	t.Parallel()

	for _, status := range []int{200, 404} {
		w := setup(t)
		e := w.Endpoint(nil)
		w.Post(e)
		message := w.Queue.Receive(hook.QueueLive, 1)[0]
		w.Answer = world.Always(status)
		process := w.Deliverer()
		writeTo(process, &racingStore{store: w.Store, race: func() {
			w.Clock.Pass(time.Millisecond)
			if failed := w.Deliverer().ProcessBatch(w.Context(), batchOf(message)); failed != nil {
				t.Fatal(failed)
			}
		}})
		process.ProcessBatch(w.Context(), batchOf(message))
		if c := w.counts(e.ID); c.Delivered+c.Dead != 1 || c.Attempts() != 2 {
			t.Errorf("answer %d: counted %d delivered, %d dead, %d attempts; want 1 delivery and 2 attempts", status, c.Delivered, c.Dead, c.Attempts())
		}
	}
}
