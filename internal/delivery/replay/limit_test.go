package replay_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

func (w *bundle) limit(l hook.TenantLimits) {
	w.T.Helper()

	if err := w.Store.SetTenantLimits(w.T.Context(), "acme", l); err != nil {
		w.T.Fatal(err)
	}
}

// A job past the tenant's limit waits, and sends every delivery in the end.
func TestWork_KeepsTheLimitOfTheTenant(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 300)
	w.limit(hook.TenantLimits{ReplaysPerHour: 100})
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: replay.MaxRate}})
	w.RunFor(time.Minute)
	if n := len(w.Posts); n == 0 || n > 200 {
		t.Errorf("%d requests in the first minute; want an hour's hundred, and a page", n)
	}
	w.RunFor(3 * time.Hour)
	if got := w.states(ids, 2); got != "300 delivered" {
		t.Errorf("after three hours: %s; want 300 delivered", got)
	}
	if p := w.job(j.ID); p.State != replay.JobFinished || p.Enqueued != 300 {
		t.Errorf("the job is %s with %d deliveries; want finished with 300", p.State, p.Enqueued)
	}
}

// Nothing is sent to discard a delivery.
func TestWork_DiscardsPastTheLimit(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 3)
	w.limit(hook.TenantLimits{ReplaysPerHour: 1})
	w.start(replay.JobRequest{Terms: replay.Terms{Action: replay.ActionDiscard}})
	w.RunFor(time.Minute)
	if got := w.states(ids, 1); got != "3 discarded manual" {
		t.Errorf("within a minute: %s; want 3 discarded", got)
	}
}

// A replay by hand past the limit is refused, and changes nothing.
func TestDelivery_KeepsTheLimitOfTheTenant(t *testing.T) {
	t.Parallel()

	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, 3)
	w.limit(hook.TenantLimits{ReplaysPerHour: 2})
	for i, id := range ids {
		var err error
		if i == 0 {
			_, err = w.Replayer().Event(w.Context(), "acme", id.Event, replay.Request{})
		} else {
			_, err = w.Replayer().Delivery(w.Context(), "acme", id.DeliveryID, replay.Request{})
		}
		if refused := i == 2; (err != nil) != refused || refused && hook.CodeOf(err) != hook.CodeThrottled {
			t.Errorf("replay %d = %v; want throttled: %t", i+1, err, refused)
		}
	}
	if d := w.Delivery(ids[2]); d.Replayed.Generation != 0 {
		t.Errorf("the refused replay made generation %d", d.Replayed.Generation)
	}
	w.Clock.Pass(30 * time.Minute)
	if _, err := w.Replayer().Delivery(w.Context(), "acme", ids[2].DeliveryID, replay.Request{}); err != nil {
		t.Errorf("after half an hour: %v", err)
	}
}
