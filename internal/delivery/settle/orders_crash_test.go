package settle_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/order"
	"surehook.example/surehook/proof/world"
)

// killed calls run for a death before and after each effect of the function, until the run has no such
// effect, which is before the most.
func killed(t *testing.T, f world.Function, run func(t *testing.T, w *ordered, kill func())) {
	t.Helper()

	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after the effect %t", after), func(t *testing.T) {
			t.Parallel()

			for n := 1; ; n++ {
				w := newOrdered(t, f, nil)
				run(t, w, func() { w.Crash.Arm(n, after) })
				if t.Failed() {
					t.Fatalf("killed at effect %d", n)
				}
				if w.Crash.Deaths() == 0 {
					if n < 4 {
						t.Errorf("the run has %d effects; want more", n-1)
					}
					return
				}
			}
		})
	}
}

// TestOrders_DeliverKilledAtAnyEffect kills function deliver. The message comes again, and nothing else is
// needed for the order.
func TestOrders_DeliverKilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	killed(t, world.Deliver, func(t *testing.T, w *ordered, kill func()) {
		t.Helper()

		w.post("a", "1", "2", "3")
		kill()
		w.Run()
		w.want("received", w.received(), "[1 2 3]")
		if s := w.sequence("a"); !s.Idle() || s.Delivered != 3 {
			t.Errorf("the sequence is %+v; want idle after 3", s)
		}
	})
}

// TestOrders_IngestKilledAtAnyEffect kills a post behind another event, and posts again, as a producer does
// that gets no answer. What is stored comes with its number, whether the post is answered or not.
func TestOrders_IngestKilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	for _, again := range []bool{true, false} {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("posted again %t, behind another event %t", again, before), func(t *testing.T) {
				t.Parallel()

				killed(t, world.Ingest, func(t *testing.T, w *ordered, kill func()) {
					t.Helper()

					refs := w.post("a", "0")
					if !before {
						w.Run()
					}
					kill()
					_, _ = w.tryPost("a", "1", "2")
					w.Crash.Disarm()
					w.Crash.Restart()
					want := []string{"0", "1", "2", "3"}
					if again {
						w.post("a", "1", "2")
					}
					w.Run()
					w.Clock.Until(w.Clock.Now().Add(order.VoidAfter + time.Second))
					refs = append(refs, w.post("a", "3")...)
					for _, p := range []string{"1", "2"} { // stored, and perhaps not answered
						if e, err := w.Store.Event(t.Context(), hook.KeyedEventID(world.Tenant, p)); err == nil {
							ref, _ := e.Ref(w.endpoint.ID, 1)
							refs = append(refs, ref)
						} else if !again {
							want = slices.DeleteFunc(want, func(s string) bool { return s == p })
						}
					}
					w.tend(refs...)
					slices.SortFunc(want, func(a, b string) int { return cmp.Compare(w.number(a), w.number(b)) })
					w.want("received", w.received(), want)
					if s := w.sequence("a"); !s.Idle() {
						t.Errorf("the sequence is %+v; want idle", s)
					}
				})
			})
		}
	}
}

// TestOrders_ReplayKilledAtAnyEffect kills the cancellation of the head, and repeats it.
func TestOrders_ReplayKilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	killed(t, world.Replay, func(t *testing.T, w *ordered, kill func()) {
		t.Helper()

		w.change(func(e *hook.Endpoint) { e.Status, e.Reason = hook.StatusPaused, hook.ReasonManual })
		refs := w.post("a", "1", "2", "3")
		if _, err := w.Replayer().Cancel(t.Context(), world.Tenant, refs[1].DeliveryID, "", ""); err != nil {
			t.Fatal(err)
		}
		w.RunFor(time.Minute)
		kill()
		_, err := w.Replayer().Cancel(w.Context(), world.Tenant, refs[0].DeliveryID, "", "")
		if w.Crash.Restart() || err != nil {
			if _, err := w.Replayer().Cancel(w.Context(), world.Tenant, refs[0].DeliveryID, "", ""); err != nil {
				t.Fatal(err)
			}
		}
		w.change(func(e *hook.Endpoint) { e.Status, e.Reason = hook.StatusActive, hook.ReasonNone })
		w.RunFor(10 * time.Minute)
		w.want("received", w.received(), "[3]")
	})
}

// TestOrders_SweepKilledAtAnyEffect kills the sweep that moves a sequence past a void number.
func TestOrders_SweepKilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	killed(t, world.Breaker, func(t *testing.T, w *ordered, kill func()) {
		t.Helper()

		orders := w.orders()
		if _, _, err := orders.Give(t.Context(), order.ID{Endpoint: w.endpoint.ID, Key: "a"}, w.unstored(2)); err != nil {
			t.Fatal(err)
		}
		refs := w.post("a", "1", "2")
		w.Run()
		w.want("received", w.received(), "[]")
		if err := w.Breaker().Record(t.Context(), refs); err != nil {
			t.Fatal(err)
		}
		w.Clock.Until(w.Clock.Now().Add(20 * time.Minute))
		kill()
		_ = w.Breaker().Sweep(w.Context())
		w.Crash.Restart()
		w.tend(refs...)
		w.want("received", w.received(), "[1 2]")
	})
}

func TestOrders_AReplayOfASkippedOneComesLast(t *testing.T) {
	t.Parallel()

	w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) { e.OnFailure = hook.OnFailureSkip })
	w.refuse["1"] = true
	refs := w.post("a", "1", "2")
	w.Run()
	delete(w.refuse, "1")
	w.change(func(e *hook.Endpoint) { e.Status, e.Reason = hook.StatusPaused, hook.ReasonManual })
	w.post("a", "3", "4")
	w.Now()
	if _, err := w.Replayer().Delivery(t.Context(), world.Tenant, refs[0].DeliveryID, replay.Request{}); err != nil {
		t.Fatal(err)
	}
	w.Now()
	w.change(func(e *hook.Endpoint) { e.Status, e.Reason = hook.StatusActive, hook.ReasonNone })
	w.RunFor(time.Hour)
	w.post("a", "5")
	w.Run()
	var all []string
	for _, p := range w.Posts {
		all = append(all, fmt.Sprintf("%s=%d%v", p.Event.Payload, p.Event.Ordering.Number, p.Event.Ordering.Skipped))
	}
	w.want("requests", all, "[1=1[] 2=2[1] 3=3[] 4=4[] 1=1[] 5=6[5]]")
}
