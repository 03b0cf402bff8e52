package deliver_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/proof/world"
)

// A second after a batch begins, some of its attempts are still in flight. They count as late, and
// five in a minute make the endpoint slow.
func TestProcessBatch_CountsLateAttempts(t *testing.T) {
	t.Parallel()

	tests := []struct {
		batch, late int
		counted     int
		class       admission.Class
	}{
		{batch: 10, late: 0, counted: 0, class: admission.Fast},
		{batch: 10, late: 4, counted: 4, class: admission.Fast},
		{batch: 10, late: 5, counted: 5, class: admission.Slow},
		{batch: 1, late: 1, counted: 1, class: admission.Fast},
		{batch: 10, late: 10, counted: 10, class: admission.Slow},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d of %d", tt.late, tt.batch), func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				e := w.Endpoint(nil)
				hang := make(map[hook.DeliveryRef]bool)
				for i, id := range w.PostMany(e, tt.batch) {
					hang[id] = i < tt.late
				}
				fired := make(chan struct{})
				w.Answer = func(r send.Request) hook.Outcome {
					if ref, _ := r.Event.Ref(r.Delivery.Endpoint, r.Delivery.Generation); hang[ref] {
						<-fired
					}
					return hook.Outcome{Class: hook.ClassDelivered, Status: 200}
				}
				d := w.Deliverer()
				gateOf(d).AfterFunc = func(_ time.Duration, f func()) (stop func() bool) {
					go func() {
						defer close(fired)
						synctest.Wait() // for all attempts that do not hang
						f()
					}()
					return func() bool { return false }
				}
				var batch []deliver.Message
				for _, m := range w.Queue.Receive(hook.QueueLive, tt.batch) {
					batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Queue: hook.QueueLive})
				}
				if failed := d.ProcessBatch(w.Context(), batch); len(failed) > 0 || len(w.Posts) != tt.batch {
					t.Errorf("%d messages failed after %d POSTs; want none after %d", len(failed), len(w.Posts), tt.batch)
				}
				limits, err := w.Store.Limits(t.Context(), e.ID)
				if got := w.Circuit(e).Speed; err != nil || limits.Late != tt.counted || got != tt.class {
					t.Errorf("%d late attempts are counted, and the endpoint is %s, %v; want %d and %s", limits.Late, got, err, tt.counted, tt.class)
				}
			})
		})
	}
}

// Answers in time whose outcomes take long to be written say nothing about the endpoint.
func TestProcessBatch_SlowWritesAreNotLate(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		e := w.Endpoint(nil)
		w.PostMany(e, 10)
		fired := make(chan struct{})
		w.Calls.Fail = func(call string, _ hook.EndpointID) error {
			if call == "write delivery" {
				<-fired
			}
			return nil
		}
		d := w.Deliverer()
		gateOf(d).AfterFunc = func(_ time.Duration, f func()) (stop func() bool) {
			go func() {
				defer close(fired)
				synctest.Wait() // for all writes to begin
				f()
			}()
			return func() bool { return false }
		}
		var batch []deliver.Message
		for _, m := range w.Queue.Receive(hook.QueueLive, 10) {
			batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Queue: hook.QueueLive})
		}
		if failed := d.ProcessBatch(w.Context(), batch); len(failed) > 0 || len(w.Posts) != 10 {
			t.Errorf("%d messages failed after %d POSTs; want none after 10", len(failed), len(w.Posts))
		}
		limits, err := w.Store.Limits(t.Context(), e.ID)
		if got := w.Circuit(e).Speed; err != nil || limits.Late != 0 || got != admission.Fast {
			t.Errorf("%d late attempts are counted, and the endpoint is %s, %v; want none and fast", limits.Late, got, err)
		}
	})
}

// slowVault takes longer than a late request.
type slowVault struct{ attempt.Vault }

func (v slowVault) Open(ctx context.Context, sealed []byte, tenant hook.TenantID, endpoint hook.EndpointID) (string, error) {
	time.Sleep(2 * admission.LateAfter)
	return v.Vault.Open(ctx, sealed, tenant, endpoint)
}

// Secrets that take long to be opened say nothing about the endpoint.
func TestProcessBatch_SlowSecretsAreNotLate(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		e := w.Endpoint(nil)
		w.Post(e)
		d := w.Deliverer()
		maker, _ := d.Attempts.(*attempt.Maker)
		maker.Vault = slowVault{maker.Vault}
		gateOf(d).AfterFunc = nil // by the clock of the test
		if failed := d.ProcessBatch(w.Context(), batchOf(w.Queue.Receive(hook.QueueLive, 1)...)); failed != nil || len(w.Posts) != 1 {
			t.Errorf("%d messages failed after %d POSTs; want none after 1", len(failed), len(w.Posts))
		}
		limits, err := w.Store.Limits(t.Context(), e.ID)
		if got := w.Circuit(e).Speed; err != nil || limits.Late != 0 || got != admission.Fast {
			t.Errorf("%d late attempts are counted, and the endpoint is %s, %v; want none and fast", limits.Late, got, err)
		}
	})
}

// The queue overflow lags more than a claim lasts, and the slot is claimed anew. The task of the first claim
// makes the attempt: if it left it to the second one, that would find a third claim.
func TestSlots_AClaimExpiresBeforeItsTaskArrives(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(200)
	id, e := w.parkedAtOneSlot()
	d := w.Deliverer()
	claim := func() memory.Message {
		if n, err := gateOf(d).Fill(t.Context(), e, w.Circuit(e)); n != 1 || err != nil {
			t.Fatalf("Fill() = %d, %v; want a claim", n, err)
		}
		return w.Queue.Receive(hook.QueueOverflow, 1)[0]
	}
	first := claim()
	w.Clock.Pass(admission.LeaseFor)
	second := claim()
	process := func(m memory.Message) []string {
		return d.ProcessBatch(w.Context(), []deliver.Message{{ID: m.ID, Body: m.Body, Queue: hook.QueueOverflow}})
	}
	if failed := process(first); failed != nil || len(w.Posts) != 1 || w.Delivery(id).State != hook.StateDelivered {
		t.Errorf("the first task: %v after %d POSTs, and the delivery is %s; want it delivered", failed, len(w.Posts), w.Delivery(id).State)
	}
	if failed := process(second); failed != nil || len(w.Posts) != 1 {
		t.Errorf("the second task: %v after %d POSTs; want it dropped", failed, len(w.Posts))
	}
	if limits, err := w.Store.Limits(t.Context(), e.ID); err != nil || limits.InFlight(w.Clock.Now()) != 0 {
		t.Errorf("%d slots in use, %v; want none", limits.InFlight(w.Clock.Now()), err)
	}
}

// The last slot is given back after the gate's decision and before the delivery is parked. The
// delivery gets the slot at once, before the breaker runs.
func TestSlots_FillsAfterParking(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.MaxInFlight = 1 })
	none, taken := admission.Limits{}, admission.Limits{}.Begin(admission.Held{Key: "other", Lease: admission.Lease{Nonce: "n", Until: start.Add(time.Minute)}})
	taken.Most = 1
	change := func(before, after admission.Limits) {
		if err := w.Store.ChangeLimits(t.Context(), e.ID, before, after); err != nil {
			t.Fatal(err)
		}
	}
	change(none, taken)
	id := w.Post(e)[0]
	w.Calls.Before("write delivery", func() { change(taken, none) })
	w.InvokeAll()
	if d := w.Delivery(id); d.State != hook.StateDelivered || d.Parks != 1 {
		t.Errorf("delivery is %s after %d parks; want it delivered after one", d.State, d.Parks)
	}
	if len(w.Posts) != 1 {
		t.Errorf("%d POSTs; want one", len(w.Posts))
	}
}

// parkedAtOneSlot returns a parked delivery, and its endpoint, which has one in-flight slot.
func (w *bundle) parkedAtOneSlot() (hook.DeliveryRef, hook.Endpoint) {
	w.T.Helper()

	id, _ := w.parkedMessage()
	e, err := w.Store.Endpoint(w.T.Context(), "acme", id.Endpoint)
	if err != nil {
		w.T.Fatal(err)
	}
	e.MaxInFlight = 1
	if err := w.Store.UpdateEndpoint(w.T.Context(), e); err != nil {
		w.T.Fatal(err)
	}
	return id, e
}

// brokenVault opens no secret.
type brokenVault struct{ opened int }

func (v *brokenVault) Open(context.Context, []byte, hook.TenantID, hook.EndpointID) (string, error) {
	v.opened++
	return "", world.ErrThrottled
}

// An attempt that fails for a reason of ours, with or without its request, does not go round at once: its slot waits
// for its message, which comes again.
func TestSlots_AFailureOfOursKeepsTheSlot(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		disturb func(w *bundle, d *deliver.Deliverer)
		posts   int
	}{
		{name: "no secret", disturb: func(_ *bundle, d *deliver.Deliverer) {
			d.Attempts.(*attempt.Maker).Vault = &brokenVault{} //nolint:forcetypeassert,errcheck // a panic names the type
		}},
		{name: "no write", posts: 1, disturb: func(w *bundle, _ *deliver.Deliverer) {
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if call == "write delivery" {
					return world.ErrThrottled
				}
				return nil
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(200)
			id, e := w.parkedAtOneSlot()
			d := w.Deliverer()
			tt.disturb(w, d)
			if n, err := gateOf(d).Fill(t.Context(), e, w.Circuit(e)); n != 1 || err != nil {
				t.Fatalf("Fill() = %d, %v; want a claim", n, err)
			}
			failed := 0
			process := func(m memory.Message) {
				failed += len(d.ProcessBatch(w.Context(), []deliver.Message{{ID: m.ID, Body: m.Body, Queue: hook.QueueOverflow}}))
			}
			messages := w.Queue.Receive(hook.QueueOverflow, 1)
			process(messages[0])
			for range 10 {
				for _, m := range w.Queue.Receive(hook.QueueOverflow, 1) {
					process(m)
				}
			}
			if failed != 1 || len(w.Posts) != tt.posts {
				t.Errorf("%d tasks failed after %d POSTs; want 1 after %d", failed, len(w.Posts), tt.posts)
			}
			w.Calls.Fail = nil
			d.Attempts = w.Deliverer().Attempts
			if process(messages[0]); failed != 1 || w.Delivery(id).State != hook.StateDelivered {
				t.Errorf("the message comes again: %d failures, and the delivery is %s; want it delivered", failed, w.Delivery(id).State)
			}
			if limits, err := w.Store.Limits(t.Context(), e.ID); err != nil || limits.InFlight(w.Clock.Now()) != 0 {
				t.Errorf("%d slots in use, %v; want none", limits.InFlight(w.Clock.Now()), err)
			}
		})
	}
}
