package breaker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/breaker"
	"surehook/internal/hook"
)

// script is dead letters that are seen in the order it says.
type script struct {
	breaker.DeadLetters

	mu      sync.Mutex
	batches [][]breaker.Letter
	forever bool // begin again when all were seen
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

// A letter that is seen twice, because it was hidden not long enough, is no
// second letter; and whatever the order in which two runs see two letters, they
// leave the same one.
func TestReconcile_TellsASecondLetterFromTheSameOne(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		order   string // of the ids; a comma between batches
		forever bool
		removed []string
	}{
		{name: "the same again and again", order: "1", forever: true, removed: nil},
		{name: "all of them again and again", order: "1,2", forever: true, removed: []string{"2"}},
		{name: "twice in a batch", order: "11", forever: false, removed: nil},
		{name: "two", order: "1,2", forever: false, removed: []string{"2"}},
		{name: "two in the other order", order: "2,1", forever: false, removed: []string{"2"}},
		{name: "two in a batch", order: "21", forever: false, removed: []string{"2"}},
		{name: "two, and one of them again", order: "2,1,2,1", forever: false, removed: []string{"2"}},
		{name: "three", order: "231", forever: false, removed: []string{"2", "3"}},
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
			if err := b.ReconcileDeadLetters(t.Context()); err != nil {
				t.Errorf("Reconcile() = %v; want nil", err)
			}
			slices.Sort(s.removed)
			if diff := cmp.Diff(tt.removed, s.removed); diff != "" {
				t.Errorf("removed ids differ (-want +got):\n%s", diff)
			}
		})
	}
}

// What the process that settled the replay left undone is done: its job counts it.
func TestReconcile_CountsWhatItRepairs(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.bury(w.generations("dead", "delivered")[0], 1, 0)
	w.reconcile()
	if tally, err := w.Store.JobOutcomes(t.Context(), someJob); err != nil || tally.Delivered != 1 {
		t.Errorf("the job counted %+v, %v; want one delivered", tally, err)
	}
}
