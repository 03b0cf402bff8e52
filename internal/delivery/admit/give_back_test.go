package admit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// failing is a store whose n-th change of an endpoint's limits fails, before or after it is made.
type failing struct {
	admit.Store

	n     int
	after bool
}

var errRefused = errors.New("the store refuses")

func (s *failing) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after admission.Limits) error {
	if s.n--; s.n != 0 {
		return s.Store.ChangeLimits(ctx, id, before, after)
	}
	if s.after {
		if err := s.Store.ChangeLimits(ctx, id, before, after); err != nil {
			return err
		}
	}
	return errRefused
}

// When an admission fails, the slots that it took before, or by a write without an answer, are free
// again: the messages come again.
func TestGate_AFailedAdmissionKeepsNoSlot(t *testing.T) {
	t.Parallel()

	limited := func(w *bundle) admission.Query {
		e := active()
		e.MaxInFlight = 5
		return w.slotQuery(e, 0, 2)
	}
	tests := []struct {
		name  string
		store failing
		query func(w *bundle) admission.Query
	}{
		{name: "the answer to the first slot is lost", store: failing{n: 1, after: true}, query: limited},
		{name: "the answer to the slot of a group is lost", store: failing{n: 1, after: true}, query: func(w *bundle) admission.Query {
			e := active()
			e.Coalesce = hook.Coalescing{Window: time.Second}.WithDefaults()
			q := w.query(e, 0, 2)
			q.Record, q.Queue = w.record(), hook.QueueCoalesce
			return q
		}},
		{name: "the answer to the slot of a test event is lost", store: failing{n: 1, after: true}, query: func(w *bundle) admission.Query {
			e := active()
			e.MaxInFlight = 5
			q := w.query(e, 0, 1)
			q.Record, q.Due[0].Test = w.record(), true
			return q
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			q := tt.query(w)
			g := w.sandbox()
			store := tt.store
			store.Store = g.Store
			g.Store = &store
			if _, err := g.Ask(t.Context(), q); !errors.Is(err, errRefused) {
				t.Fatalf("Ask() = %v; want %v", err, errRefused)
			}
			limits, err := w.Store.Limits(t.Context(), endpoint)
			if n := limits.InFlight(w.Clock.Now()); err != nil || n != 0 {
				t.Errorf("%d slots in use, %v; want none", n, err)
			}
		})
	}
}
