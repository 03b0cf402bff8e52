package replay_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// Operators cannot find an expired event, even if the table has not removed its records yet.
func TestExpiredEvent_IsNotFound(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.one(w.Endpoint(nil), hook.StateQueued, "order.paid", start)
	w.Clock.Until(start.Add(world.Retention))
	if _, err := w.Replayer().Cancel(w.Context(), "acme", id.DeliveryID, "key_a", ""); hook.CodeOf(err) != hook.CodeNotFound {
		t.Errorf("Cancel() = %v; want not found", err)
	}
}
