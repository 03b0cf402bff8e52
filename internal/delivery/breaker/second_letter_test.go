package breaker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

// script is a dead-letter queue with a fixed order of receipt.
type script struct {
	breaker.DeadLetters

	mu      sync.Mutex
	batches [][]breaker.Letter
	forever bool // repeat the batches
	at      int
	removed []string
}

func (s *script) Receive(context.Context) ([]breaker.Letter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.at == len(s.batches) && !s.forever {
		return nil, nil
	}
	s.at++
	return s.batches[(s.at-1)%len(s.batches)], nil
}

func (s *script) Remove(_ context.Context, letters []breaker.Letter) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, letter := range letters {
		s.removed = append(s.removed, letter.ID)
	}
	return nil
}

// TestReconcileDeadLetters_KeepsTheLetterWithTheLowestID checks that a letter that is received
// twice does not count as a second letter, and that the letter with the lowest id stays, whatever
// the order of receipt.
func TestReconcileDeadLetters_KeepsTheLetterWithTheLowestID(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		order   string // letter ids; a comma separates batches
		forever bool
		removed []string
	}{
		{name: "the same letter repeatedly", order: "1", forever: true, removed: nil},
		{name: "both letters repeatedly", order: "1,2", forever: true, removed: []string{"2"}},
		{name: "the same letter twice in a batch", order: "11", forever: false, removed: nil},
		{name: "two letters", order: "1,2", forever: false, removed: []string{"2"}},
		{name: "two letters in the other order", order: "2,1", forever: false, removed: []string{"2"}},
		{name: "two letters in a batch", order: "21", forever: false, removed: []string{"2"}},
		{name: "two letters, both repeated", order: "2,1,2,1", forever: false, removed: []string{"2"}},
		{name: "three letters", order: "231", forever: false, removed: []string{"2", "3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			body, err := hook.DeadLetterOf(w.generations("dead")[0]).Encode()
			if err != nil {
				t.Fatal(err)
			}
			s := &script{forever: tt.forever}
			for _, ids := range strings.Split(tt.order, ",") {
				var batch []breaker.Letter
				for i, id := range ids {
					batch = append(batch, breaker.Letter{ID: string(id), Receipt: fmt.Sprint(i), Body: body})
				}
				s.batches = append(s.batches, batch)
			}
			b := w.Breaker()
			b.DeadLetters = s
			if err := b.ReconcileDeadLetters(w.Context()); err != nil {
				t.Errorf("ReconcileDeadLetters() = %v; want nil", err)
			}
			slices.Sort(s.removed)
			if diff := cmp.Diff(tt.removed, s.removed); diff != "" {
				t.Errorf("removed ids differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReconcileDeadLetters_CompletesTheSettlement checks that the job counts a replay even if the
// process died between settling the replay and counting it.
func TestReconcileDeadLetters_CompletesTheSettlement(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.sendLetters(w.generations("dead", "delivered")[0], 1, 0)
	w.reconcile()
	if outcomes, err := w.Store.JobOutcomes(t.Context(), someJob); err != nil || outcomes.Delivered != 1 {
		t.Errorf("the job counted %+v, %v; want one delivered", outcomes, err)
	}
}
