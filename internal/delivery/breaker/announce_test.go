package breaker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/stats"
	"surehook.example/surehook/proof/world"
)

var errLost = &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}

// faults are the faults of a gate that changes a circuit. It is the gate's store and notifier.
type faults struct {
	admit.Store
	*memory.Notifications

	lost     bool // the answers of its writes are lost for good
	unsaid   bool // the notification fails
	unmarked bool // the write after the notification fails

	said bool
}

func (f *faults) SaveCircuit(ctx context.Context, r admission.Record) error {
	if f.unmarked && f.said {
		return errLost
	}
	err := f.Store.SaveCircuit(ctx, r)
	if f.lost {
		return errors.Join(err, errLost)
	}
	return err
}

func (f *faults) Notify(ctx context.Context, n hook.Notification) error {
	if f.unsaid {
		return errLost
	}
	f.said = true
	return f.Notifications.Notify(ctx, n)
}

// settle admits a delivery of the endpoint, and reports its outcome to a gate with the faults.
func (w *bundle) settle(e hook.Endpoint, class hook.Class, now faults) {
	w.T.Helper()

	g := &admit.Gate{Releaser: admit.Releaser{Store: w.Store, CircuitQueue: w.CircuitQueue, Now: w.Clock.Now, Wait: world.NoWait}, Notifier: w.Notifications, Shares: world.Shares}
	q := admission.Query{Endpoint: &e, State: admission.State{Record: w.Circuit(e)}}
	if q.Record.Speed == admission.Unproven {
		q.Record.Speed, q.Record.SeenAt = admission.Fast, w.Clock.Now()
	}
	q.Due = []admission.Due{{Delivery: hook.DeliveryID{Event: hook.KeyedEventID(e.Tenant, "a"), Endpoint: e.ID, Generation: 1}, Attempt: 1, Nonce: "n"}}
	a, err := g.Ask(w.T.Context(), q)
	if err != nil || a.Answer.Verdicts[0].Decision != admission.Admit {
		w.T.Fatalf("Ask() = %v, %v; want admit", a.Answer.Verdicts, err)
	}
	now.Store, now.Notifications = w.Store, w.Notifications
	g.Store, g.Notifier = &now, &now
	_ = g.Learn(w.T.Context(), a.Answer, []admission.Result{{Attempt: stats.Attempt{Class: class, Number: 1}}}) // as in deliver: logged
}

// fail5 lets five attempts fail in a row; the last is settled with the faults.
func (w *bundle) fail5(e hook.Endpoint, last faults) {
	w.T.Helper()

	for range 4 {
		w.settle(e, hook.ClassDNS, faults{})
	}
	w.settle(e, hook.ClassDNS, last)
}

// The owner is told that a circuit opened, and that it closed, even if the gate never learns that its
// write took effect, or dies before the notification. What may have been sent comes again under
// its key.
func TestTick_AnnouncesWhatTheGateMayNotHave(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		now  faults
		sent int // of each notification
	}{
		{name: "as usual", sent: 1},
		{name: "the answer of the write is lost", now: faults{lost: true}, sent: 1},
		{name: "the notification fails", now: faults{unsaid: true}, sent: 1},
		{name: "the write after the notification fails", now: faults{unmarked: true}, sent: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			tick := func() {
				w.T.Helper()
				if err := w.Breaker().Tick(w.Context()); err != nil {
					t.Errorf("Tick() = %v", err)
				}
			}
			w.fail5(e, tt.now)
			opened := w.Clock.Now()
			tick()
			w.Clock.Pass(admission.AttendAfter)
			tick()
			tick() // once is enough
			closed := w.Clock.Now()
			w.settle(e, hook.ClassDelivered, tt.now)
			w.Clock.Pass(admission.AttendAfter)
			tick()
			tick()

			type told struct {
				Type, Key string
				At        time.Time
			}
			var got, want []told
			for _, n := range w.Notifications.Sent() {
				got = append(got, told{n.Type, n.Key, n.At})
			}
			for range tt.sent {
				want = append(want, told{hook.NotificationOpened, hook.NotificationOpened + "/" + string(e.ID) + "/1", opened})
			}
			for range tt.sent {
				want = append(want, told{hook.NotificationClosed, hook.NotificationClosed + "/" + string(e.ID) + "/2", closed})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("notifications differ (-want +got):\n%s", diff)
			}
			if r := w.Circuit(e); !r.AnnounceAt.IsZero() || !r.AttendAt.IsZero() {
				t.Errorf("record = %+v; want nothing to announce or to attend", r)
			}
		})
	}
}

// A check that tells the owner sends no second task while a probe is on its way.
func TestTick_AnnouncesBesideAProbe(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown = 10 * time.Second })
	w.park(e, ages(1)...)
	w.fail5(e, faults{lost: true})
	for _, at := range []struct {
		pass        time.Duration
		tasks, told int
	}{{20 * time.Second, 1, 0}, {20 * time.Second, 0, 0}, {25 * time.Second, 0, 1}, {15 * time.Second, 1, 1}} {
		w.Clock.Pass(at.pass)
		if err := w.Breaker().Tick(w.Context()); err != nil {
			t.Fatal(err)
		}
		sent := w.Queue.Receive(hook.QueueRetry, 10)
		for _, m := range sent {
			w.Queue.Delete(m.ID)
		}
		tasks, told := len(sent), len(w.Notifications.Sent())
		if tasks != at.tasks || told != at.told {
			t.Errorf("%s later there are %d tasks and %d notifications; want %d and %d", at.pass, tasks, told, at.tasks, at.told)
		}
	}
}

// A circuit that closes before the tick has announced its opening announces both.
func TestTick_AnnouncesTheTransitionBefore(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown = 10 * time.Second })
	w.fail5(e, faults{lost: true})
	w.Clock.Pass(30 * time.Second)
	w.settle(e, hook.ClassDelivered, faults{})
	var got []string
	for _, n := range w.Notifications.Sent() {
		got = append(got, n.Type)
	}
	if diff := cmp.Diff([]string{hook.NotificationOpened, hook.NotificationClosed}, got); diff != "" {
		t.Errorf("notifications differ (-want +got):\n%s", diff)
	}
}

// Nobody is told of the circuit of a deleted endpoint, and the tick forgets it.
func TestTick_AnnouncesNothingOfADeletedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	w.fail5(e, faults{lost: true})
	record := w.Circuit(e)
	if err := w.Store.DeleteEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	record.Version = w.Circuit(e).Version // a record that outlived the endpoint
	if err := w.Store.SaveCircuit(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	w.Clock.Pass(admission.AttendAfter)
	if err := w.Breaker().Tick(w.Context()); err != nil {
		t.Errorf("Tick() = %v", err)
	}
	if r := w.Circuit(e); len(w.Notifications.Sent()) > 0 || !r.AnnounceAt.IsZero() {
		t.Errorf("notifications %v, and record %+v; want none", w.Notifications.Sent(), r)
	}
}

// A check decides again if the gate has changed the record meanwhile: the owner is told once, and without
// time left, the message comes again.
func TestReconcile_DecidesAgain(t *testing.T) {
	t.Parallel()

	for name, left := range map[string]time.Duration{"in time": time.Minute, "without time": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			w.fail5(e, faults{unsaid: true})
			w.Clock.Pass(admission.AttendAfter)
			ctx := endingContext{w.Context(), w.Clock.Now().Add(20 * time.Second)}
			w.Calls.Before("write circuit", func() {
				if err := w.Store.SaveCircuit(t.Context(), w.Circuit(e)); err != nil {
					t.Error(err)
				}
				w.Clock.Pass(20*time.Second - min(left, 20*time.Second))
			})
			err := w.Breaker().Reconcile(ctx, hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID})
			if late := left < 10*time.Second; (err != nil) != late {
				t.Errorf("Reconcile() = %v; want an error: %t", err, late)
			}
			if n := len(w.Notifications.Sent()); n != 1 {
				t.Errorf("%d notifications; want one", n)
			}
		})
	}
}
