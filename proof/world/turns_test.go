package world_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// In turn, the deliveries of a batch make the same calls in the same order at every run.
func TestTurns(t *testing.T) {
	t.Parallel()

	run := func() (calls []string) {
		synctest.Test(t, func(t *testing.T) {
			w := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second}, Circuits: true, Unproven: true, InTurn: true})
			w.Answer = world.InTurn(503, 200)
			var mu sync.Mutex
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				mu.Lock()
				defer mu.Unlock()

				calls = append(calls, call)
				return nil
			}
			w.PostMany(w.Endpoint(nil), 25)
			w.RunFor(10 * time.Minute)
			for _, p := range w.Posts {
				calls = append(calls, string(p.Event.ID))
			}
		})
		return calls
	}
	first := run()
	if len(first) < 150 {
		t.Fatalf("%d calls; want more", len(first))
	}
	for range 20 {
		if diff := cmp.Diff(first, run()); diff != "" {
			t.Fatalf("calls and posts of two runs:\n%s", diff)
		}
	}
}
