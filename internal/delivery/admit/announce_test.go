package admit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

var errBroken = errors.New("broken")

// refusing notes the gate's checks, and refuses them.
type refusing struct{ checks []string }

func (q *refusing) Enqueue(_ context.Context, c hook.CircuitCheck, delay time.Duration) error {
	q.checks = append(q.checks, queuedCheck(c.Wave, delay))
	return errBroken
}

// A transition asks for a check at once. If the queue refuses the check, the record makes the tick check
// the endpoint, and keeps what the owner is to be told: the failures that opened the circuit, and the length of the
// outage.
func TestGate_RefusedChecksLoseNoTransition(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.settle(w.admit(w.query(active(), 0, 3)), hook.ClassDelivered, hook.ClassDelivered, hook.ClassDNS)
	q := &refusing{}
	w.Gate.CircuitQueue = q
	failed := make([]admission.Result, 5)
	for i := range failed {
		failed[i] = admission.Result{Attempt: stats.Attempt{Class: hook.ClassDNS}}
	}
	opened := w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 5)), failed)
	w.Clock.Until(start.Add(hook.DefaultCooldown))
	closed := w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 2)), []admission.Result{{Attempt: stats.Attempt{Class: hook.ClassDelivered}}})
	if !errors.Is(opened, errBroken) || !errors.Is(closed, errBroken) {
		t.Errorf("Learn() = %v, %v; want the error of the queue twice", opened, closed)
	}
	if diff := cmp.Diff([]string{queuedCheck(0, 0), queuedCheck(1, 0)}, q.checks); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
	r := w.record()
	if r.State != circuit.Closed || r.Wave != 1 || !r.AttendAt.Equal(w.Clock.Now().Add(admission.AttendAfter)) {
		t.Errorf("record = %+v; want wave 1, and AttendAt in %s", r, admission.AttendAfter)
	}
	want := []hook.Notification{
		{
			Tenant: tenant, Endpoint: endpoint, Reason: "Deliveries to the endpoint keep failing. Further deliveries are parked until a probe succeeds.",
			Type: hook.NotificationOpened, At: start, Key: hook.NotificationOpened + "/" + string(endpoint) + "/1",
			Figures: map[string]float64{"failures": 6, "failed_10m": 6, "attempts_10m": 8, "cooldown_s": 10},
		},
		{ // true whatever the answer was, and whether it was that of a probe or of a test event
			Tenant: tenant, Endpoint: endpoint, Reason: "The endpoint answers again. Parked deliveries follow now, unless it answered 429, or is paused or disabled.",
			Type: hook.NotificationClosed, At: w.Clock.Now(), Key: hook.NotificationClosed + "/" + string(endpoint) + "/2",
			Figures: map[string]float64{"open_s": 10},
		},
	}
	var got []hook.Notification
	for _, transition := range r.Untold.All() {
		got = append(got, r.Announcement(transition))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
}
