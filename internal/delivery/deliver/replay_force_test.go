package deliver_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/send"
	"surehook/internal/hook"
)

// A forced replay supersedes the delivery, and drops the tokens of the delivery.
func TestReplay_ForcedSupersedes(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		parked bool
		marked bool // before the token comes
		posts  int
	}{
		{name: "of one that retries, the token first", parked: false, marked: false, posts: 2},
		{name: "of one that retries, the mark first", parked: false, marked: true, posts: 2},
		{name: "of one that is parked, the token first", parked: true, marked: false, posts: 1},
		{name: "of one that is parked, the mark first", parked: true, marked: true, posts: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			w.answer = always(503)
			endpoint := w.endpoint(func(e *hook.Endpoint) {
				if tt.parked {
					e.Status = hook.StatusPaused
				}
			})
			id := w.post(endpoint)[0]
			w.invoke(hook.LaneLive)
			endpoint.Status = hook.StatusActive
			if err := w.store.UpdateEndpoint(t.Context(), endpoint); err != nil {
				t.Fatal(err)
			}
			w.answer = always(200)
			order := hook.ReplayRequest{By: "key_a", Force: true}
			if tt.marked {
				if err := w.mark(id, order); err != nil {
					t.Fatal(err)
				}
			}
			w.enqueue(hook.LaneReplay, replayOf(id, order))
			w.enqueue(hook.LaneRetry, hook.NewToken("acme", id, w.delivery(id).Attempts+1)) // such as the breaker sends
			w.invoke(hook.LaneReplay)
			w.run()
			old := w.delivery(id)
			if !old.Superseded() || !old.NextAttemptAt.IsZero() {
				t.Errorf("the old one is %s %q with a next attempt at %v; want cancelled replayed, none", old.State, old.Reason, old.NextAttemptAt)
			}
			id.Generation++
			w.checkReplay(id, order, hook.StateCancelled)
			if d := w.delivery(id); d.State != hook.StateDelivered || len(w.posts) != tt.posts {
				t.Errorf("the replay is %s after %d POSTs; want delivered after %d", d.State, len(w.posts), tt.posts)
			}
		})
	}
}

// An attempt in flight while a forced replay supersedes the delivery changes
// nothing, with any outcome.
func TestReplay_ForcedDuringAnAttempt(t *testing.T) {
	t.Parallel()

	for _, status := range []int{200, 404, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			id := w.post(w.endpoint(nil))[0]
			order := hook.ReplayRequest{By: "key_a", Force: true}
			w.answer = func(r send.Request) hook.Outcome {
				switch {
				case r.Delivery.Generation == 2:
					return always(200)(r)
				case r.Attempt == 1:
					return always(503)(r)
				}
				if err := w.mark(id, order); err != nil {
					t.Errorf("mark = %v; want nil", err)
				}
				w.enqueue(hook.LaneReplay, replayOf(id, order))
				return always(status)(r)
			}
			w.run()
			if old := w.delivery(id); !old.Superseded() || old.Attempts != 1 || len(w.deadLetters.Letters()) > 0 {
				t.Errorf("the old one is %s %q after %d attempts, with %d letters; want cancelled replayed after 1, with none",
					old.State, old.Reason, old.Attempts, len(w.deadLetters.Letters()))
			}
			id.Generation++
			if d := w.delivery(id); d.State != hook.StateDelivered || len(w.posts) != 3 {
				t.Errorf("the replay is %s after %d POSTs; want delivered after 3", d.State, len(w.posts))
			}
		})
	}
}

// After several dead generations, only the last generation is an open dead letter.
func TestReplay_ThatDiesAgain(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	id := w.dead()
	w.answer = always(404)
	for range 3 {
		w.batch(w.deliverer(), w.letter())
		w.run()
	}
	w.answer = always(200)
	w.deadLetters.Redrive(hook.LaneRetry) // of all generations
	w.run()
	all, err := w.store.Deliveries(t.Context(), id.Event)
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
	if len(w.posts) != 4 {
		t.Errorf("%d POSTs; want one of each replay", len(w.posts))
	}
}
