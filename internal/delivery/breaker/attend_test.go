package breaker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
)

const never = -1 << 60 // of an AttendAt

// asked is a look that was asked for.
type asked struct {
	Wave  int
	Delay time.Duration
}

func closed(wave int, attendIn time.Duration) func(r gate.Record) gate.Record {
	return func(r gate.Record) gate.Record {
		r.Waiting, r.Wave, r.AttendAt = true, wave, start.Add(attendIn)
		return r
	}
}

func open(probeIn, attendIn time.Duration) func(r gate.Record) gate.Record {
	return func(r gate.Record) gate.Record {
		r.Circuit = circuit.Circuit{State: circuit.Open, Generation: 1, Cooldown: 5 * time.Minute, OpenedAt: start.Add(-time.Hour), ProbeAt: start.Add(probeIn)}
		r.Waiting, r.AttendAt = true, start.Add(attendIn)
		return r
	}
}

func halfOpen(leaseLeft, attendIn time.Duration) func(r gate.Record) gate.Record {
	return func(r gate.Record) gate.Record {
		r = open(-time.Hour, attendIn)(r)
		r.State, r.Holder, r.LeaseUntil = circuit.HalfOpen, "dlv_x", start.Add(leaseLeft)
		return r
	}
}

func empty(since time.Duration, then func(r gate.Record) gate.Record) func(r gate.Record) gate.Record {
	return func(r gate.Record) gate.Record {
		r = then(r)
		r.EmptySince = start.Add(-since)
		return r
	}
}

func status(s hook.Status, maxAge time.Duration) func(e *hook.Endpoint) {
	return func(e *hook.Endpoint) { e.Status, e.MaxAge = s, maxAge }
}

func TestAttend_DoesWhatTheStateAsksFor(t *testing.T) {
	t.Parallel()

	const second, minute, hour = time.Second, time.Minute, time.Hour
	paused, disabled := status(hook.StatusPaused, 72*hour), status(hook.StatusDisabled, 72*hour)
	tests := []struct {
		name     string
		record   func(r gate.Record) gate.Record
		endpoint func(e *hook.Endpoint)
		parked   []time.Duration // their ages
		look     int             // the wave
		decision string
		tokens   int
		asks     []asked
		states   string
		wave     int
		attendIn time.Duration
		empty    bool // EmptySince is set
		waiting  bool
	}{
		{
			name: "open, its cooldown not over: the rest of it is waited for", record: open(7*minute, 7*minute), parked: ages(2),
			decision: "await", asks: []asked{{Wave: 0, Delay: 7 * minute}}, states: "2 parked circuit_open", attendIn: 7 * minute, waiting: true,
		},
		{
			name: "a release stops at a circuit that opened", record: open(5*minute, 5*minute), parked: ages(2), look: 3,
			decision: "await", asks: []asked{{Wave: 0, Delay: 5 * minute}}, states: "2 parked circuit_open", attendIn: 5 * minute, waiting: true,
		},
		{
			name: "resumed with an open circuit: the probe is not forgotten", record: open(3*minute, -second), parked: ages(1),
			decision: "await", asks: []asked{{Wave: 0, Delay: 3 * minute}}, states: "1 parked circuit_open", attendIn: 3 * minute, waiting: true,
		},
		{
			name: "open, nobody waits yet", record: func(r gate.Record) gate.Record { r = open(minute, minute)(r); r.Waiting = false; return r },
			decision: "await", asks: []asked{{Wave: 0, Delay: minute}}, attendIn: minute,
		},
		{
			name: "open and due: the oldest goes out alone", record: open(0, 0), parked: ages(3),
			decision: "probe", tokens: 1, states: "3 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "open and due, a probe was sent already", record: open(-second, 59*second), parked: ages(3),
			decision: "held", states: "3 parked circuit_open", attendIn: 59 * second, waiting: true,
		},
		{
			name: "open and due, looked at when it was resting", record: open(-second, hour), parked: ages(3),
			decision: "probe", tokens: 1, states: "3 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "half-open, the lease is held", record: halfOpen(minute, -second), parked: ages(2),
			decision: "held", states: "2 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "half-open, the lease ran out", record: halfOpen(0, 0), parked: ages(2),
			decision: "probe", tokens: 1, states: "2 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "closed: the first wave", record: closed(0, minute), parked: ages(3),
			decision: "release", tokens: 1, asks: []asked{{Wave: 2, Delay: 2 * second}}, states: "2 parked circuit_open, 1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
		{
			name: "closed: the wave that the look names", record: closed(3, minute), parked: ages(6), look: 3,
			decision: "release", tokens: 4, asks: []asked{{Wave: 4, Delay: 2 * second}}, states: "2 parked circuit_open, 4 retrying", wave: 4, attendIn: minute, waiting: true,
		},
		{
			name: "closed: less than a wave is left", record: closed(9, minute), parked: ages(2), look: 9,
			decision: "release", tokens: 2, asks: []asked{{Wave: 10, Delay: 2 * second}}, states: "2 retrying", wave: 10, attendIn: minute, waiting: true,
		},
		{
			name: "closed: a wave has 500 at most", record: closed(40, minute), parked: ages(501), look: 40,
			decision: "release", tokens: 500, asks: []asked{{Wave: 41, Delay: 2 * second}}, states: "1 parked circuit_open, 500 retrying", wave: 41, attendIn: minute, waiting: true,
		},
		{
			name: "closed: a look at a wave that went out", record: closed(3, minute), parked: ages(6), look: 2,
			decision: "stale", states: "6 parked circuit_open", wave: 3, attendIn: minute, waiting: true,
		},
		{
			name: "closed: a look at nothing in particular, while a release goes on", record: closed(3, second), parked: ages(6),
			decision: "under_way", states: "6 parked circuit_open", wave: 3, attendIn: second, waiting: true,
		},
		{
			name: "closed: a release that stopped goes on", record: closed(3, 0), parked: ages(6),
			decision: "release", tokens: 4, asks: []asked{{Wave: 4, Delay: 2 * second}}, states: "2 parked circuit_open, 4 retrying", wave: 4, attendIn: minute, waiting: true,
		},
		{
			name: "one that was parked unseen is released", record: func(r gate.Record) gate.Record { return r }, parked: ages(1),
			decision: "release", tokens: 1, asks: []asked{{Wave: 2, Delay: 2 * second}}, states: "1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
		{
			name: "a stale look sees to it that one parked unseen is looked after", record: func(r gate.Record) gate.Record { return r }, parked: ages(1), look: 7,
			decision: "stale", states: "1 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "paused: it rests, and its release begins anew", record: closed(5, -second), endpoint: paused, parked: ages(2), look: 5,
			decision: "rest", states: "2 parked circuit_open", attendIn: hour, waiting: true,
		},
		{
			name: "disabled, its circuit open and due: nothing is sent", record: open(-second, -second), endpoint: disabled, parked: ages(2),
			decision: "rest", states: "2 parked circuit_open", attendIn: hour, waiting: true,
		},
		{
			name: "disabled: it rests until the oldest expires", record: closed(0, -second), endpoint: disabled, parked: []time.Duration{72*hour - 10*minute, hour},
			decision: "rest", states: "2 parked circuit_open", attendIn: 10*minute + time.Millisecond, waiting: true,
		},
		{
			name: "disabled: what is too old dies", record: closed(0, -second), endpoint: disabled, parked: []time.Duration{80 * hour, 72*hour + 1*time.Millisecond, 72 * hour, hour},
			decision: "rest", states: "2 dead expired, 2 parked circuit_open", attendIn: time.Millisecond, waiting: true,
		},
		{
			name: "closed: what is too old dies, and the next goes out", record: closed(0, -second), parked: []time.Duration{80 * hour, hour},
			decision: "release", tokens: 1, asks: []asked{{Wave: 2, Delay: 2 * second}}, states: "1 dead expired, 1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
		{
			name: "open: what is too old is no probe", record: open(-second, -second), parked: []time.Duration{80 * hour, 79 * hour, hour},
			decision: "probe", tokens: 1, states: "2 dead expired, 1 parked circuit_open", attendIn: minute, waiting: true,
		},
		{
			name: "nothing parked, and nobody thought so", record: func(r gate.Record) gate.Record { r.AttendAt = start; return r },
			decision: "idle", attendIn: never,
		},
		{
			name: "nothing parked any more", record: closed(7, -second), look: 7,
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
			name: "nothing was parked, but now something is", record: empty(2*minute, closed(0, 0)), parked: ages(1),
			decision: "release", tokens: 1, asks: []asked{{Wave: 2, Delay: 2 * second}}, states: "1 retrying", wave: 2, attendIn: minute, waiting: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(tt.endpoint)
			ids := w.park(e, tt.parked...)
			w.record(e, tt.record)
			look := hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: tt.look}
			if err := w.Breaker().Reconcile(t.Context(), look); err != nil {
				t.Fatalf("Attend(%+v) = %v", look, err)
			}

			if got := w.attended("decision"); len(got) != 1 || got[0] != tt.decision {
				t.Errorf("Attend(%+v) decided %v; want %s", look, got, tt.decision)
			}
			tokens := w.Queue.Receive(hook.LaneRetry, 1000)
			if len(tokens) != tt.tokens {
				t.Errorf("%d tokens; want %d", len(tokens), tt.tokens)
			}
			ended := strings.Contains(tt.states, "dead") // the oldest
			if len(tokens) > 0 && !ended && (tokens[0].Token.Delivery != ids[0] || tokens[0].Token.Attempt != 1) {
				t.Errorf("first token is attempt %d of %s; want 1 of %s, the oldest", tokens[0].Token.Attempt, tokens[0].Token.Delivery, ids[0])
			}
			if got := w.States(ids); got != tt.states {
				t.Errorf("deliveries are %s; want %s", got, tt.states)
			}
			if diff := cmp.Diff(tt.asks, w.asks(e)); diff != "" {
				t.Errorf("looks that were asked for differ (-want +got):\n%s", diff)
			}
			r := w.Circuit(e)
			attendIn := time.Duration(never)
			if !r.AttendAt.IsZero() {
				attendIn = r.AttendAt.Sub(start)
			}
			if r.Wave != tt.wave || attendIn != tt.attendIn || r.EmptySince.IsZero() == tt.empty || r.Waiting != tt.waiting {
				t.Errorf("record has wave %d, is attended in %s, empty since %v, waiting %t; want wave %d, %s, empty: %t, waiting %t",
					r.Wave, attendIn, r.EmptySince, r.Waiting, tt.wave, tt.attendIn, tt.empty, tt.waiting)
			}
		})
	}
}

// asks takes the looks at the endpoint that were asked for.
func (w *bundle) asks(e hook.Endpoint) []asked {
	w.T.Helper()

	var list []asked
	for {
		at, ok := w.CircuitQueue.Next()
		if !ok {
			return list
		}
		delay := at.Sub(w.Clock.Now())
		w.Clock.Pass(delay)
		for _, m := range w.CircuitQueue.Receive(10) {
			if m.Check.Endpoint != e.ID || m.Check.Tenant != e.Tenant {
				w.T.Errorf("asked for %+v; want a look at %s", m.Check, e.ID)
			}
			list = append(list, asked{m.Check.Wave, delay})
			w.CircuitQueue.Delete(m.ID)
		}
	}
}

func TestAttend_CancelsWhatWaitsForADeletedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e, other := w.Endpoint(nil), w.Endpoint(nil)
	ids, others := w.park(e, ages(120)...), w.park(other, time.Minute)
	w.open(e)
	if err := w.Store.DeleteEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.Check(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, 0)
	w.RunFor(time.Hour)

	if got, want := w.States(ids), "120 cancelled endpoint_deleted"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	if got, want := w.States(others), "1 parked circuit_open"; got != want {
		t.Errorf("those of another endpoint are %s; want %s", got, want)
	}
	if len(w.DeadLetters.Letters()) > 0 || len(w.Posts) > 0 {
		t.Errorf("%d dead letters and %d POSTs; want none", len(w.DeadLetters.Letters()), len(w.Posts))
	}
	if r := w.Circuit(e); r.Waiting || !r.AttendAt.IsZero() {
		t.Errorf("record = %+v; want it forgotten", r)
	}
}

func TestAttend_TellsAnotherTenantsEndpointFromADeletedOne(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, time.Minute)
	w.open(e)
	err := w.Breaker().Reconcile(t.Context(), hook.CircuitCheck{Tenant: "other", Endpoint: e.ID})
	if err == nil || hook.CodeOf(err) != hook.CodeNotFound || w.States(ids) != "1 parked circuit_open" {
		t.Errorf("Attend(another tenant's) = %v and deliveries are %s; want not_found, and untouched", err, w.States(ids))
	}
}

func TestAttend_BoundsWhatItEndsAtOnce(t *testing.T) {
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
	if err := w.Breaker().Reconcile(t.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}); err != nil {
		t.Fatalf("Attend() = %v", err)
	}
	if got, want := w.States(ids), "501 dead expired, 699 parked circuit_open"; got != want {
		t.Errorf("after one look deliveries are %s; want %s", got, want)
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

func TestAttend_LeavesWhatTheQueueDidNotTake(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(nil)
	ids := w.park(e, ages(10)...)
	w.record(e, closed(3, 0))
	w.Calls.Refuse = func(i int, _ hook.Token) error {
		if i%2 == 1 {
			return &hook.Error{Code: hook.CodeUnavailable, Message: "not this token"}
		}
		return nil
	}
	if err := w.Breaker().Reconcile(t.Context(), hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID, Wave: 3}); err == nil {
		t.Error("Attend() = nil when two of four tokens were refused; want their error")
	}
	if got, want := w.States(ids), "8 parked circuit_open, 2 retrying"; got != want {
		t.Errorf("deliveries are %s; want %s", got, want)
	}
	if got := w.attended("released"); len(got) != 1 || got[0] != 2.0 {
		t.Errorf("%v were released; want 2", got)
	}
	w.Calls.Refuse = nil
	w.NoTicks = true // the next wave was asked for
	w.RunFor(time.Minute)
	if got, want := w.States(ids), "10 delivered"; got != want || len(w.Posts) != 10 {
		t.Errorf("at last deliveries are %s after %d POSTs; want %s after 10", got, len(w.Posts), want)
	}
}
