package gate_test

import (
	"context"
	"errors"
	"testing"

	"surehook.example/surehook/internal/delivery/gate"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/isolation"
)

// secondRefused is a store that refuses the second change of an endpoint's limits.
type secondRefused struct {
	gate.Store

	changes int
}

var errRefused = errors.New("the store refuses")

func (s *secondRefused) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after isolation.Limits, most int) error {
	if s.changes++; s.changes == 2 {
		return errRefused
	}
	return s.Store.ChangeLimits(ctx, id, before, after, most)
}

// When the admission of one token fails, the slot that another one took before it is free again: the
// messages of both come again.
func TestGate_AFailedAdmissionKeepsNoSlot(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.MaxInFlight = 5
	q := w.slotQuery(e, 0, 2)
	g := w.sandbox()
	refusing := &secondRefused{Store: g.Store}
	g.Store = refusing
	if _, err := g.Admit(t.Context(), &q); !errors.Is(err, errRefused) {
		t.Fatalf("Admit() = %v; want %v", err, errRefused)
	}
	limits, err := w.Store.Limits(t.Context(), endpoint)
	if n := limits.InFlight(w.Clock.Now()); err != nil || n != 0 {
		t.Errorf("%d slots in use, %v; want none: one taken, one refused, one given back", n, err)
	}
}
