package breaker_test

import (
	"context"
	"errors"
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

var errLost = &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}

// unanswered is the store of a gate whose writes of circuits have no answer.
type unanswered struct{ admit.Store }

func (s unanswered) SaveCircuit(ctx context.Context, r admission.Record) error {
	return errors.Join(s.Store.SaveCircuit(ctx, r), errLost)
}

// settle admits a delivery of the endpoint, and reports its outcome to a gate, which may not learn that its
// write took effect.
func (w *bundle) settle(e hook.Endpoint, class hook.Class, lost bool) {
	w.T.Helper()

	g := &admit.Gate{Releaser: admit.Releaser{Store: w.Store, CircuitQueue: w.CircuitQueue, Now: w.Clock.Now, Wait: world.NoWait}, Shares: world.Shares}
	q := admission.Query{Endpoint: &e, State: admission.State{Record: w.Circuit(e)}}
	if q.Record.Speed == admission.Unproven {
		q.Record.Speed, q.Record.SeenAt = admission.Fast, w.Clock.Now()
	}
	q.Due = []admission.Due{{Delivery: hook.DeliveryID{Event: hook.KeyedEventID(e.Tenant, "a"), Endpoint: e.ID, Generation: 1}, Attempt: 1, Nonce: "n"}}
	a, err := g.Ask(w.T.Context(), q)
	if err != nil || a.Answer.Verdicts[0].Decision != admission.Admit {
		w.T.Fatalf("Ask() = %v, %v; want admit", a.Answer.Verdicts, err)
	}
	if lost {
		g.Store = unanswered{g.Store}
	}
	_ = g.Learn(w.T.Context(), a.Answer, []admission.Result{{Attempt: stats.Attempt{Class: class, Number: 1}}}) // as in deliver: logged
}

// fail5 lets five attempts fail in a row.
func (w *bundle) fail5(e hook.Endpoint, lost bool) {
	w.T.Helper()

	for range 4 {
		w.settle(e, hook.ClassDNS, false)
	}
	w.settle(e, hook.ClassDNS, lost)
}

// refuseNotifications lets each notification fail of which fails says so.
func (w *bundle) refuseNotifications(fails func() bool) {
	w.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == "notify" && fails() {
			return errLost
		}
		return nil
	}
}

// told returns the types of the notifications.
func (w *bundle) told() (types []string) {
	for _, n := range w.Notifications.Sent() {
		types = append(types, n.Type)
	}
	return types
}

// The owner is told that a circuit opened, and that it closed, even if the gate never learns that its
// write took effect and asks for no check, or the check fails or dies. What was sent comes again under its key.
func TestTick_AnnouncesWhateverFails(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		lost  bool   // the answer of the gate's write
		fails string // the call of the first check
		sent  int    // of each notification
	}{
		{name: "as usual", sent: 1},
		{name: "the answer of the gate's write is lost", lost: true, sent: 1},
		{name: "the notification fails", fails: "notify", sent: 1},
		{name: "the write after the notification fails", fails: "write circuit", sent: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			fails := ""
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if call == fails {
					return errLost
				}
				return nil
			}
			check := func() {
				w.T.Helper()

				if fails = tt.fails; !tt.lost {
					_ = w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID})
				}
				fails = ""
				for _, pass := range []time.Duration{0, admission.AttendAfter, 0, admission.AttendAfter} {
					w.Clock.Pass(pass)
					if err := w.Breaker().Tick(w.Context()); err != nil {
						t.Errorf("Tick() = %v", err)
					}
				}
			}
			w.fail5(e, tt.lost)
			opened := w.Clock.Now()
			check()
			closed := w.Clock.Now()
			w.settle(e, hook.ClassDelivered, tt.lost)
			check()

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
			if r := w.Circuit(e); r.Untold != (admission.Untold{}) || !r.AttendAt.IsZero() {
				t.Errorf("record = %+v; want nothing to tell or to attend", r)
			}
		})
	}
}

// A circuit that closes before a check has told of its opening has both told, in their order.
func TestTick_AnnouncesTheTransitionBefore(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown = 10 * time.Second })
	w.fail5(e, true)
	w.Clock.Pass(30 * time.Second)
	w.settle(e, hook.ClassDelivered, false)
	w.Clock.Pass(admission.AttendAfter)
	if err := w.Breaker().Tick(w.Context()); err != nil {
		t.Errorf("Tick() = %v", err)
	}
	if diff := cmp.Diff([]string{hook.NotificationOpened, hook.NotificationClosed}, w.told()); diff != "" {
		t.Errorf("notifications differ (-want +got):\n%s", diff)
	}
}

// A transition that the gate writes while a check tells of the one before is told by the next check.
func TestReconcile_LeavesALaterTransition(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown = 10 * time.Second })
	w.fail5(e, false)
	w.Clock.Pass(30 * time.Second)
	w.Calls.Before("write circuit", func() { w.settle(e, hook.ClassDelivered, false) })
	for _, want := range [][]string{
		{hook.NotificationOpened},
		{hook.NotificationOpened, hook.NotificationClosed},
		{hook.NotificationOpened, hook.NotificationClosed},
	} {
		if err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, w.told()); diff != "" {
			t.Errorf("notifications differ (-want +got):\n%s", diff)
		}
	}
}

// Nobody is told of the circuit of a deleted endpoint, and the tick forgets it.
func TestTick_AnnouncesNothingOfADeletedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	w.fail5(e, true)
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
	if r := w.Circuit(e); len(w.Notifications.Sent()) > 0 || r.Untold != (admission.Untold{}) {
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
			w.fail5(e, false)
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

// While notifications fail, the probe goes out. The owner is told as soon as notifications work.
func TestTick_ProbesWhileNobodyCanBeTold(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	w.park(e, ages(1)...)
	w.fail5(e, true)
	fails := true
	w.refuseNotifications(func() bool { return fails })
	w.Clock.Pass(2 * admission.AttendAfter)
	_ = w.Breaker().Tick(w.Context())
	if tasks := w.Queue.Receive(hook.QueueRetry, 10); len(tasks) != 1 {
		t.Errorf("%d tasks for the probe; want 1", len(tasks))
	}
	fails = false
	w.Clock.Pass(admission.AttendAfter)
	if err := w.Breaker().Tick(w.Context()); err != nil || len(w.Notifications.Sent()) != 1 {
		t.Errorf("Tick() = %v, %d notifications; want one", err, len(w.Notifications.Sent()))
	}
}

// A change by hand hides no opening of which nobody was told yet.
func TestTick_AnnouncesWhatAPersonOvertook(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(r admission.Record, now time.Time) admission.Record{
		"closed":  func(r admission.Record, now time.Time) admission.Record { return r.Reset(now) },
		"changed": func(r admission.Record, now time.Time) admission.Record { return r.Mended(true, now) },
		"opened": func(r admission.Record, now time.Time) admission.Record {
			return r.Trip(circuit.Settings{CircuitSettings: hook.CircuitSettings{}.WithDefaults()}, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			w.fail5(e, true)
			w.Clock.Pass(time.Second)
			if err := w.Store.SaveCircuit(t.Context(), change(w.Circuit(e), w.Clock.Now())); err != nil {
				t.Fatal(err)
			}
			w.Clock.Pass(admission.AttendAfter)
			err := w.Breaker().Tick(w.Context())
			if sent := w.Notifications.Sent(); err != nil || len(sent) != 1 || sent[0].Type != hook.NotificationOpened {
				t.Errorf("Tick() = %v, notifications %v; want the opening", err, sent)
			}
		})
	}
}

// While one of two notifications fails, the other is not sent again, and no message waits for a time that the tick
// checks anyway.
func TestTick_TellsEachOnce(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	w.fail5(e, true)
	w.Clock.Pass(30 * time.Second)
	w.settle(e, hook.ClassDelivered, true)
	w.Clock.Pass(admission.AttendAfter)
	fails, calls := true, 0
	w.refuseNotifications(func() bool {
		calls++
		return fails && calls > 1
	})
	for range 3 {
		_ = w.Breaker().Tick(w.Context())
		w.Clock.Pass(admission.AttendAfter)
	}
	if sent := w.Notifications.Sent(); len(sent) != 1 || sent[0].Type != hook.NotificationOpened {
		t.Errorf("notifications %v; want the opening, once", sent)
	}
	fails = false
	_ = w.Breaker().Tick(w.Context())
	if sent := w.Notifications.Sent(); len(sent) != 2 || sent[1].Type != hook.NotificationClosed {
		t.Errorf("notifications %v; want the closing, too", sent)
	}
}

// While nobody can be told, the ticks add no messages for a later time.
func TestTick_AddsNoMessageWhileNobodyCanBeTold(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Cooldown = time.Hour })
	w.park(e, ages(1)...)
	w.fail5(e, true)
	w.refuseNotifications(func() bool { return true })
	before := len(w.Checks)
	for range 3 {
		w.Clock.Pass(admission.AttendAfter)
		_ = w.Breaker().Tick(w.Context())
	}
	if got := w.Checks[before:]; len(got) > 0 {
		t.Errorf("checks %v; want none: the tick comes first", got)
	}
}
