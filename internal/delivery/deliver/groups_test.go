package deliver_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// busyGate takes a millisecond for each answer, and records how many it gives at the same time.
type busyGate struct {
	deliver.Gate

	asking    world.InFlight
	questions atomic.Int32
}

func (g *busyGate) Ask(ctx context.Context, q admission.Query) (*admit.Permits, error) {
	g.questions.Add(1)
	defer g.asking.Begin()()
	time.Sleep(time.Millisecond) // virtual time of synctest
	return g.Gate.Ask(ctx, q)
}

// The groups of an endpoint share its limits. If all of them asked at the same time, their writes
// would conflict, and after 20 conflicts the messages would fail.
func TestCoalesce_GroupsAskTheGateInTurn(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := world.New(t, world.Options{Function: world.Deliver})
		e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.RatePerSecond, e.Coalesce.MaxEvents = 1000, 1 }))
		accept(w, e, numbered(40)...)
		w.Clock.Pass(10 * time.Second)
		var batch []deliver.Message
		for _, m := range w.Queue.Receive(hook.QueueCoalesce, 100) {
			batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Queue: hook.QueueCoalesce})
		}
		d := w.Deliverer()
		busy := &busyGate{Gate: d.Gate}
		d.Gate = busy
		if failed := d.ProcessBatch(w.Context(), batch); len(failed) > 0 {
			t.Errorf("%d messages fail", len(failed))
		}
		if busy.questions.Load() != 40 || busy.asking.Most() != 1 {
			t.Errorf("%d questions, %d at a time; want 40, one at a time", busy.questions.Load(), busy.asking.Most())
		}
	})
}

// lateGate calls change before its first answer.
type lateGate struct {
	deliver.Gate

	once   sync.Once
	change func()
}

func (g *lateGate) Ask(ctx context.Context, q admission.Query) (*admit.Permits, error) {
	g.once.Do(g.change)
	return g.Gate.Ask(ctx, q)
}

// The gate reads the circuit again if it has changed since the batch was read. A circuit that
// closes in between admits the tasks, so they must already be split into requests.
func TestCoalesce_BoundsHoldWhenTheCircuitClosesMeanwhile(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Coalesce.MaxEvents = 3 }))
	refs := accept(w, e, numbered(10)...)
	save := func(change func(r admission.Record) admission.Record) {
		r, err := w.Store.Circuit(t.Context(), e.Tenant, e.ID)
		if err == nil {
			err = w.Store.SaveCircuit(t.Context(), change(r))
		}
		if err != nil {
			t.Error(err)
		}
	}
	save(func(r admission.Record) admission.Record {
		return r.Trip(circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}, w.Clock.Now())
	})
	w.Clock.Pass(10 * time.Second)
	var batch []deliver.Message
	for _, m := range w.Queue.Receive(hook.QueueCoalesce, 100) {
		batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Queue: hook.QueueCoalesce})
	}
	d := w.Deliverer()
	d.Gate = &lateGate{Gate: d.Gate, change: func() {
		save(func(r admission.Record) admission.Record {
			r = r.Reset(w.Clock.Now())
			r.Speed, r.SeenAt = admission.Fast, w.Clock.Now() // the endpoint has recovered
			return r
		})
	}}
	if failed := d.ProcessBatch(w.Context(), batch); len(failed) > 0 {
		t.Errorf("%d messages fail", len(failed))
	}
	if got := w.States(refs); got != "10 delivered" {
		t.Errorf("states = %s", got)
	}
	for _, p := range w.Posts {
		if n := len(parseDocument(t, p.Event).Events); n > e.Coalesce.MaxEvents {
			t.Errorf("a request with %d events; want at most %d", n, e.Coalesce.MaxEvents)
		}
	}
}

// The timeout that a review set applies to each request. The groups share the record of the
// endpoint, so the timeout must be set before the first request.
func TestCoalesce_AllGroupsHaveTheTimeoutOfTheReview(t *testing.T) {
	t.Parallel()

	const most = 3 * time.Second
	w := world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Coalesce.MaxEvents = 3 }))
	accept(w, e, numbered(10)...)
	r := w.Circuit(e)
	r.Review.Slow, r.Review.Timeout = true, most
	if err := w.Store.SaveCircuit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	w.Clock.Pass(10 * time.Second)
	var batch []deliver.Message
	for _, m := range w.Queue.Receive(hook.QueueCoalesce, 100) {
		batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Queue: hook.QueueCoalesce})
	}
	w.Deliverer().ProcessBatch(w.Context(), batch)
	for _, p := range w.Posts {
		if p.Endpoint.Timeout != most {
			t.Errorf("a request has the timeout %s; want %s", p.Endpoint.Timeout, most)
		}
	}
	if len(w.Posts) == 0 {
		t.Error("no request was made")
	}
}
