package admit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

func TestFill_ClaimsTheFreeSlots(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(e *hook.Endpoint, r *admission.Record)
		leases []time.Duration // until their end, of other deliveries
		slots  int             // opened by the answers; 0: none came yet
		parked int
		sent   string
	}{
		{name: "a new endpoint", parked: 9, sent: "0 1 2 3 4"},
		{name: "fewer deliveries than slots", parked: 3, sent: "0 1 2"},
		{name: "no delivery"},
		{name: "slots in use", leases: []time.Duration{time.Minute, time.Minute, time.Minute}, parked: 9, sent: "0 1"},
		{name: "all slots in use", leases: slices.Repeat([]time.Duration{time.Minute}, 5), parked: 9},
		{name: "more slots in use than the endpoint has", leases: slices.Repeat([]time.Duration{time.Minute}, 7), parked: 9},
		{name: "leases that end now and in a moment", leases: []time.Duration{0, time.Millisecond, time.Millisecond}, parked: 9, sent: "0 1 2"},
		{name: "a limit below the leases", change: func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 2 }, leases: []time.Duration{time.Minute, time.Minute, time.Minute}, parked: 9},
		{name: "a limit", change: func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 7 }, slots: 8, parked: 9, sent: "0 1 2 3 4 5 6"},
		{name: "a limit, before the first answer", change: func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 7 }, parked: 9, sent: "0 1 2 3 4"},
		{name: "slots opened by the answers", slots: 8, parked: 9, sent: "0 1 2 3 4 5 6 7"},
		{name: "slots closed by failures", slots: 2, parked: 9, sent: "0 1"},
		{name: "after an outage", change: func(_ *hook.Endpoint, r *admission.Record) { r.ClosedAt = start }, parked: 9, sent: "0"},
		{name: "after an outage, some answers later", change: func(_ *hook.Endpoint, r *admission.Record) { r.ClosedAt = start }, slots: 4, parked: 9, sent: "0 1 2 3"},
		{name: "a fast endpoint with a limit", change: func(e *hook.Endpoint, r *admission.Record) { e.MaxInFlight = 2; fast(r) }, parked: 9, sent: "0 1"},
		{name: "a fast endpoint without limits: in waves", change: func(_ *hook.Endpoint, r *admission.Record) { fast(r) }, parked: 9},
		{name: "a slow endpoint", change: func(_ *hook.Endpoint, r *admission.Record) { r.Speed = admission.Slow }, parked: 9, sent: "0 1 2 3 4"},
		{name: "a paused endpoint", change: func(e *hook.Endpoint, _ *admission.Record) { e.Status = hook.StatusPaused }, parked: 9},
		{name: "a disabled endpoint", change: func(e *hook.Endpoint, _ *admission.Record) { e.Status = hook.StatusDisabled }, parked: 9},
		{name: "an open circuit", change: func(_ *hook.Endpoint, r *admission.Record) { open(r) }, parked: 9},
		{name: "a half-open circuit", change: func(_ *hook.Endpoint, r *admission.Record) { open(r); r.State = circuit.HalfOpen }, parked: 9},
		{name: "a throttle", change: func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = start.Add(time.Millisecond) }, parked: 9},
		{name: "a throttle that ends now", change: func(_ *hook.Endpoint, r *admission.Record) { r.ThrottledUntil = start }, parked: 9, sent: "0 1 2 3 4"},
		{name: "nothing is known to wait", change: func(_ *hook.Endpoint, r *admission.Record) { r.Waiting = false }, parked: 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setupSlots(t, tt.change)
			w.park(make([]int, tt.parked)...)
			if tt.slots > 0 {
				w.open(tt.slots)
			}
			live := 0
			for i, left := range tt.leases {
				if w.lease(-1-i, left); left > 0 {
					live++
				}
			}
			released, err := w.fill()
			if err != nil || w.sent() != tt.sent || released != len(w.queue.sent) {
				t.Errorf("Fill() = %d, %v, and sent %q; want %q", released, err, w.sent(), tt.sent)
			}
			if got := w.leased(); got != live+released {
				t.Errorf("%d leases; want %d", got, live+released)
			}
		})
	}
}

// The slots of a wide endpoint are claimed in parts: a write has a limited size.
func TestFill_ClaimsInParts(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = hook.MaxMaxInFlight })
	w.park(make([]int, admission.MaxClaims+10)...)
	w.open(hook.MaxMaxInFlight)
	if released, err := w.fill(); released != admission.MaxClaims || err != nil {
		t.Fatalf("Fill() = %d, %v; want %d", released, err, admission.MaxClaims)
	}
	key := admission.LeaseKey(w.parked[0].ID)
	if err := w.handOver([]admission.Held{{Key: key, Lease: w.limits().Leases[key]}}); err != nil || w.leased() != len(w.parked) {
		t.Errorf("HandOver() = %v with %d leases; want %d", err, w.leased(), len(w.parked))
	}
}

// The oldest deliveries have leases, more than a page of them: the free slots are for the others.
func TestFill_LooksBehindTheLeased(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = hook.MaxMaxInFlight })
	w.park(make([]int, 57)...)
	w.open(hook.MaxMaxInFlight)
	for i := range 55 {
		w.lease(i, time.Minute)
	}
	if _, err := w.fill(); err != nil || w.sent() != "55 56" {
		t.Errorf("Fill() = %v, and sent %q; want 55 56", err, w.sent())
	}
}

// A claim is a lease with the nonce of its task, until two minutes after the time of the
// task. The delivery stays as it is.
func TestFill_ClaimsForTheTask(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight, e.RatePerSecond = 2, 2 })
	w.park(3, 3, 3)
	if released, err := w.fill(); released != 2 || err != nil {
		t.Fatalf("Fill() = %d, %v; want 2", released, err)
	}
	leases := w.limits().Leases
	for i, s := range w.queue.sent {
		d := w.parked[i]
		want := hook.Task{Delivery: d.Ref(), Tenant: d.Tenant, Attempt: 4, Nonce: s.task.Nonce, Reserved: true, Slot: true, Parks: 1}
		if diff := cmp.Diff(want, s.task); diff != "" || s.queue != hook.QueueOverflow {
			t.Errorf("task in queue %s differs (-want +got):\n%s", s.queue, diff)
		}
		at := start.Add(time.Duration(i) * time.Second / 2)
		if diff := cmp.Diff(admission.Lease{Nonce: s.task.Nonce, Until: at.Add(admission.LeaseFor)}, leases[admission.LeaseKey(d.ID)]); diff != "" {
			t.Errorf("lease differs (-want +got):\n%s", diff)
		}
		after, err := w.store.Delivery(t.Context(), d.Ref())
		if d.Version = 1; err != nil || !cmp.Equal(d, after) {
			t.Errorf("delivery = %+v, %v; want it parked as before", after, err)
		}
	}
	if w.queue.sent[0].task.Nonce == w.queue.sent[1].task.Nonce {
		t.Error("two tasks have one nonce")
	}
}

// Deliveries that always fail do not hold up others. Of the others, the oldest is first.
func TestFill_FewestAttemptsFirst(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	w.park(3, 1, 2, 1, 0, 9, 1, 0)
	if _, err := w.fill(); err != nil || w.sent() != "4 7 1 3 6" {
		t.Errorf("Fill() sent %q, %v; want 4 7 1 3 6", w.sent(), err)
	}
}

// A delivery that always fails does not hide those behind it, up to the size of the page.
func TestFill_ChoosesAmongThePage(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 })
	w.park(append(slices.Repeat([]int{5}, 49), 0, 0)...)
	if _, err := w.fill(); err != nil || w.sent() != "49" {
		t.Errorf("Fill() sent %q, %v; want the delivery without an attempt", w.sent(), err)
	}
}

func TestFill_ClaimsADeliveryOnce(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	w.park(0, 0, 0, 0)
	w.lease(1, time.Minute)
	if _, err := w.fill(w.parked[0], w.parked[1], w.parked[3]); err != nil || w.sent() != "0 2 3" {
		t.Errorf("Fill() sent %q, %v; want each delivery without a lease once", w.sent(), err)
	}
	if _, err := w.fill(w.parked...); err != nil || w.sent() != "0 2 3" {
		t.Errorf("the second Fill() sent %q, %v; want nothing more", w.sent(), err)
	}
}

// A delivery that the index does not list yet gets a slot all the same.
func TestFill_TakesDeliveriesInHand(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(_ *hook.Endpoint, r *admission.Record) { r.Waiting = false })
	w.store.Table.Around = func(_ context.Context, c *table.Call, do func() error) error {
		c.Lag = time.Hour
		return do()
	}
	w.park(0)
	if released, err := w.fill(w.parked[0]); released != 1 || err != nil || w.sent() != "0" {
		t.Errorf("Fill() = %d, %v, and sent %q; want the delivery in hand", released, err, w.sent())
	}
}

func TestFill_WaitsForRateSlots(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(e *hook.Endpoint, r *admission.Record)
		sent   string
	}{
		{
			name: "with in-flight slots at most 2 s", sent: "0 1@1s 2@2s",
			change: func(e *hook.Endpoint, _ *admission.Record) { e.RatePerSecond = 1 },
		},
		{
			name: "a rate slot right after 2 s", sent: "0",
			change: func(e *hook.Endpoint, _ *admission.Record) { e.RatePerSecond = 0.4999 },
		},
		{
			name: "without in-flight slots at most a minute", sent: "0 1@20s 2@40s 3@1m0s",
			change: func(e *hook.Endpoint, r *admission.Record) { e.RatePerSecond = 0.05; fast(r) },
		},
		{
			name: "whole seconds, rounded up", sent: "0 1@1s 2@1s 3@2s 4@2s",
			change: func(e *hook.Endpoint, _ *admission.Record) { e.RatePerSecond = 2 },
		},
		{
			name: "as many at a time as the rate, and those within half a second now", sent: "0 1 2 3 4 5 6 7 8 9 10@1s 11@1s 12@1s 13@1s 14@1s 15@1s 16@1s 17@1s 18@1s 19@1s",
			change: func(e *hook.Endpoint, r *admission.Record) { e.RatePerSecond = 20; fast(r) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setupSlots(t, tt.change)
			w.park(make([]int, 30)...)
			if _, err := w.fill(); err != nil || w.sent() != tt.sent {
				t.Errorf("Fill() sent %q, %v; want %q", w.sent(), err, tt.sent)
			}
		})
	}
}

// A refused task is not counted. Its claim stays until the lease ends, and then the delivery
// gets another slot.
func TestFill_RefusedTask(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, nil)
	w.park(0, 0, 0)
	w.queue.refuse = w.parked[1].Ref()
	released, err := w.fill()
	if released != 2 || !errors.Is(err, errDown) || w.sent() != "0 2" || w.leased() != 3 {
		t.Errorf("Fill() = %d, %v, sent %q with %d leases; want 2 and the refusal", released, err, w.sent(), w.leased())
	}
	w.queue.refuse = hook.DeliveryRef{}
	w.clock.Pass(admission.LeaseFor - 1)
	if _, err := w.fill(); err != nil || w.sent() != "0 2" {
		t.Errorf("before the end of the claims Fill() sent %q, %v; want nothing more", w.sent(), err)
	}
	w.clock.Pass(1)
	if _, err := w.fill(); err != nil || w.sent() != "0 2 0 1 2" {
		t.Errorf("after the end of the claims Fill() sent %q, %v; want all three", w.sent(), err)
	}
}

func TestFill_FailingStoreSendsNothing(t *testing.T) {
	t.Parallel()

	for _, call := range []string{"read limits", "list parked", "write limits"} {
		w := setupSlots(t, nil)
		w.park(0)
		w.down(call)
		if released, err := w.fill(); released != 0 || !errors.Is(err, errDown) || w.sent() != "" {
			t.Errorf("%s fails: Fill() = %d, %v, and sent %q; want the error", call, released, err, w.sent())
		}
	}
}

// With all slots in use, or nothing waiting, the index is not read.
func TestFill_WithoutAFreeSlotReadsNoIndex(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 1 })
	w.park(0)
	w.lease(-1, time.Minute)
	if _, err := w.fill(); err != nil || w.world.Calls.Of("list parked") > 0 {
		t.Errorf("Fill() = %v after %v; want no list of parked deliveries", err, w.world.Calls.Own())
	}
}

// Another process claims a delivery between the read and the write, 19 times. After the
// twentieth conflict Fill gives up.
func TestFill_MeetsOtherWriters(t *testing.T) {
	t.Parallel()

	for _, conflicts := range []int{19, 20} {
		w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 21 })
		w.park(make([]int, 30)...)
		w.open(21)
		n := 0
		w.world.Calls.Fail = func(call string, _ hook.EndpointID) error {
			if call != "write limits" {
				return nil
			}
			if n++; n <= conflicts {
				other := w.limits()
				held := admission.Held{Key: admission.LeaseKey(w.parked[n-1].ID), Lease: admission.Lease{Nonce: "other", Until: start.Add(time.Minute)}}
				after := other.Begin(held)
				after.Most = 100
				return w.store.ChangeLimits(t.Context(), w.endpoint.ID, other, after)
			}
			return nil
		}
		released, err := w.fill()
		if conflicts == 19 && (err != nil || w.sent() != "19 20" || w.leased() != 21) {
			t.Errorf("Fill() = %d, %v, and sent %q with %d leases; want the next two, and 21 leases", released, err, w.sent(), w.leased())
		}
		if conflicts == 20 && (hook.CodeOf(err) != hook.CodeUnavailable || w.sent() != "") {
			t.Errorf("Fill() = %d, %v, and sent %q; want that others were faster", released, err, w.sent())
		}
	}
}

// Many processes fill at the same time: there are never more claims than slots, and no delivery
// is claimed twice.
func TestFill_ByManyAtOnce(t *testing.T) {
	t.Parallel()

	w := setupSlots(t, func(e *hook.Endpoint, _ *admission.Record) { e.MaxInFlight = 6 })
	w.park(make([]int, 20)...)
	w.open(6)
	var others sync.WaitGroup
	record := w.record()
	for range 8 {
		others.Go(func() {
			if _, err := w.Fill(w.world.Context(), w.endpoint, record); err != nil {
				t.Errorf("Fill() = %v", err)
			}
		})
	}
	others.Wait()
	if got := w.leased(); got != 6 || w.sent() != "0 1 2 3 4 5" {
		t.Errorf("%d leases, and sent %q; want 6", got, w.sent())
	}
}
