package deliver_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/release"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// slowGate takes a second of virtual time to settle.
type slowGate struct{ deliver.Gate }

func (g slowGate) Settle(ctx context.Context, a admission.Admission, results []admission.Result) error {
	time.Sleep(time.Second)
	return g.Gate.Settle(ctx, a, results)
}

// timedReleaser records the times of the hand-overs, and counts the calls of Fill.
type timedReleaser struct {
	deliver.Releaser

	handedOver []time.Time
	fills      int
}

func (r *timedReleaser) HandOver(ctx context.Context, s release.Slots) error {
	r.handedOver = append(r.handedOver, time.Now())
	return r.Releaser.HandOver(ctx, s)
}

func (r *timedReleaser) Fill(ctx context.Context, e hook.Endpoint, record admission.Record, parked ...hook.Delivery) (int, error) {
	r.fills++
	return r.Releaser.Fill(ctx, e, record, parked...)
}

// After a success, a slot is handed over while the counts are written. After any other attempt it
// is handed over afterwards, because the counts may open the circuit or begin a throttle.
func TestProcessBatch_HandOverWaitsForAFailure(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		status int
		want   time.Duration
	}{
		{"a success hands over at once", 200, 0},
		{"a failure hands over after the counts", 503, time.Second},
		{"a throttle hands over after the counts", 429, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				w.Answer = world.Always(tt.status)
				r, began := deliverParked(t, w)
				if len(r.handedOver) != 1 || r.handedOver[0].Sub(began) != tt.want {
					t.Errorf("handed over at %v, begun at %s; want once, %s later", r.handedOver, began, tt.want)
				}
				if r.fills != 0 {
					t.Errorf("Fill was called %d times after an attempt; want 0, because no delivery was parked", r.fills)
				}
			})
		})
	}
}

// deliverParked receives a token of the lane overflow, for a parked delivery.
func deliverParked(t *testing.T, w *bundle) (r *timedReleaser, began time.Time) {
	t.Helper()

	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.MaxInFlight = 1 })
	event := w.Event("order.paid", w.Clock.Now(), endpoint)
	parked := hook.QueuedDelivery(event, endpoint.Target())
	parked.State, parked.Reason, parked.Parks = hook.StateParked, hook.ReasonInFlight, 1
	w.Save(parked)
	body, err := parked.NextToken().Encode()
	if err != nil {
		t.Fatal(err)
	}
	d := w.Deliverer()
	r = &timedReleaser{Releaser: d.Releaser}
	d.Gate, d.Releaser = slowGate{d.Gate}, r
	began = time.Now()
	if failed := d.ProcessBatch(w.Context(), []deliver.Message{{ID: "1", Body: body, Lane: hook.LaneOverflow}}); len(failed) > 0 {
		t.Fatalf("ProcessBatch() = %v; want no failed message", failed)
	}
	return r, began
}
