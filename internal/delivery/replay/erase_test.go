package replay_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// furnished stores one event with a delivery in each state. All but the queued ones have response
// bodies. The dead delivery has a queued replay, and the delivered one has a delivered replay.
func (w *bundle) furnished() (event hook.Event, ids []hook.DeliveryRef) {
	w.T.Helper()

	states := []hook.State{
		hook.StateQueued, hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateDiscarded, hook.StateCancelled,
	}
	endpoints := make([]hook.Endpoint, len(states))
	for i := range states {
		endpoints[i] = w.Endpoint(nil)
	}
	event = w.Event("order.paid", start.Add(-time.Hour), endpoints...)
	for i, state := range states {
		d := hook.QueuedDelivery(event, endpoints[i].Target())
		ids = append(ids, d.Ref())
		if state == hook.StateQueued {
			w.Enqueue(hook.QueueLive, d.NextTask())
			continue
		}
		d.State, d.Attempts, d.DecidedBy = state, 2, hook.NewNonce()
		d.Last = hook.Outcome{Class: hook.ClassUnavailable, Status: 503, Body: []byte("a name")}
		if state == hook.StateRetrying {
			d.NextAttemptAt = start.Add(time.Minute)
			w.Enqueue(hook.QueueRetry, d.NextTask())
		}
		if state == hook.StateDead || state == hook.StateDelivered {
			d.Replayed = hook.Replayed{Generation: 2, At: start}
			replayed := hook.QueuedReplay(event, d)
			ids = append(ids, replayed.Ref())
			if state == hook.StateDead {
				w.Enqueue(hook.QueueReplay, replayed.NextTask())
			} else {
				replayed.State, replayed.Attempts = hook.StateDelivered, 1
				replayed.Last = hook.Outcome{Class: hook.ClassDelivered, Status: 200, Body: []byte("a name")}
				w.Save(replayed)
			}
		}
		for number := 1; number <= 2; number++ {
			a := hook.Attempt{Delivery: d.Ref(), Number: number, StartedAt: start, Outcome: d.Last}
			if err := w.Store.SaveDelivery(w.T.Context(), d, &a); err != nil {
				w.T.Fatal(err)
			}
			d = w.Delivery(d.Ref())
		}
	}
	return event, ids
}

// wantErased checks that the payload and all bodies are gone, and that unsettled deliveries are
// cancelled.
func (w *bundle) wantErased(event hook.Event, ids []hook.DeliveryRef) {
	w.T.Helper()

	e, err := w.Store.Event(w.T.Context(), event.ID)
	if err != nil || e.Payload != nil || !e.Erased() {
		w.T.Errorf("event = %+v, %v; want no payload", e, err)
	}
	var deliveries []hook.Delivery
	var states []string
	for _, id := range ids {
		d := w.Delivery(id)
		deliveries = append(deliveries, d)
		if d.Last.Body != nil || !d.Erased {
			w.T.Errorf("delivery %s = %+v; want the mark and no body", id, d)
		}
		states = append(states, fmt.Sprintf("%s %s", d.State, d.Reason))
	}
	want := []string{
		"cancelled erased", "cancelled erased", "cancelled erased", "delivered ", "delivered ", "discarded replayed", "cancelled erased", "discarded ", "cancelled ",
	}
	if !slices.Equal(states, want) {
		w.T.Errorf("states = %q; want %q", states, want)
	}
	attempts, err := w.Store.Attempts(w.T.Context(), deliveries)
	if err != nil || len(attempts) == 0 {
		w.T.Fatalf("Attempts() = %d, %v; want some", len(attempts), err)
	}
	for _, a := range attempts {
		if a.Outcome.Body != nil {
			w.T.Errorf("attempt %d of %s has the body %s; want none", a.Number, a.Delivery, a.Outcome.Body)
		}
	}
}

// TestErase_KilledAtAnyEffect kills the erasure before and after each effect. No POST follows the
// erasure of the payload, and a repeated call completes it.
func TestErase_KilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		effects := 0
		for n := 1; killErasure(t, n, after); n++ {
			effects = n
		}
		if want := 15; effects < want { // the event, and two effects for each of most deliveries
			t.Errorf("the erasure has %d effects; want at least %d", effects, want)
		}
	}
}

func killErasure(t *testing.T, n int, after bool) (died bool) {
	t.Helper()

	inTurn(t, func(w *bundle) {
		t := w.T
		w.Answer = world.Always(200)
		event, ids := w.furnished()
		w.Crash.Arm(n, after)
		_, err := w.Replayer().Erase(w.Context(), "acme", event.ID, "key_1")
		died = w.Crash.Restart()
		w.Crash.Disarm()
		if died == (err == nil && !w.missed()) {
			t.Errorf("effect %d: died %t, Erase() = %v", n, died, err)
		}
		if e, err := w.Store.Event(t.Context(), event.ID); err != nil || !e.Erased() {
			if n > 1 || after {
				t.Errorf("effect %d: event = %+v, %v; want an erased event", n, e, err)
			}
		} else {
			w.Run() // tasks of the queued, retrying and replayed deliveries
			if len(w.Posts) != 0 {
				t.Errorf("effect %d: %d POSTs after the erasure; want none", n, len(w.Posts))
			}
		}
		if _, err := w.Replayer().Erase(w.Context(), "acme", event.ID, "key_1"); err != nil {
			t.Errorf("effect %d: Erase() again = %v", n, err)
		}
		w.wantErased(event, ids)
		w.Run()
		if len(w.Posts) != 0 {
			t.Errorf("effect %d: %d POSTs; want none", n, len(w.Posts))
		}
	})
	return died
}

// The response to a write of the erasure is lost. The SDK repeats the request and meets its own
// write, and the delivery still counts as cancelled by this call.
func TestErase_CountsItsOwnWrite(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.past(w.Endpoint(nil), hook.StateRetrying, 1)[0]
	w.Calls.Lose("write delivery")
	if got, err := w.Replayer().Erase(w.Context(), "acme", id.Event, "key_1"); err != nil || got.Cancelled != 1 {
		t.Errorf("Erase() = %d cancelled, %v; want 1", got.Cancelled, err)
	}
	if again, err := w.Replayer().Erase(w.Context(), "acme", id.Event, "key_1"); err != nil || again.Cancelled != 0 {
		t.Errorf("Erase() again = %d cancelled, %v; want 0", again.Cancelled, err)
	}
}

func TestErase(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(200)
	event, ids := w.furnished()
	r := w.Replayer()
	got, err := r.Erase(w.Context(), "acme", event.ID, "key_1")
	if err != nil || got.Cancelled != 4 || !got.Event.ErasedAt.Equal(start) {
		t.Errorf("Erase() = %+v, %v; want 4 cancelled at %s", got, err, start)
	}
	w.wantErased(event, ids)
	if d := w.Delivery(ids[0]); d.By != "key_1" {
		t.Errorf("cancelled by %q; want key_1", d.By)
	}
	w.Clock.Pass(time.Minute)
	again, err := r.Erase(w.Context(), "acme", event.ID, "key_2")
	if err != nil || again.Cancelled != 0 || !again.Event.ErasedAt.Equal(start) {
		t.Errorf("Erase() again = %+v, %v; want nothing cancelled, and the first time", again, err)
	}

	// An erased event cannot be replayed.
	for _, id := range ids {
		if _, err := r.Delivery(w.Context(), "acme", id.DeliveryID, replay.Request{Force: true}); err == nil {
			t.Errorf("Delivery(%s) = nil; want a refusal", id)
		}
		if _, err := w.Delivery(id).Replay(hook.ReplayRequest{Force: true}, start); w.Delivery(id).Replayed.Generation == 0 && hook.CodeOf(err) != hook.CodeConflict {
			t.Errorf("Replay of %s = %v; want a conflict", id, err)
		}
	}
	if _, err := r.Event(w.Context(), "acme", event.ID, replay.Request{Force: true}); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("Event() = %v; want a conflict", err)
	}
	for name, id := range map[hook.TenantID]hook.EventID{"globex": event.ID, "acme": hook.KeyedEventID("acme", "unknown")} {
		if _, err := r.Erase(w.Context(), name, id, "key_1"); hook.CodeOf(err) != hook.CodeNotFound {
			t.Errorf("Erase(%s, %s) = %v; want CodeNotFound", name, id, err)
		}
	}
}

// eraseRace runs race between the read of the event and the erasure of its payload.
type eraseRace struct {
	replay.Store
	race func()
}

func (s *eraseRace) EraseEvent(ctx context.Context, e hook.Event) error {
	if race := s.race; race != nil {
		s.race = nil
		race()
	}
	return s.Store.EraseEvent(ctx, e)
}

// An endpoint is added to the event between the erasure's read and its first write, and answers
// the first attempt with a body. The erasure removes that body, too.
func TestErase_AnEndpointAddedMeanwhile(t *testing.T) {
	t.Parallel()

	for _, status := range []int{200, 503} {
		w := setup(t)
		w.Answer = func(send.Request) hook.Outcome {
			return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, Body: []byte("a name")}
		}
		e, added := w.Event("order.paid", start.Add(-time.Hour)), w.Endpoint(nil)
		eraser := w.Replayer()
		eraser.Store = &eraseRace{Store: eraser.Store, race: func() {
			if _, err := w.Replayer().Event(w.Context(), "acme", e.ID, replay.Request{Endpoint: string(added.ID)}); err != nil {
				t.Error(err)
			}
			w.InvokeAll() // the first attempt
		}}
		if _, err := eraser.Erase(w.Context(), "acme", e.ID, "key_1"); err != nil {
			t.Fatal(err)
		}
		w.Run()
		stored, err := w.Store.Event(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := stored.Ref(added.ID, 2)
		d := w.Delivery(ref)
		if d.Last.Body != nil || !d.Erased || !d.State.Settled() {
			t.Errorf("answer %d: delivery %s, erased %t, body %q; want it settled with the mark and no body", status, d.State, d.Erased, d.Last.Body)
		}
		attempts, err := w.Store.Attempts(t.Context(), []hook.Delivery{d})
		if err != nil || slices.ContainsFunc(attempts, func(a hook.Attempt) bool { return a.Outcome.Body != nil }) {
			t.Errorf("answer %d: attempts = %+v, %v; want no body", status, attempts, err)
		}
	}
}

// The payload of an event is erased while a request adds an endpoint. The request is refused, and
// the event gets no target.
func TestEvent_AddedEndpoint_ErasedMeanwhile(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e, added := w.Event("order.paid", start.Add(-time.Hour)), w.Endpoint(nil)
	r := w.Replayer()
	r.Store = &addRace{Store: r.Store, race: func() {
		if _, err := w.Replayer().Erase(w.Context(), "acme", e.ID, "key_1"); err != nil {
			t.Fatal(err)
		}
	}}
	_, err := r.Event(w.Context(), "acme", e.ID, replay.Request{Endpoint: string(added.ID)})
	if stored, readErr := w.Store.Event(t.Context(), e.ID); hook.CodeOf(err) != hook.CodeConflict || len(stored.Targets) > 0 || readErr != nil {
		t.Errorf("Event(endpoint) = %v, the event has %d targets, %v; want the refusal of an erased event, and none", err, len(stored.Targets), readErr)
	}
}
