package deliver_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// A forced replay cancels the delivery, and its tasks are dropped.
func TestReplay_ForcedCancels(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		parked bool
		marked bool // before the task comes
		posts  int
	}{
		{name: "of one that retries, the task first", parked: false, marked: false, posts: 2},
		{name: "of one that retries, the mark first", parked: false, marked: true, posts: 2},
		{name: "of one that is parked, the task first", parked: true, marked: false, posts: 1},
		{name: "of one that is parked, the mark first", parked: true, marked: true, posts: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(503)
			endpoint := w.Endpoint(func(e *hook.Endpoint) {
				if tt.parked {
					e.Status = hook.StatusPaused
				}
			})
			id := w.Post(endpoint)[0]
			w.Invoke(hook.QueueLive)
			endpoint.Status = hook.StatusActive
			if err := w.Store.UpdateEndpoint(t.Context(), endpoint); err != nil {
				t.Fatal(err)
			}
			w.Answer = world.Always(200)
			order := hook.ReplayRequest{By: "key_a", Force: true}
			if tt.marked {
				if err := w.mark(id, order); err != nil {
					t.Fatal(err)
				}
			}
			w.Enqueue(hook.QueueReplay, replayOf(id, order))
			w.Enqueue(hook.QueueRetry, hook.NewTask("acme", id, w.Delivery(id).Attempts+1)) // as the breaker may send it
			w.Invoke(hook.QueueReplay)
			w.Run()
			old := w.Delivery(id)
			if !old.CancelledByReplay() || !old.NextAttemptAt.IsZero() {
				t.Errorf("the old one is %s %q with a next attempt at %v; want cancelled replayed, none", old.State, old.Reason, old.NextAttemptAt)
			}
			id.Generation++
			w.checkReplay(id, order, hook.StateCancelled)
			if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) != tt.posts {
				t.Errorf("the replay is %s after %d POSTs; want delivered after %d", d.State, len(w.Posts), tt.posts)
			}
		})
	}
}

// If a forced replay cancels a delivery while its attempt is in flight, the outcome of the
// attempt changes nothing.
func TestReplay_ForcedDuringAnAttempt(t *testing.T) {
	t.Parallel()

	for _, status := range []int{200, 404, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			id := w.Post(w.Endpoint(nil))[0]
			order := hook.ReplayRequest{By: "key_a", Force: true}
			w.Answer = func(r send.Request) hook.Outcome {
				switch {
				case r.Delivery.Generation == 2:
					return world.Always(200)(r)
				case r.Attempt == 1:
					return world.Always(503)(r)
				}
				if err := w.mark(id, order); err != nil {
					t.Errorf("mark = %v; want nil", err)
				}
				w.Enqueue(hook.QueueReplay, replayOf(id, order))
				return world.Always(status)(r)
			}
			w.Run()
			if old := w.Delivery(id); !old.CancelledByReplay() || old.Attempts != 1 || len(w.DeadLetters.Letters()) > 0 {
				t.Errorf("the old one is %s %q after %d attempts, with %d letters; want cancelled replayed after 1, with none",
					old.State, old.Reason, old.Attempts, len(w.DeadLetters.Letters()))
			}
			id.Generation++
			if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) != 3 {
				t.Errorf("the replay is %s after %d POSTs; want delivered after 3", d.State, len(w.Posts))
			}
		})
	}
}

// Of several dead generations, only the last one is an open dead letter.
func TestReplay_ThatDiesAgain(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.dead()
	w.Answer = world.Always(404)
	for range 3 {
		w.batch(w.Deliverer(), w.letter())
		w.Run()
	}
	w.Answer = world.Always(200)
	w.DeadLetters.Redrive(hook.QueueRetry) // of all generations
	w.Run()
	all, err := w.Store.Deliveries(t.Context(), *w.Posts[0].Event)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, d := range all {
		states = append(states, fmt.Sprint(d.ID.Generation, " ", d.State, " ", d.Reason, " ", d.Replayed.Generation))
	}
	want := []string{"1 discarded replayed 2", "2 discarded replayed 3", "3 discarded replayed 4", "4 discarded replayed 5", "5 delivered  0"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("generations differ (-want +got):\n%s", diff)
	}
	if len(w.Posts) != 4 {
		t.Errorf("%d POSTs; want one of each replay", len(w.Posts))
	}
}
