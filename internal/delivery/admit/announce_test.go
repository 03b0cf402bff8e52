package admit_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/proof/world"
)

var errBroken = errors.New("broken")

// announcements records the gate's checks and notifications. Either can fail.
type announcements struct {
	checks              []string
	kinds               []string
	figures             []map[string]float64
	queueErr, noticeErr error
}

func (a *announcements) Enqueue(_ context.Context, c hook.CircuitCheck, delay time.Duration) error {
	a.checks = append(a.checks, queuedCheck(c.Wave, delay))
	return a.queueErr
}

func (a *announcements) Notify(_ context.Context, n hook.Notification) error {
	a.kinds = append(a.kinds, n.Type)
	a.figures = append(a.figures, n.Figures)
	return a.noticeErr
}

// announce makes the gate use these ports.
func (w *bundle) announce(a *announcements) {
	w.Gate = &admit.Gate{Releaser: admit.Releaser{Store: w.Store, CircuitQueue: a, Now: w.Clock.Now, Wait: world.NoWait}, Notifier: a, Shares: world.Shares}
}

// transition opens the circuit, and then closes it by a probe. It returns the errors of Learn.
func (w *bundle) transition() (opened, closed error) {
	w.T.Helper()

	failed := make([]admission.Result, 5)
	for i := range failed {
		failed[i] = admission.Result{Attempt: stats.Attempt{Class: hook.ClassDNS}}
	}
	opened = w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 5)), failed)
	w.Clock.Until(start.Add(hook.DefaultCooldown))
	closed = w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 2)), []admission.Result{{Attempt: stats.Attempt{Class: hook.ClassDelivered}}})
	return opened, closed
}

// A failing notification loses no circuit check.
func TestGate_FailingNotificationLosesNoCheck(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a := &announcements{noticeErr: errBroken}
	w.announce(a)
	opened, closed := w.transition()
	if !errors.Is(opened, errBroken) || !errors.Is(closed, errBroken) {
		t.Errorf("Learn() = %v, %v; want the error of the notification twice", opened, closed)
	}
	if diff := cmp.Diff([]string{queuedCheck(0, hook.DefaultCooldown), queuedCheck(1, 0)}, a.checks); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
}

// A refused circuit check loses no notification, and the record makes the tick check the
// endpoint.
func TestGate_RefusedCheckLosesNoNotification(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a := &announcements{queueErr: errBroken}
	w.announce(a)
	opened, closed := w.transition()
	if !errors.Is(opened, errBroken) || !errors.Is(closed, errBroken) {
		t.Errorf("Learn() = %v, %v; want the error of the queue twice", opened, closed)
	}
	if diff := cmp.Diff([]string{hook.NotificationOpened, hook.NotificationClosed}, a.kinds); diff != "" {
		t.Errorf("notifications differ (-want +got):\n%s", diff)
	}
	if r := w.record(); r.State != circuit.Closed || r.Wave != 1 || !r.AttendAt.Equal(w.Clock.Now().Add(admission.AttendAfter)) {
		t.Errorf("record = %+v; want wave 1, and AttendAt in %s", r, admission.AttendAfter)
	}
}

// The notifications carry the number of failures that opened the circuit, and the length of the
// outage.
func TestGate_AnnouncesTheFailures(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a := &announcements{}
	w.announce(a)
	w.settle(w.admit(w.query(active(), 0, 3)), hook.ClassDelivered, hook.ClassDelivered, hook.ClassDNS)
	if opened, closed := w.transition(); opened != nil || closed != nil {
		t.Fatalf("Learn() = %v, %v; want nil", opened, closed)
	}
	want := []map[string]float64{
		{"failures": 6, "failed_10m": 6, "attempts_10m": 8, "cooldown_s": 10},
		{"open_s": 10},
	}
	if diff := cmp.Diff(want, a.figures); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// What a stale record has left to announce is no fault of the write that knows better.
func TestGate_AnAnnouncedTransitionIsNotLeft(t *testing.T) {
	t.Parallel()

	w := setup(t)
	r := w.record()
	r.AnnounceAt = w.Clock.Now().Add(time.Minute)
	if err := w.Store.SaveCircuit(w.T.Context(), r); err != nil {
		t.Fatal(err)
	}
	a := &announcements{noticeErr: errBroken}
	w.announce(a)
	asked := w.admit(w.query(active(), 0, 5))
	if err := w.Store.SaveCircuit(w.T.Context(), w.record().Announced(w.Clock.Now())); err != nil {
		t.Fatal(err)
	}
	w.Calls.Before("write circuit", func() { a.noticeErr = nil })
	failed := slices.Repeat([]admission.Result{{Attempt: stats.Attempt{Class: hook.ClassDNS}}}, 5)
	if err := w.Gate.Learn(w.Context(), asked, failed); err != nil || w.record().State != circuit.Open {
		t.Errorf("Learn() = %v, and the circuit is %s; want no error, and an open circuit", err, w.record().State)
	}
}
