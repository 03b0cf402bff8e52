package deliver_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestProcessBatch_ReusedIdempotencyKey reuses the key of an event that has expired and is
// deleted, while the record of its delivery still exists. The second event has the same id, and
// is sent.
func TestProcessBatch_ReusedIdempotencyKey(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(nil)
	e := hook.Event{
		ID: hook.KeyedEventID(world.Tenant, "order-1"), Tenant: world.Tenant, Type: "order.paid", Payload: []byte("1"),
		Targets: []hook.Target{endpoint.Target()}, AcceptedAt: w.Clock.Now(), ExpiresAt: w.Clock.Now().Add(world.Retention),
	}
	expired := e
	expired.AcceptedAt, expired.ExpiresAt = e.AcceptedAt.Add(-world.Retention), e.AcceptedAt
	old := hook.QueuedDelivery(expired, e.Targets[0])
	old.State, old.Attempts, old.DecidedBy = hook.StateDelivered, 1, "old"
	w.Save(old)

	if err := w.Store.PutEvent(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	next := hook.QueuedDelivery(e, e.Targets[0])
	w.Enqueue(hook.QueueLive, hook.NewTask(world.Tenant, next.Ref(), 1))
	w.Enqueue(hook.QueueRetry, hook.NewTask(world.Tenant, old.Ref(), 2)) // a late task of the first event
	w.Run()

	if d := w.Delivery(next.Ref()); d.State != hook.StateDelivered || len(w.Posts) != 1 {
		t.Errorf("the delivery of the second event is %s after %d POSTs; want delivered after 1", d.State, len(w.Posts))
	}
	if d := w.Delivery(old.Ref()); d.DecidedBy != "old" || d.Version != 1 {
		t.Errorf("the delivery of the first event is %+v; want the old record", d)
	}
}

// TestProcessBatch_ChangedShards checks that a task names the shard from the acceptance of the
// event.
func TestProcessBatch_ChangedShards(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(nil)
	var refs []hook.DeliveryRef
	for _, shards := range []int{1, hook.MaxShards, 3} {
		endpoint = endpoint.Sharded(shards)
		if err := w.Store.UpdateEndpoint(t.Context(), endpoint); err != nil {
			t.Fatal(err)
		}
		endpoint.Version++
		refs = append(refs, w.PostMany(endpoint, 10)...)
	}
	w.Run()
	if got, want := w.States(refs), "30 delivered"; got != want || len(w.Posts) != 30 {
		t.Errorf("deliveries are %s after %d POSTs; want %s after 30", got, len(w.Posts), want)
	}
}

// TestProcessBatch_ReusedIdempotencyKeyWithOtherTargets has a second event of the key, with no
// delivery to the endpoint. A late task of the first event is dropped without an error.
func TestProcessBatch_ReusedIdempotencyKeyWithOtherTargets(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first := w.Event("order.paid", start, w.Endpoint(nil))
	first.AcceptedAt = start.Add(-world.Retention)
	ref, _ := first.Ref(first.Targets[0].Endpoint, 1)
	second := first
	second.ID, second.AcceptedAt, second.Targets = hook.KeyedEventID(world.Tenant, "order-1"), start, nil
	ref.Event = second.ID
	if err := w.Store.PutEvent(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	w.Enqueue(hook.QueueRetry, hook.NewTask(world.Tenant, ref, 1))
	if received, failed := w.Invoke(hook.QueueRetry); received != 1 || failed != 0 {
		t.Errorf("%d of %d tasks failed; want 0 of 1", failed, received)
	}
}
