package admit_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
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

var start = world.Start()

const (
	tenant   hook.TenantID   = "acme"
	endpoint hook.EndpointID = "ep_0123456789abcdef"
)

// bundle is the world of the gate alone.
type bundle struct {
	*world.World

	Gate *admit.Gate
}

func setup(t *testing.T) *bundle {
	t.Helper()

	w := world.New(t, world.Options{Function: world.Gate})
	g, ok := w.Gate.(*admit.Gate)
	if !ok {
		t.Fatalf("the gate of the world is a %T", w.Gate)
	}
	return &bundle{w, g}
}

// checks returns the circuit checks that the gate enqueued.
func (w *bundle) checks() []string {
	var list []string
	for _, c := range w.Checks {
		list = append(list, fmt.Sprintf("%s wave %d in %s", c.Endpoint, c.Wave, c.Delay))
	}
	return list
}

func delivery(i int) hook.DeliveryID {
	return hook.DeliveryID{Event: hook.KeyedEventID(tenant, fmt.Sprint(i)), Endpoint: endpoint, Generation: 1}
}

// query returns a query about deliveries first to first+n-1, with the current record of the
// endpoint. An unproven endpoint is treated as fast, because speed is tested in speed_test.go.
func (w *bundle) query(e *hook.Endpoint, first, n int) admission.Query {
	w.T.Helper()

	q := admission.Query{Endpoint: e, State: admission.State{Record: w.record()}}
	if q.Record.Speed == admission.Unproven {
		q.Record.Speed, q.Record.SeenAt = admission.Fast, w.Clock.Now()
	}
	for i := range n {
		q.Due = append(q.Due, admission.Due{Delivery: delivery(first + i), Attempt: 1, Nonce: fmt.Sprint(first + i)})
	}
	return q
}

func (w *bundle) admit(q admission.Query) admission.Admission {
	w.T.Helper()

	p, err := w.Gate.Ask(w.Context(), q)
	if err != nil {
		w.T.Fatalf("Ask() = %v", err)
	}
	return p.Answer
}

func (w *bundle) settle(a admission.Admission, classes ...hook.Class) {
	w.T.Helper()

	var results []admission.Result
	for _, c := range classes {
		results = append(results, admission.Result{Attempt: stats.Attempt{Class: c}})
	}
	if err := w.Gate.Learn(w.Context(), a, results); err != nil {
		w.T.Fatalf("Learn() = %v", err)
	}
}

func (w *bundle) record() admission.Record {
	w.T.Helper()

	record, err := w.Store.Circuit(w.T.Context(), tenant, endpoint)
	if err != nil {
		w.T.Fatal(err)
	}
	return record
}

func decisions(a admission.Admission) string {
	s := ""
	for i, v := range a.Verdicts {
		if i > 0 {
			s += " "
		}
		s += v.Decision.String()
	}
	return s
}

func active() *hook.Endpoint {
	return &hook.Endpoint{ID: endpoint, Tenant: tenant, Status: hook.StatusActive}
}

func TestGate_HealthyEndpointCostsOneCount(t *testing.T) {
	t.Parallel()

	w := setup(t)
	a := w.admit(w.query(active(), 0, 3))
	if got := decisions(a); got != "admit admit admit" || len(w.Calls.Own()) != 0 {
		t.Errorf("Ask() = %s after %v; want all admitted without a request", got, w.Calls.Own())
	}
	w.settle(a, hook.ClassDelivered, hook.ClassDelivered, hook.ClassRefused)
	if diff := cmp.Diff(map[string]int{"write stats": 1}, w.Calls.Own()); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
}

func TestGate_OrderOfConditions(t *testing.T) {
	t.Parallel()

	status := func(s hook.Status) *hook.Endpoint {
		e := active()
		e.Status = s
		return e
	}
	open := func(r *admission.Record) {
		r.Circuit = circuit.Circuit{State: circuit.Open, Generation: 1, Cooldown: time.Hour, ProbeAt: start.Add(time.Hour)}
	}
	throttled := func(r *admission.Record) { r.ThrottledUntil = start.Add(time.Minute) }
	both := func(r *admission.Record) { open(r); throttled(r) }
	limited := active()
	limited.RatePerSecond = 1
	tests := []struct {
		name     string
		endpoint *hook.Endpoint
		record   func(r *admission.Record)
		want     []admission.Verdict
	}{
		{name: "deleted before all other conditions", endpoint: nil, record: both, want: []admission.Verdict{{Decision: admission.Cancel, Reason: hook.ReasonDeleted}}},
		{name: "paused before the circuit", endpoint: status(hook.StatusPaused), record: both, want: []admission.Verdict{{Decision: admission.Park, Reason: hook.ReasonPaused}}},
		{name: "disabled before the circuit", endpoint: status(hook.StatusDisabled), record: both, want: []admission.Verdict{{Decision: admission.Park, Reason: hook.ReasonDisabled}}},
		{name: "open before throttled", endpoint: active(), record: both, want: []admission.Verdict{{Decision: admission.Park, Reason: hook.ReasonCircuit}}},
		{name: "throttled before the limits", endpoint: limited, record: throttled, want: []admission.Verdict{{Decision: admission.Park, Reason: hook.ReasonThrottled, Until: start.Add(time.Minute)}}},
		{name: "no condition holds", endpoint: active(), record: func(*admission.Record) {}, want: []admission.Verdict{{Decision: admission.Admit}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			q := w.query(tt.endpoint, 0, 1)
			tt.record(&q.Record)
			if err := w.Store.SaveCircuit(t.Context(), q.Record); err != nil {
				t.Fatal(err)
			}
			q.Record.Version++
			if diff := cmp.Diff(tt.want, w.admit(q).Verdicts); diff != "" {
				t.Errorf("Ask() differs (-want +got):\n%s", diff)
			}
			parked := tt.want[0].Decision == admission.Park
			if got := w.record(); got.Waiting != parked || parked && got.AttendAt.IsZero() {
				t.Errorf("waiting is %t, AttendAt %v; want waiting: %t", got.Waiting, got.AttendAt, parked)
			}
		})
	}
}

func TestGate_OpensAfterFiveFailuresAndClosesAfterAProbe(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.settle(w.admit(w.query(active(), 0, 4)), hook.ClassTimeout, hook.ClassDNS, hook.ClassUnavailable, hook.ClassTLS)
	if got := w.record(); got.State != circuit.Closed || got.Failures != 4 {
		t.Fatalf("record = %+v; want closed with 4 failures", got)
	}
	late := w.admit(w.query(active(), 4, 1)) // admitted while closed, settled while open
	w.settle(w.admit(w.query(active(), 5, 1)), hook.ClassConnect)
	if got := w.record(); got.State != circuit.Open || !got.AttendAt.Equal(start.Add(hook.DefaultCooldown)) {
		t.Fatalf("record = %+v; want open, AttendAt at the end of the cooldown", got)
	}
	w.settle(late, hook.ClassDelivered)
	if got := w.record(); got.State != circuit.Open {
		t.Errorf("after a late success: %s; want open", got.State)
	}
	if got := decisions(w.admit(w.query(active(), 6, 2))); got != "park park" {
		t.Errorf("while open: %s; want all parked", got)
	}

	w.Clock.Until(start.Add(hook.DefaultCooldown))
	if got := decisions(w.admit(w.query(active(), 9, 2))); got != "park park" {
		t.Errorf("when the cooldown is over: %s; want the probe left to the breaker", got)
	}
	chosen := w.query(active(), 6, 3)
	chosen.Due[1].Probe = true
	probe := w.admit(chosen)
	if got := decisions(probe); got != "park admit park" {
		t.Fatalf("when the breaker has chosen a probe: %s; want only the probe admitted", got)
	}
	if got := decisions(w.admit(w.query(active(), 9, 2))); got != "park park" {
		t.Errorf("while the probe is out: %s; want all parked", got)
	}
	if got := decisions(w.admit(chosen)); got != "park admit park" {
		t.Errorf("the probe itself, received again: %s; want admit", got)
	}
	w.settle(probe, hook.ClassUnavailable)
	w.Clock.Pass(hook.DefaultCooldown*3/2 - 1)
	if got := decisions(w.admit(chosen)); got != "park park park" {
		t.Errorf("just before the longer cooldown is over: %s; want parked", got)
	}
	w.Clock.Pass(1)
	w.settle(w.admit(chosen), hook.ClassRefused) // a 4xx proves the endpoint alive
	if got := w.record(); got.State != circuit.Closed || got.Wave != 1 || !got.Waiting {
		t.Errorf("record = %+v; want closed, with wave 1 due", got)
	}
	want := []string{queuedCheck(0, 0), queuedCheck(0, hook.DefaultCooldown*3/2), queuedCheck(1, 0)}
	if diff := cmp.Diff(want, w.checks()); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
}

// Failures of attempts that were admitted together count as one in the row.
func TestGate_FailuresInFlightCountOnce(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var together []admission.Admission
	for i := range 5 {
		together = append(together, w.admit(w.query(active(), i, 1)))
	}
	for _, a := range together {
		w.settle(a, hook.ClassUnavailable)
	}
	if got := w.record(); got.State != circuit.Closed || got.Failures != 1 {
		t.Errorf("after 5 failures together: %s with %d failures; want closed with 1", got.State, got.Failures)
	}
	for i := range 4 {
		if got := w.record(); got.State != circuit.Closed {
			t.Errorf("after %d failures more: %s; want closed", i, got.State)
		}
		w.settle(w.admit(w.query(active(), 5+i, 1)), hook.ClassUnavailable)
	}
	if got := w.record(); got.State != circuit.Open || got.Failures != 5 {
		t.Errorf("after 4 failures more, one after another: %s with %d failures; want open with 5", got.State, got.Failures)
	}
}

func queuedCheck(wave int, delay time.Duration) string {
	return fmt.Sprintf("%s wave %d in %s", endpoint, wave, delay)
}

// An outage that goes on after a probe goes on with younger probes. A new one begins with the oldest delivery.
func TestGate_ProbesOfAnOutageThatGoesOn(t *testing.T) {
	t.Parallel()

	for name, since := range map[string]time.Time{"the outage goes on": start.Add(-time.Minute), "a new outage": {}} {
		w := setup(t)
		record := w.record()
		record.OpenedAt, record.ProbeType, record.ProbedFrom = since, "order.paid", start.Add(-time.Hour)
		if err := w.Store.SaveCircuit(w.Context(), record); err != nil {
			t.Fatal(err)
		}
		failed := slices.Repeat([]hook.Class{hook.ClassUnavailable}, 5)
		w.settle(w.admit(w.query(active(), 0, 5)), failed...)
		if got := w.record(); got.State != circuit.Open || got.ProbedFrom.IsZero() != since.IsZero() || (got.ProbeType == "") != since.IsZero() {
			t.Errorf("%s: %s, last probe %q from %s", name, got.State, got.ProbeType, got.ProbedFrom)
		}
	}
}

// When too many attempts fail, each one needs an in-flight slot, also a retry, and the slots follow the answers. When
// fewer fail, a check releases what waits.
func TestGate_Strained(t *testing.T) {
	t.Parallel()

	w := setup(t)
	attempt := func(i int, c hook.Class) { w.settle(w.admit(w.query(active(), i, 1)), c) }
	for i := range 16 {
		c := hook.ClassUnavailable
		if i%4 == 0 {
			c = hook.ClassDelivered
		}
		if got := w.record(); got.Strained(start) || got.State != circuit.Closed {
			t.Fatalf("after %d attempts: %s, strained: %t; want closed, and no strain", i, got.State, got.Strained(start))
		}
		attempt(i, c)
	}
	record := w.record()
	if record.State != circuit.Closed || !record.Strained(start) || record.Waiting {
		t.Fatalf("12 of 16 failed: %+v; want closed, and strained", record)
	}
	moved := w.query(active(), 100, 2)
	moved.Due[1].Attempt = 2
	if got := decisions(w.admit(moved)); got != "move move" {
		t.Errorf("a first and a second attempt: %s; want both to a queue of single tasks", got)
	}
	slots := w.slotQuery(active(), 100, admission.FirstSlots+1)
	slots.Record, slots.Queue = record, hook.QueueOverflow
	a := w.admit(slots)
	if got := decisions(a); strings.Count(got, "admit") != admission.FirstSlots || !strings.HasSuffix(got, "park") {
		t.Errorf("one more than the slots: %s; want the last one parked", got)
	}
	if got := w.record(); !got.Waiting || got.AttendAt.IsZero() {
		t.Errorf("record = %+v; want it to wait before the delivery is parked", got)
	}
	before := len(w.checks())
	for i := 0; i < 8 && w.record().Strained(start); i++ {
		a.Next.Record = w.record()
		w.settle(a, hook.ClassDelivered)
	}
	if got := w.record(); got.Strained(start) || got.Wave != 1 {
		t.Errorf("after eight successes: %+v; want no strain, and a release", got)
	}
	if got := w.checks()[before:]; !slices.Equal(got, []string{queuedCheck(1, 0)}) {
		t.Errorf("checks %v; want one at once", got)
	}
}

// The circuit of an endpoint that never succeeds opens by the number of its attempts, although
// those in flight together count once in the row.
func TestGate_OpensWhenAllFail(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var together []admission.Admission
	for i := range hook.DefaultCircuitMinimum {
		together = append(together, w.admit(w.query(active(), i, 1)))
	}
	for i, a := range together {
		if got := w.record().State; got != circuit.Closed {
			t.Errorf("after %d failures together: %s; want closed", i, got)
		}
		w.settle(a, hook.ClassUnavailable)
	}
	if got := w.record().State; got != circuit.Open {
		t.Errorf("after %d failures together: %s; want open", len(together), got)
	}
}

// For an endpoint that fails now and then, a row of failures opens the circuit only if it is
// longer than chance explains.
func TestGate_ARowByChanceDoesNotOpenTheCircuit(t *testing.T) {
	t.Parallel()

	w := setup(t)
	attempt := func(i int, c hook.Class) { w.settle(w.admit(w.query(active(), i, 1)), c) }
	for i := range 100 {
		c := hook.ClassDelivered
		if i%10 < 3 {
			c = hook.ClassUnavailable
		}
		attempt(i, c)
	}
	for i := range 11 {
		attempt(100+i, hook.ClassUnavailable)
	}
	if got := w.record(); got.State != circuit.Closed || got.Failures != 11 {
		t.Errorf("after 30 failures of 100, 11 in a row: %s with %d in a row; want closed", got.State, got.Failures)
	}
	attempt(111, hook.ClassUnavailable)
	if got := w.record(); got.State != circuit.Open || got.Failures != 12 {
		t.Errorf("12 in a row: %s with %d in a row; want open", got.State, got.Failures)
	}
}

func TestGate_ThrottledEndpointParks(t *testing.T) {
	t.Parallel()

	const wait = 90 * time.Second
	w := setup(t)
	results := []admission.Result{{Attempt: stats.Attempt{Class: hook.ClassThrottled}, RetryAfter: wait}}
	for range 9 { // throttled attempts never open the circuit
		if err := w.Gate.Learn(w.Context(), w.admit(w.query(active(), 0, 1)), results); err != nil {
			t.Fatal(err)
		}
	}
	a := w.admit(w.query(active(), 1, 1))
	if v := a.Verdicts[0]; v.Decision != admission.Park || v.Reason != hook.ReasonThrottled {
		t.Errorf("verdict = %+v; want the delivery parked", v)
	}
	w.admit(w.query(active(), 2, 1)) // the second parked delivery needs no check
	if diff := cmp.Diff([]string{queuedCheck(0, wait)}, w.checks()); diff != "" {
		t.Errorf("circuit checks differ (-want +got):\n%s", diff)
	}
	w.Clock.Until(start.Add(wait))
	if v := w.admit(w.query(active(), 1, 1)).Verdicts[0]; v.Decision != admission.Park || v.Reason != hook.ReasonRate {
		t.Errorf("after the throttle: %+v; want the delivery parked behind the others, at the endpoint's pace", v)
	}
}

func TestGate_RateLimit(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := active()
	e.RatePerSecond = 1
	a := w.admit(w.query(e, 0, 3))
	if got := decisions(a); got != "admit move move" || len(w.checks()) != 0 {
		t.Fatalf("Ask() = %s with the checks %v; want one now, and the others on the queue", got, w.checks())
	}
	for i, v := range a.Verdicts[1:] {
		want := admission.Verdict{Decision: admission.Move, Queue: hook.QueueRetry, Until: start.Add(time.Duration(i+1) * time.Second), Reserved: true}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("verdict %d (-want +got):\n%s", i+1, diff)
		}
	}
	back := w.query(e, 1, 2)
	for i := range back.Due {
		back.Due[i].Reserved = true
	}
	if got := decisions(w.admit(back)); got != "admit admit" {
		t.Errorf("deliveries with a rate slot: %s; want both admitted", got)
	}
}

// Concurrent writers change the record between the read and the write.
func TestGate_ConcurrentWritersAgree(t *testing.T) {
	t.Parallel()

	const writers = 50
	w := setup(t)
	stale := w.query(active(), 0, 1)
	var wg sync.WaitGroup
	for range writers { // all report a failure at once, from the same read
		wg.Go(func() { w.settle(w.admit(stale), hook.ClassUnavailable) })
	}
	wg.Wait()
	opened := w.record()
	if opened.State != circuit.Open || opened.Generation != 1 || len(w.checks()) != 1 {
		t.Errorf("record = %+v with %d circuit checks; want opened once", opened, len(w.checks()))
	}

	w.Clock.Until(opened.ProbeAt)
	admitted := make([]int, writers)
	for i := range writers {
		q := w.query(active(), i, 1)
		wg.Go(func() {
			if decisions(w.admit(q)) == "admit" {
				admitted[i] = 1
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range admitted {
		total += n
	}
	if total != 1 {
		t.Errorf("%d probes were admitted; want 1", total)
	}
}

func TestRecord_Wait(t *testing.T) {
	t.Parallel()

	waiting := admission.NewRecord(tenant, endpoint)
	waiting.Waiting, waiting.AttendAt = true, start.Add(time.Hour)
	emptied := waiting
	emptied.EmptySince = start
	if got := waiting.ExpectParked(start); got != waiting {
		t.Errorf("Wait() = %+v; want no change: deliveries wait already", got)
	}
	if got := emptied.ExpectParked(start); !got.Waiting || !got.EmptySince.IsZero() {
		t.Errorf("Wait() = %+v; want EmptySince zero", got)
	}
}
