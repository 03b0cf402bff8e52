package breaker_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestRelease_AllShards changes the number of shards while deliveries are parked: the release
// finds the deliveries in every shard, the oldest first.
func TestRelease_AllShards(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	var ids []hook.DeliveryRef
	list := ages(60)
	for i, shards := range []int{1, hook.MaxShards, 2} {
		e = e.Sharded(shards)
		if err := w.Store.UpdateEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		e.Version++
		ids = append(ids, w.park(e, list[20*i:20*i+20]...)...)
	}
	w.open(e)
	w.Run()
	if got, want := w.States(ids), "60 delivered"; got != want {
		t.Errorf("parked deliveries are %s; want %s", got, want)
	}
	if first := w.Posts[0].Ref(); first != ids[0] {
		t.Errorf("the probe is %s; want the oldest delivery, %s", first, ids[0])
	}
}

// TestReconcile_CancelsInAllShardsOfADeletedEndpoint checks all shards, because nobody knows the
// number of shards of a deleted endpoint.
func TestReconcile_CancelsInAllShardsOfADeletedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { *e = e.Sharded(hook.MaxShards) })
	ids := w.park(e, ages(40)...)
	if err := w.Store.DeleteEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, 0)
	w.Run()
	if got, want := w.States(ids), "40 cancelled endpoint_deleted"; got != want {
		t.Errorf("parked deliveries are %s; want %s", got, want)
	}
}
