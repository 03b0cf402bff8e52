package breaker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// brokenLetters refuse the letters of some deliveries, which so cannot end.
type brokenLetters struct {
	breaker.DeadLetters

	mu     sync.Mutex
	broken map[hook.DeliveryRef]error
	before func() // each letter; nil: nothing
	calls  int
}

func (s *brokenLetters) Send(ctx context.Context, letter hook.DeadLetter) error {
	s.mu.Lock()
	err := s.broken[letter.Delivery]
	s.calls++
	s.mu.Unlock()
	if s.before != nil {
		s.before()
	}
	if err != nil {
		return err
	}
	return s.DeadLetters.Send(ctx, letter)
}

// breakLetters returns a breaker that cannot end the deliveries.
func (w *bundle) breakLetters(err error, ids ...hook.DeliveryRef) (*breaker.Breaker, *brokenLetters) {
	b := w.Breaker()
	s := &brokenLetters{DeadLetters: b.DeadLetters, broken: make(map[hook.DeliveryRef]error)}
	for _, id := range ids {
		s.broken[id] = err
	}
	b.DeadLetters = s
	return b, s
}

// One expired delivery cannot be ended. The check goes on with the other deliveries,
// and returns the error.
func TestReconcile_GoesOnAfterAFailingDelivery(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name     string
		err      error
		record   func(r admission.Record) admission.Record
		endpoint func(e *hook.Endpoint)
		wave     int
		expired  int
		broken   []int // of the expired deliveries
		waiting  int
		states   string
		decision string
		tasks    int
		checks   int
		attendIn time.Duration
		silent   bool // the check returns no error
	}{
		{name: "a probe", err: errBroken, record: open(0, 0), expired: 3, broken: []int{0}, waiting: 2, states: "2 dead expired, 3 parked circuit_open", decision: "probe", tasks: 1, attendIn: time.Minute},
		{name: "a wave", err: errBroken, record: closed(2, 0), wave: 2, expired: 3, broken: []int{1}, waiting: 3, states: "2 dead expired, 2 parked circuit_open, 2 retrying", decision: "release", tasks: 2, checks: 1, attendIn: time.Minute},
		{name: "a wave after a conflict of the settlement", err: hook.Conflict("changed"), record: closed(2, 0), wave: 2, expired: 1, broken: []int{0}, waiting: 3, states: "2 parked circuit_open, 2 retrying", decision: "release", tasks: 2, checks: 1, attendIn: time.Minute},
		{name: "a stale wave: the check of the next wave reports", err: errBroken, record: closed(3, time.Minute), wave: 2, expired: 1, broken: []int{0}, waiting: 1, states: "2 parked circuit_open", decision: "stale", attendIn: time.Minute, silent: true},
		{name: "before the probe: the failed message returns, so no other check", err: errBroken, record: open(time.Hour, time.Hour), expired: 2, broken: []int{0}, waiting: 1, states: "1 dead expired, 2 parked circuit_open", decision: "await", attendIn: time.Minute},
		{name: "a paused endpoint", err: errBroken, record: closed(0, 0), endpoint: func(e *hook.Endpoint) { e.Status = hook.StatusPaused }, expired: 2, broken: []int{1}, waiting: 1, states: "1 dead expired, 2 parked circuit_open", decision: "rest", attendIn: time.Minute},
		{name: "a throttled endpoint", err: errBroken, record: throttled(time.Hour, closed(2, 0)), wave: 2, expired: 2, broken: []int{0}, waiting: 1, states: "1 dead expired, 2 parked circuit_open", decision: "throttled", attendIn: time.Minute},
		{name: "only the failing delivery is left: the endpoint is not forgotten", err: errBroken, record: empty(2*time.Minute, closed(0, 0)), expired: 1, broken: []int{0}, states: "1 parked circuit_open", decision: "failed", attendIn: time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(tt.endpoint)
			ids := w.park(e, append(expired(tt.expired), ages(tt.waiting)...)...)
			w.record(e, tt.record)
			var broken []hook.DeliveryRef
			for _, i := range tt.broken {
				broken = append(broken, ids[i])
			}
			b, _ := w.breakLetters(tt.err, broken...)
			err := b.Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: tt.wave})
			if !tt.silent && !errors.Is(err, tt.err) || tt.silent && err != nil {
				t.Errorf("Reconcile() = %v; want the error of the delivery: %t", err, !tt.silent)
			}
			if got := w.States(ids); got != tt.states {
				t.Errorf("deliveries are %s; want %s", got, tt.states)
			}
			if got := w.attended("decision")[0]; got != tt.decision {
				t.Errorf("decision is %v; want %s", got, tt.decision)
			}
			tasks := w.Queue.Receive(hook.QueueRetry, 10)
			for _, task := range tasks {
				if task.Task.Delivery == broken[0] {
					t.Errorf("a task of the failing delivery is sent; want only tasks of the others")
				}
			}
			if len(tasks) != tt.tasks || len(w.Checks) != tt.checks {
				t.Errorf("%d tasks and %d circuit checks; want %d and %d", len(tasks), len(w.Checks), tt.tasks, tt.checks)
			}
			r := w.Circuit(e)
			if !r.AttendAt.Equal(start.Add(tt.attendIn)) || !r.Waiting || !r.EmptySince.IsZero() {
				t.Errorf("record = %+v; want Waiting, AttendAt in %s", r, tt.attendIn)
			}
		})
	}
}

// panicking panics at the letter of one delivery.
type panicking struct {
	breaker.DeadLetters

	at hook.DeliveryRef
}

func (p panicking) Send(ctx context.Context, letter hook.DeadLetter) error {
	if letter.Delivery == p.at {
		panic("bad")
	}
	return p.DeadLetters.Send(ctx, letter)
}

// A panic about one of several expired deliveries becomes an error of the check, so that the
// other endpoints of the tick and the other messages of the batch are still processed.
func TestReconcile_PanicOfADelivery(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, expired(5)...)
	w.record(e, closed(0, 0))
	b := w.Breaker()
	b.DeadLetters = panicking{b.DeadLetters, ids[1]} // of the deliveries that are ended at the same time
	if err := b.Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err == nil || !strings.Contains(err.Error(), "panic: bad") {
		t.Errorf("Reconcile() = %v; want the panic", err)
	}
	if got, want := w.States(ids), "4 dead expired, 1 parked circuit_open"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
}

// A check takes a minute and meets a fault. The next check is due a minute after its end: an
// earlier one would find the probe's task missing and send another.
func TestReconcile_ASlowFaultSendsOneProbe(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	bad := w.park(e, expired(1)...)
	w.park(e, ages(2)...)
	w.record(e, open(0, 0))
	b, s := w.breakLetters(errBroken, bad...)
	s.before = func() { w.Clock.Pass(time.Minute) }
	if err := b.Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); !errors.Is(err, errBroken) {
		t.Errorf("Reconcile() = %v; want the error of the delivery", err)
	}
	s.before = nil
	if want := start.Add(2 * time.Minute); !w.Circuit(e).AttendAt.Equal(want) {
		t.Errorf("AttendAt = %s; want %s, a minute after the check", w.Circuit(e).AttendAt, want)
	}
	_ = b.Tick(w.Context()) // returns the delivery's error, if the check is due
	if n := len(w.Queue.Receive(hook.QueueRetry, 10)); n != 1 {
		t.Errorf("%d tasks for the probe; want 1", n)
	}
}

// slowList takes a minute to list parked deliveries.
type slowList struct {
	breaker.Store

	pass func(d time.Duration)
}

func (s slowList) Parked(ctx context.Context, target hook.Target, since time.Time, limit int, but admit.Except) ([]hook.Delivery, error) {
	s.pass(time.Minute)
	return s.Store.Parked(ctx, target, since, limit, but)
}

// Reading takes a check several minutes. The next check is due a minute after that, so it does
// not send another probe at once.
func TestReconcile_SlowReadsSendOneProbe(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	w.park(e, ages(2)...)
	w.record(e, open(0, 0))
	b := w.Breaker()
	b.Store = slowList{Store: b.Store, pass: w.Clock.Pass}
	if err := b.Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
		t.Fatal(err)
	}
	if want := w.Clock.Now().Add(time.Minute); !w.Circuit(e).AttendAt.Equal(want) {
		t.Errorf("AttendAt = %s; want %s, a minute after the reads", w.Circuit(e).AttendAt, want)
	}
}

// Some of many expired deliveries cannot be ended. One check tries each of them once, and ends
// the others.
func TestReconcile_EndsManyBesideFailingDeliveries(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name          string
		expired       int
		broken        int // the oldest of the expired deliveries
		calls         int
		states        string
		decision      string
		tasks, checks int
	}{
		{name: "a full page fails", expired: 250, broken: 120, calls: 250, states: "130 dead expired, 120 parked circuit_open, 1 retrying", decision: "release", tasks: 1, checks: 1},
		{name: "more than one check may end", expired: 700, broken: 120, calls: 501, states: "381 dead expired, 320 parked circuit_open", decision: "end_more"},
		{name: "all fail", expired: 520, broken: 520, calls: 501, states: "520 parked circuit_open, 1 retrying", decision: "release", tasks: 1, checks: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(nil)
			ids := w.park(e, append(expired(tt.expired), time.Second)...)
			w.record(e, closed(1, 0))
			b, s := w.breakLetters(errBroken, ids[:tt.broken]...)
			if err := b.Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: 1}); !errors.Is(err, errBroken) {
				t.Errorf("Reconcile() = %v; want the errors of the deliveries", err)
			}
			if got := w.States(ids); got != tt.states || s.calls != tt.calls {
				t.Errorf("after %d settlements deliveries are %s; want %d, %s", s.calls, got, tt.calls, tt.states)
			}
			if got := w.attended("decision")[0]; got != tt.decision {
				t.Errorf("decision is %v; want %s", got, tt.decision)
			}
			if got := len(w.Queue.Receive(hook.QueueRetry, 10)); got != tt.tasks || len(w.Checks) != tt.checks {
				t.Errorf("%d tasks, %d circuit checks; want %d, %d", got, len(w.Checks), tt.tasks, tt.checks)
			}
		})
	}
}

// A delivery that cannot be ended holds up no other, and is ended when the fault is over.
func TestReconcile_FailingDeliveryIsEndedLater(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	bad := w.park(e, expired(1)...)
	ids := w.park(e, ages(40)...)
	w.record(e, closed(1, 0))
	b, s := w.breakLetters(errBroken, bad...)
	for range 30 {
		_ = b.Tick(w.Context()) // returns the error of the delivery
		w.InvokeAll()
		w.Clock.Pass(time.Minute)
	}
	if got, want := w.States(ids), "40 delivered"; got != want {
		t.Errorf("the other deliveries are %s; want %s", got, want)
	}
	clear(s.broken)
	if err := b.Tick(w.Context()); err != nil || w.States(bad) != "1 dead expired" {
		t.Errorf("Tick() = %v, the delivery is %s; want it dead", err, w.States(bad))
	}
}
