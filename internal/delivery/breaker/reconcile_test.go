package breaker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
)

const never = -1 << 60 // no AttendAt

// enqueued is an enqueued circuit check.
type enqueued struct {
	Wave  int
	Delay time.Duration
}

func closed(wave int, attendIn time.Duration) func(r admission.Record) admission.Record {
	return func(r admission.Record) admission.Record {
		r.Waiting, r.Wave, r.AttendAt = true, wave, start.Add(attendIn)
		return r
	}
}

func open(probeIn, attendIn time.Duration) func(r admission.Record) admission.Record {
	return func(r admission.Record) admission.Record {
		r.Circuit = circuit.Circuit{Version: r.Version, State: circuit.Open, Generation: 1, Cooldown: 5 * time.Minute, OpenedAt: start.Add(-time.Hour), ProbeAt: start.Add(probeIn)}
		r.Waiting, r.AttendAt = true, start.Add(attendIn)
		return r
	}
}

func halfOpen(leaseLeft, attendIn time.Duration) func(r admission.Record) admission.Record {
	return func(r admission.Record) admission.Record {
		r = open(-time.Hour, attendIn)(r)
		r.State, r.Holder, r.LeaseUntil = circuit.HalfOpen, "dlv_x", start.Add(leaseLeft)
		return r
	}
}

func sent(ago time.Duration, then func(r admission.Record) admission.Record) func(r admission.Record) admission.Record {
	return func(r admission.Record) admission.Record {
		r = then(r)
		r.ProbeSentAt = start.Add(-ago)
		return r
	}
}

func empty(since time.Duration, then func(r admission.Record) admission.Record) func(r admission.Record) admission.Record {
	return func(r admission.Record) admission.Record {
		r = then(r)
		r.EmptySince = start.Add(-since)
		return r
	}
}

func status(s hook.Status, maxAge time.Duration) func(e *hook.Endpoint) {
	return func(e *hook.Endpoint) { e.Status, e.MaxAge = s, maxAge }
}

func TestReconcile_DecidesByState(t *testing.T) {
	t.Parallel()

	const second, minute, hour = time.Second, time.Minute, time.Hour
	paused, disabled := status(hook.StatusPaused, 72*hour), status(hook.StatusDisabled, 72*hour)
	tests := []struct {
		name     string
		record   func(r admission.Record) admission.Record
		endpoint func(e *hook.Endpoint)
		parked   []time.Duration // ages
		check    int             // wave of the check
		decision string
		tasks    int
		checks   []enqueued
		states   string
		wave     int
		attendIn time.Duration
		empty    bool // EmptySince is set
		waiting  bool
	}{
		{
			name: "open, cooldown not over: check again after the cooldown", record: open(7*minute, 7*minute), parked: ages(2),
			decision: "await", checks: []enqueued{{Wave: 0, Delay: 7 * minute}}, states: "2 parked circuit_open", attendIn: 7 * minute, waiting: true,
		},
		{
			name: "an open circuit stops a release", record: open(5*minute, 5*minute), parked: ages(2), check: 3,
			decision: "await", checks: []enqueued{{Wave: 0, Delay: 5 * minute}}, states: "2 parked circuit_open", attendIn: 5 * minute, waiting: true,
		},
		{
			name: "resumed with an open circuit: a probe is scheduled", record: open(3*minute, -second), parked: ages(1),
			decision: "await", checks: []enqueued{{Wave: 0, Delay: 3 * minute}}, states: "1 parked circuit_open", attendIn: 3 * minute, waiting: true,
		},
		{
			name: "open, no delivery waits yet", record: func(r admission.Record) admission.Record { r = open(minute, minute)(r); r.Waiting = false; return r },
			decision: "await", checks: []enqueued{{Wave: 0, Delay: minute}}, attendIn: minute,
		},
		{
			name: "open and due: only the oldest goes out", record: open(0, 0), parked: ages(3),
			decision: "probe", tasks: 1, states: "3 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "open and due, a probe is already sent", record: sent(second, open(-second, -second)), parked: ages(3),
			decision: "held", states: "3 parked circuit_open", attendIn: 59 * second, waiting: true,
		},
		{
			name: "open and due, the probe of a minute ago did not begin", record: sent(minute, open(-2*minute, 0)), parked: ages(3),
			decision: "probe", tasks: 1, states: "3 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "open and due, after a check that ended deliveries", record: open(-second, 59*second), parked: ages(3),
			decision: "probe", tasks: 1, states: "3 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "open and due, after a check while paused", record: open(-second, hour), parked: ages(3),
			decision: "probe", tasks: 1, states: "3 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "half-open, lease held", record: halfOpen(minute, -second), parked: ages(2),
			decision: "held", states: "2 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "half-open, lease expired", record: halfOpen(0, 0), parked: ages(2),
			decision: "probe", tasks: 1, states: "2 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "closed: the first wave", record: closed(0, minute), parked: ages(3),
			decision: "release", tasks: 1, checks: []enqueued{{Wave: 2, Delay: second}}, states: "2 parked circuit_open, 1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
		{
			name: "closed: the wave of the check", record: closed(3, minute), parked: ages(6), check: 3,
			decision: "release", tasks: 4, checks: []enqueued{{Wave: 4, Delay: second}}, states: "2 parked circuit_open, 4 retrying", wave: 4, attendIn: minute, waiting: true,
		},
		{
			name: "closed: less than a wave is left", record: closed(9, minute), parked: ages(2), check: 9,
			decision: "release", tasks: 2, checks: []enqueued{{Wave: 10, Delay: second}}, states: "2 retrying", wave: 10, attendIn: minute, waiting: true,
		},
		{
			name: "closed: a wave has 500 at most", record: closed(40, minute), parked: ages(501), check: 40,
			decision: "release", tasks: 500, checks: []enqueued{{Wave: 41, Delay: second}}, states: "1 parked circuit_open, 500 retrying", wave: 41, attendIn: minute, waiting: true,
		},
		{
			name: "closed: a check for a released wave", record: closed(3, minute), parked: ages(6), check: 2,
			decision: "stale", states: "6 parked circuit_open", wave: 3, attendIn: minute, waiting: true,
		},
		{
			name: "closed: a check without a wave during a release", record: closed(3, second), parked: ages(6),
			decision: "under_way", states: "6 parked circuit_open", wave: 3, attendIn: second, waiting: true,
		},
		{
			name: "closed: a stopped release continues", record: closed(3, 0), parked: ages(6),
			decision: "release", tasks: 4, checks: []enqueued{{Wave: 4, Delay: second}}, states: "2 parked circuit_open, 4 retrying", wave: 4, attendIn: minute, waiting: true,
		},
		{
			name: "a parked delivery without a record is released", record: func(r admission.Record) admission.Record { return r }, parked: ages(1),
			decision: "release", tasks: 1, checks: []enqueued{{Wave: 2, Delay: second}}, states: "1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
		{
			name: "a stale check schedules a check for a parked delivery without a record", record: func(r admission.Record) admission.Record { return r }, parked: ages(1), check: 7,
			decision: "stale", states: "1 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "paused: the release starts again from wave 1", record: closed(5, -second), endpoint: paused, parked: ages(2), check: 5,
			decision: "rest", states: "2 parked circuit_open", attendIn: hour, waiting: true,
		},
		{
			name: "disabled, circuit open and due: nothing is sent", record: open(-second, -second), endpoint: disabled, parked: ages(2),
			decision: "rest", states: "2 parked circuit_open", attendIn: hour, waiting: true,
		},
		{
			name: "disabled: check again when the oldest expires", record: closed(0, -second), endpoint: disabled, parked: []time.Duration{72*hour - 10*minute, hour},
			decision: "rest", states: "2 parked circuit_open", attendIn: 10*minute + time.Millisecond, waiting: true,
		},
		{
			name: "disabled: expired deliveries die", record: closed(0, -second), endpoint: disabled, parked: []time.Duration{80 * hour, 72*hour + 1*time.Millisecond, 72 * hour, hour},
			decision: "rest", states: "2 dead expired, 2 parked circuit_open", attendIn: time.Millisecond, waiting: true,
		},
		{
			name: "closed: an expired delivery dies, and the next goes out", record: closed(0, -second), parked: []time.Duration{80 * hour, hour},
			decision: "release", tasks: 1, checks: []enqueued{{Wave: 2, Delay: second}}, states: "1 dead expired, 1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
		{
			name: "open: an expired delivery is no probe", record: open(-second, -second), parked: []time.Duration{80 * hour, 79 * hour, hour},
			decision: "probe", tasks: 1, states: "2 dead expired, 1 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "nothing parked, and the record expects nothing", record: func(r admission.Record) admission.Record { r.AttendAt = start; return r },
			decision: "idle", attendIn: never,
		},
		{
			name: "nothing parked any more", record: closed(7, -second), check: 7,
			decision: "empty", attendIn: 2 * minute, empty: true, waiting: true,
		},
		{
			name: "nothing parked for a moment", record: empty(2*minute-second, closed(0, second)),
			decision: "empty", attendIn: second, empty: true, waiting: true,
		},
		{
			name: "nothing parked for two minutes", record: empty(2*minute, closed(0, 0)),
			decision: "forget", attendIn: never,
		},
		{
			name: "nothing parked for two minutes, an open circuit", record: empty(2*minute, open(-minute, 0)),
			decision: "forget", attendIn: never,
		},
		{
			name: "nothing was parked, and now a delivery is", record: empty(2*minute, closed(0, 0)), parked: ages(1),
			decision: "release", tasks: 1, checks: []enqueued{{Wave: 2, Delay: second}}, states: "1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(tt.endpoint)
			ids := w.park(e, tt.parked...)
			w.record(e, tt.record)
			check := hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: tt.check}
			if err := w.Breaker().Reconcile(w.Context(), check); err != nil {
				t.Fatalf("Reconcile(%+v) = %v", check, err)
			}

			if got := w.attended("decision"); len(got) != 1 || got[0] != tt.decision {
				t.Errorf("Reconcile(%+v) decided %v; want %s", check, got, tt.decision)
			}
			tasks := w.Queue.Receive(hook.QueueRetry, 1000)
			if len(tasks) != tt.tasks {
				t.Errorf("%d tasks; want %d", len(tasks), tt.tasks)
			}
			ended := strings.Contains(tt.states, "dead") // the oldest delivery
			if len(tasks) > 0 && !ended && (tasks[0].Task.Delivery != ids[0] || tasks[0].Task.Attempt != 1) {
				t.Errorf("first task is attempt %d of %s; want 1 of %s, the oldest", tasks[0].Task.Attempt, tasks[0].Task.Delivery, ids[0])
			}
			if got := w.States(ids); got != tt.states {
				t.Errorf("deliveries are %s; want %s", got, tt.states)
			}
			if diff := cmp.Diff(tt.checks, w.enqueuedChecks(e)); diff != "" {
				t.Errorf("enqueued checks (-want +got):\n%s", diff)
			}
			r := w.Circuit(e)
			attendIn := time.Duration(never)
			if !r.AttendAt.IsZero() {
				attendIn = r.AttendAt.Sub(start)
			}
			if r.Wave != tt.wave || attendIn != tt.attendIn || r.EmptySince.IsZero() == tt.empty || r.Waiting != tt.waiting {
				t.Errorf("record has wave %d, AttendAt in %s, empty since %v, waiting %t; want wave %d, %s, empty: %t, waiting %t",
					r.Wave, attendIn, r.EmptySince, r.Waiting, tt.wave, tt.attendIn, tt.empty, tt.waiting)
			}
		})
	}
}

// enqueuedChecks receives and deletes the enqueued checks of the endpoint.
func (w *bundle) enqueuedChecks(e hook.Endpoint) []enqueued {
	w.T.Helper()

	var list []enqueued
	for {
		at, ok := w.CircuitQueue.Next()
		if !ok {
			return list
		}
		delay := at.Sub(w.Clock.Now())
		w.Clock.Pass(delay)
		for _, m := range w.CircuitQueue.Receive(10) {
			if m.Endpoint != e.ID || m.Tenant != e.Tenant {
				w.T.Errorf("enqueued %+v; want a check of %s", m.CircuitCheck, e.ID)
			}
			list = append(list, enqueued{m.Wave, delay})
			w.CircuitQueue.Delete(m.ID)
		}
	}
}

func TestReconcile_CancelsParkedDeliveriesOfADeletedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e, other := w.Endpoint(nil), w.Endpoint(nil)
	ids, others := w.park(e, ages(120)...), w.park(other, time.Minute)
	w.open(e)
	if err := w.Store.DeleteEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.EnqueueCheck(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, 0)
	w.RunFor(time.Hour)

	if got, want := w.States(ids), "120 cancelled endpoint_deleted"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	if got, want := w.States(others), "1 parked circuit_open"; got != want {
		t.Errorf("deliveries of another endpoint are %s; want %s", got, want)
	}
	if len(w.DeadLetters.Letters()) > 0 || len(w.Posts) > 0 {
		t.Errorf("%d dead letters and %d POSTs; want none", len(w.DeadLetters.Letters()), len(w.Posts))
	}
	if r := w.Circuit(e); r.Waiting || !r.AttendAt.IsZero() {
		t.Errorf("record = %+v; want a forgotten endpoint", r)
	}
}

func TestReconcile_RefusesAnotherTenantsEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, time.Minute)
	w.open(e)
	err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: "other", Endpoint: e.ID})
	if err == nil || hook.CodeOf(err) != hook.CodeNotFound || w.States(ids) != "1 parked circuit_open" {
		t.Errorf("Reconcile(another tenant's) = %v and deliveries are %s; want not_found and no change", err, w.States(ids))
	}
}

func TestReconcile_LimitsEndedDeliveries(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.NoTicks = true
	e := w.Endpoint(status(hook.StatusDisabled, time.Hour))
	old := ages(1200)
	for i := range old {
		old[i] += time.Hour
	}
	ids := w.park(e, old...)
	w.record(e, closed(0, 0))
	if err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
	if got, want := w.States(ids), "501 dead expired, 699 parked circuit_open"; got != want {
		t.Errorf("after one check deliveries are %s; want %s", got, want)
	}
	w.RunFor(time.Minute)
	if got, want := w.States(ids), "1200 dead expired"; got != want || len(w.DeadLetters.Letters()) != 1200 {
		t.Errorf("at last deliveries are %s with %d letters; want %s and as many", got, len(w.DeadLetters.Letters()), want)
	}
	for _, letter := range w.DeadLetters.Letters() {
		if letter.Reason != hook.ReasonExpired || letter.DiedAt.IsZero() || letter.Tenant != e.Tenant {
			t.Fatalf("letter = %+v; want reason expired, tenant and time of death", letter)
		}
	}
}

func TestReconcile_LeavesRefusedTasksParked(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, ages(10)...)
	w.record(e, closed(3, 0))
	w.Calls.Refuse = func(i int, _ hook.Task) error {
		if i%2 == 1 {
			return &hook.Error{Code: hook.CodeUnavailable, Message: "not this task"}
		}
		return nil
	}
	if err := w.Breaker().Reconcile(w.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: 3}); err == nil {
		t.Error("Reconcile() = nil when two of four tasks were refused; want their error")
	}
	if got, want := w.States(ids), "8 parked circuit_open, 2 retrying"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	if got := w.attended("released"); len(got) != 1 || got[0] != 2.0 {
		t.Errorf("released %v; want 2", got)
	}
	w.Calls.Refuse = nil
	w.NoTicks = true // the next wave is enqueued
	w.RunFor(time.Minute)
	if got, want := w.States(ids), "10 delivered"; got != want || len(w.Posts) != 10 {
		t.Errorf("at last deliveries are %s after %d POSTs; want %s after 10", got, len(w.Posts), want)
	}
}
