package isolation_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/internal/rule/sign"
	"surehook.example/surehook/proof/world"
)

// sizes are the concurrent invocations of the event sources.
type sizes struct {
	queues   map[hook.Queue]int
	circuits int
}

// production returns the sizes of the environment prod.
func production() sizes {
	return sizes{circuits: 20, queues: map[hook.Queue]int{
		hook.QueueLive: 200, hook.QueueRetry: 100, hook.QueueReplay: 50, hook.QueueSlot: 20, hook.QueueOverflow: 180,
	}}
}

const (
	invocationLimit = time.Minute
	visibility      = 6 * invocationLimit
	tickEvery       = time.Minute
)

// lab is the deployed stack with a receiver per endpoint.
type lab struct {
	*receivers

	t        *testing.T
	calls    calls
	store    *memory.Store
	queue    queue
	circuits circuits
	wiring   world.Wiring
	breaker  *breaker.Breaker
	acceptor *ingest.Acceptor // its calls count as those of the test
	sources  map[hook.Queue]*source
	stop     func() // ends the functions, and waits for them
}

// setup is the clock and the size of the cases.
type setup struct {
	clock bool // real time, without the durations of the model and with fewer events: measured, but not asserted
	full  bool // the sizes of the document; otherwise smaller ones where the full ones take long
	again bool // a write is tried again at once, and not after a random time, so that a conflict has a longest duration
}

// run runs f with a lab.
func (s setup) run(t *testing.T, f func(l *lab)) {
	t.Helper()

	lab := func(t *testing.T) {
		t.Helper()

		l := newLab(t, s, production())
		f(l)
		l.stop()
	}
	if s.clock {
		lab(t)
	} else {
		synctest.Test(t, lab)
	}
}

// want fails the test when the bound does not hold.
func (s setup) want(t *testing.T, holds bool, format string, args ...any) {
	t.Helper()

	if !holds && !s.clock {
		t.Errorf(format, args...)
	}
}

// of returns one of the sizes: for the clock of the machine, for every run of the tests,
// or for the document.
func (s setup) of(clock, every, full int) int {
	switch {
	case s.clock:
		return clock
	case s.full:
		return full
	}
	return every
}

func newLab(t *testing.T, s setup, n sizes) *lab {
	t.Helper()

	l := &lab{t: t, receivers: newReceivers(), sources: make(map[hook.Queue]*source)}
	l.calls.instant = s.clock
	l.store = memory.NewStore()
	l.store.Table.Around = l.calls.around
	l.queue = queue{memory.NewTaskQueues(time.Now), &l.calls}
	l.queue.Fair, l.queue.Visibility = true, visibility
	l.circuits = circuits{memory.NewCircuitQueue(time.Now), &l.calls}
	l.circuits.Visibility = visibility
	l.wiring = world.Wiring{
		Store: l.store, Queue: l.queue, Schedules: memory.NewSchedules(l.queue.TaskQueues, time.Now), DeadLetters: memory.NewDeadLetters(l.queue.TaskQueues), NewEventID: hook.NewEventID,
		CircuitQueue: l.circuits, Notifier: &memory.Notifications{}, Vault: memory.Vault{},
		Sender: l.receivers, Log: slog.New(slog.DiscardHandler), Now: time.Now, RealTime: true,
	}
	if s.again {
		l.wiring.Wait = world.NoWait
	}
	l.breaker, l.acceptor = l.wiring.Breaker(), l.wiring.Acceptor()
	l.start(n)
	return l
}

// start begins with the functions.
func (l *lab) start(n sizes) {
	ctx, cancel := context.WithCancel(context.WithValue(l.t.Context(), working{}, true))
	var running sync.WaitGroup
	for queue, most := range n.queues {
		s := newSource(most, l.calls.instant)
		l.sources[queue] = s
		deliverer := l.wiring.Deliverer()
		running.Go(func() { s.run(ctx, func() func() { return l.receive(ctx, deliverer, queue) }) })
	}
	checks := newSource(n.circuits, l.calls.instant)
	running.Go(func() { checks.run(ctx, func() func() { return l.receiveChecks(ctx) }) })
	running.Go(func() { l.tick(ctx) })
	l.stop = func() {
		cancel()
		if !l.calls.instant { // by the clock of the machine, a slow answer takes 25 s
			running.Wait()
		}
	}
}

// receive waits for a batch of the queue and returns its invocation; nil when ctx ends.
// The functions share a deliverer, as a warm process serves many invocations.
func (l *lab) receive(ctx context.Context, d *deliver.Deliverer, queue hook.Queue) func() {
	batch := l.queue.Await(ctx, queue, world.Batch(queue))
	if len(batch) == 0 {
		return nil
	}
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body, Queue: queue}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), invocationLimit)
		defer cancel()
		failed := d.ProcessBatch(ctx, messages)
		for _, m := range batch {
			if slices.Contains(failed, m.ID) {
				l.queue.ChangeVisibility(m.ID, retry.Redelivery(m.ReceiveCount, rand.Float64()))
			} else {
				l.queue.Delete(m.ID)
			}
		}
	}
}

func (l *lab) receiveChecks(ctx context.Context) func() {
	batch := l.circuits.Await(ctx, 10)
	if len(batch) == 0 {
		return nil
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), invocationLimit)
		defer cancel()
		var all sync.WaitGroup
		for _, m := range batch {
			all.Go(func() {
				if l.breaker.Reconcile(ctx, m.CircuitCheck) == nil {
					l.circuits.Delete(m.ID)
				} else {
					l.circuits.ChangeVisibility(m.ID, retry.Redelivery(m.ReceiveCount, rand.Float64()))
				}
			})
		}
		all.Wait()
	}
}

func (l *lab) tick(ctx context.Context) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			tick, cancel := context.WithTimeout(context.WithoutCancel(ctx), invocationLimit)
			_ = l.breaker.Tick(tick)
			cancel()
		}
	}
}

// until waits until the condition holds, or for the time at most, and returns the time.
func (l *lab) until(most time.Duration, holds func() bool) time.Duration {
	return l.untilBy(10*time.Millisecond, most, holds)
}

// untilBy is until, but checks the condition only once per step, because a check of thousands of
// endpoints takes long.
func (l *lab) untilBy(step, most time.Duration, holds func() bool) time.Duration {
	begun := time.Now()
	for !holds() && time.Since(begun) < most {
		time.Sleep(step)
	}
	return time.Since(begun)
}

// endpoint creates an unproven endpoint of the tenant, after change.
func (l *lab) endpoint(tenant hook.TenantID, answer answer, change func(e *hook.Endpoint)) hook.Endpoint {
	l.t.Helper()

	id, now := hook.NewEndpointID(), time.Now()
	sealed, err := memory.Vault{}.Seal(l.t.Context(), sign.NewSecret(), tenant, id)
	if err != nil {
		l.t.Fatal(err)
	}
	e := hook.Endpoint{
		ID: id, Tenant: tenant, URL: "https://example.com/" + string(id), EventTypes: []string{"*"}, Retry: hook.RetryPolicy{Preset: "standard"},
		Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge, Profiles: hook.ProfilesNamed(hook.ProfileStandard), Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: now}},
		Status:  hook.StatusActive, StatusSince: now, CreatedAt: now, UpdatedAt: now,
	}.Sharded(1)
	if change != nil {
		change(&e)
	}
	if err := l.store.CreateEndpoint(l.t.Context(), e); err != nil {
		l.t.Fatal(err)
	}
	e.Version = 1
	l.add(id, answer)
	return e
}

// post accepts an event of the type for the endpoint, and puts its task on the live queue.
func (l *lab) post(e hook.Endpoint, eventType string) {
	id := hook.NewEventID()
	now := time.Now()
	event := hook.Event{
		ID: id, Tenant: e.Tenant, Type: eventType, Payload: []byte("1"), Targets: []hook.Target{e.Target()},
		AcceptedAt: now, ExpiresAt: now.Add(world.Retention),
	}
	l.accept(e.ID, id, now)
	if err := l.store.PutEvent(l.t.Context(), event); err != nil {
		l.t.Error(err)
	}
	task := hook.NewTask(e.Tenant, hook.QueuedDelivery(event, e.Target()).Ref(), 1)
	if errs := l.queue.TaskQueues.Send(l.t.Context(), hook.QueueLive, []hook.Task{task}, 0); errs != nil {
		l.t.Errorf("send: %v", errs)
	}
}

// postMany posts n events at once.
func (l *lab) postMany(e hook.Endpoint, n int) {
	for range n {
		l.post(e, "order.paid")
	}
}

// record returns the circuit record of the endpoint.
func (l *lab) record(e hook.Endpoint) (r recordOf) {
	l.t.Helper()

	r, err := l.store.Circuit(l.t.Context(), e.Tenant, e.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// change edits the endpoint, as PATCH of the API does.
func (l *lab) change(e hook.Endpoint, f endpoint.Fields) {
	l.t.Helper()

	admin := endpoint.Admin{
		Store: l.store, CircuitQueue: l.circuits, Vault: memory.Vault{},
		Policy: egress.Policy{}, Now: time.Now,
	}
	if _, err := admin.Change(l.t.Context(), e.Tenant, string(e.ID), 0, f); err != nil {
		l.t.Fatal(err)
	}
}
