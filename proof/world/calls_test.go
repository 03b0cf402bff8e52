package world_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// Calls names the requests of the function under test by their items, gives those of other functions a
// prefix, and leaves out those of the test itself.
func TestCalls(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second}, Circuits: true})
	w.Answer = world.InTurn(503, 200)
	id := w.Post(w.Endpoint(nil))[0]
	w.InvokeAll()
	w.Clock.Pass(time.Minute)
	w.Tick()
	w.InvokeAll()
	if d := w.Delivery(id); d.State != hook.StateDelivered {
		t.Fatalf("the delivery is %s; want delivered", d.State)
	}
	want := map[string]int{
		"read batch": 2, "write delivery": 2, "send": 1,
		"write stats": 2, "read stats": 1, "write circuit": 2, // a failure, and its end
		"breaker: list circuit": 2 * 16, "breaker: read depth": 1, // two lists, due and attended, of 16 shards
	}
	if diff := cmp.Diff(want, w.Calls.All()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if effects := w.Crash.Effects(); effects != 7 {
		t.Errorf("%d effects; want 7: the writes and the message", effects)
	}
}

// A fault hits the function under test, and not the requests of the test itself. After a lost answer,
// the client repeats the request.
func TestCalls_Faults(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(nil)
	d := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now(), e), e.Target())
	fault := errors.New("down")
	w.Calls.Fail = func(string, hook.EndpointID) error { return fault }
	if err := w.Store.SaveDelivery(w.Context(), d, nil); !errors.Is(err, fault) {
		t.Errorf("SaveDelivery() = %v; want the fault", err)
	}
	if err := w.Store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Errorf("SaveDelivery() by the test = %v; want nil", err)
	}
	w.Calls.Fail = nil
	d.Version = 1
	w.Calls.Lose("write delivery")
	if err := w.Store.SaveDelivery(w.Context(), d, nil); hook.CodeOf(err) != hook.CodeConflict || w.Delivery(d.Ref()).Version != 2 {
		t.Errorf("SaveDelivery() with a lost answer = %v, version %d; want a conflict with its own write, version 2", err, w.Delivery(d.Ref()).Version)
	}
	for _, after := range []bool{false, true} {
		d := w.Delivery(d.Ref())
		w.Crash.Arm(1, after)
		err := w.Store.SaveDelivery(w.Context(), d, nil)
		if made := w.Delivery(d.Ref()).Version > d.Version; !errors.Is(err, world.ErrDead) || made != after || !w.Crash.Restart() {
			t.Errorf("SaveDelivery() = %v, made: %t; want a death after the effect: %t", err, made, after)
		}
	}
}
