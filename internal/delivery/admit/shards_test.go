package admit_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// The slots of an endpoint go to deliveries of all shards that it ever had.
func TestFill_EarlierShards(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) {
		*e = e.Sharded(hook.MaxShards)
		e.MaxInFlight = 8
	})
	w.park(0, 0, 0, 0)
	if w.endpoint = w.endpoint.Sharded(1); w.parked[0].Shard+w.parked[1].Shard+w.parked[2].Shard+w.parked[3].Shard == 0 {
		t.Fatal("all deliveries are in shard 0; want some in others")
	}
	if n, err := w.fill(); err != nil || n != 4 || w.sent() != "0 1 2 3" {
		t.Errorf("Fill() = %d, %v, sends %q; want all four deliveries", n, err, w.sent())
	}
}
