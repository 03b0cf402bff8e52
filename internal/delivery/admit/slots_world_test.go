package admit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// slotsBundle is a Releaser of function deliver, with queues that record what they take.
type slotsBundle struct {
	*admit.Releaser

	t        *testing.T
	world    *world.World
	store    *memory.Store
	clock    *world.Clock
	queue    *queue
	circuits *circuitQueue
	endpoint hook.Endpoint
	parked   []hook.Delivery // the oldest first
}

// setupSlots returns a Releaser with a new active endpoint, whose record says that deliveries wait.
// change may alter the endpoint and the record before they are stored.
func setupSlots(t *testing.T, change func(e *hook.Endpoint, r *admission.Record)) *slotsBundle {
	t.Helper()

	of := world.New(t, world.Options{Function: world.Deliver})
	w := &slotsBundle{t: t, world: of, store: of.Store, clock: of.Clock, queue: &queue{}, circuits: &circuitQueue{}}
	var err error
	if w.endpoint, err = world.NewEndpoint(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	record := admission.NewRecord(world.Tenant, w.endpoint.ID).ExpectParked(start)
	if change != nil {
		change(&w.endpoint, &record)
	}
	if err := errors.Join(w.store.CreateEndpoint(t.Context(), w.endpoint), w.store.SaveCircuit(t.Context(), record)); err != nil {
		t.Fatal(err)
	}
	w.Releaser = &admit.Releaser{Store: w.store, Queue: w.queue, CircuitQueue: w.circuits, Now: w.clock.Now, Wait: world.NoWait}
	return w
}

// park parks a delivery for each number of attempts, a second apart, the oldest first.
func (w *slotsBundle) park(attempts ...int) {
	w.t.Helper()

	for i, n := range attempts {
		at := start.Add(time.Duration(i-len(attempts)) * time.Second)
		e := hook.Event{
			ID: hook.KeyedEventID(world.Tenant, fmt.Sprint(i)), Tenant: world.Tenant, Type: "order.paid", Payload: []byte("1"),
			Targets: []hook.Target{w.endpoint.Target()}, AcceptedAt: at, ExpiresAt: at.Add(world.Retention),
		}
		d := hook.QueuedDelivery(e, e.Targets[0])
		d.State, d.Reason, d.Attempts, d.Parks, d.DecidedBy = hook.StateParked, hook.ReasonInFlight, n, 1, "before"
		if err := w.store.SaveDelivery(w.t.Context(), d, nil); err != nil {
			w.t.Fatal(err)
		}
		w.parked = append(w.parked, d)
	}
}

// lease begins a lease of the i-th parked delivery; -1, -2 and so on stand for other deliveries.
func (w *slotsBundle) lease(i int, left time.Duration) admission.Held {
	w.t.Helper()

	held := admission.Held{Key: fmt.Sprint("other", i), Lease: admission.Lease{Nonce: "n", Run: "r", Until: w.clock.Now().Add(left)}}
	if i >= 0 {
		held.Key = admission.LeaseKey(w.parked[i].ID)
	}
	before := w.limits()
	after := before.Begin(held)
	after.Most = 1000
	if err := w.store.ChangeLimits(w.t.Context(), w.endpoint.ID, before, after); err != nil {
		w.t.Fatal(err)
	}
	return held
}

// open lets the answers so far have opened the slots of the endpoint.
func (w *slotsBundle) open(slots int) {
	w.t.Helper()

	before := w.limits()
	after := before
	after.Slots, after.ScoreAt = slots, w.record().SpeedAt
	if err := w.store.ChangeLimits(w.t.Context(), w.endpoint.ID, before, after); err != nil {
		w.t.Fatal(err)
	}
}

func (w *slotsBundle) limits() admission.Limits {
	w.t.Helper()

	l, err := w.store.Limits(w.t.Context(), w.endpoint.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *slotsBundle) record() admission.Record {
	w.t.Helper()

	r, err := w.store.Circuit(w.t.Context(), world.Tenant, w.endpoint.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// fill calls Fill with the stored record.
func (w *slotsBundle) fill(parked ...hook.Delivery) (int, error) {
	w.t.Helper()

	return w.Fill(w.world.Context(), w.endpoint, w.record(), parked...)
}

// handOver hands over the leases of attempts that the endpoint answered after the given
// durations.
func (w *slotsBundle) handOver(held []admission.Held, answers ...time.Duration) error {
	w.t.Helper()

	s := admit.Freed{Tenant: world.Tenant, ID: w.endpoint.ID, Endpoint: &w.endpoint, Held: held, Since: w.record().SpeedAt}
	for _, took := range answers {
		s.Answers = append(s.Answers, admission.Answer{Took: took, Timed: true, OK: true})
	}
	return w.HandOver(w.world.Context(), s)
}

// sent returns the positions of the deliveries whose tasks were sent, with the delays:
// "0 1 2@1s".
func (w *slotsBundle) sent() string {
	w.t.Helper()

	var list []string
	for _, s := range w.queue.sent {
		i := slices.IndexFunc(w.parked, func(d hook.Delivery) bool { return d.Ref() == s.task.Delivery })
		text := fmt.Sprint(i)
		if s.delay > 0 {
			text += "@" + s.delay.String()
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// leased returns the number of leases that have not ended.
func (w *slotsBundle) leased() int { return w.limits().InFlight(w.clock.Now()) }

// fast makes the endpoint fast.
func fast(r *admission.Record) { r.Speed, r.SeenAt = admission.Fast, start }

// open opens the circuit.
func open(r *admission.Record) {
	r.Circuit = circuit.Circuit{State: circuit.Open, Generation: 1, Cooldown: time.Minute, OpenedAt: start, ProbeAt: start.Add(time.Minute)}
}

var errDown = errors.New("the store is down")

// down makes all calls of the name fail.
func (w *slotsBundle) down(request string) {
	w.world.Calls.Fail = func(call string, _ hook.EndpointID) error {
		if call == request {
			return errDown
		}
		return nil
	}
}

type sentTask struct {
	queue hook.Queue
	task  hook.Task
	delay time.Duration
}

// queue takes tasks, except those of a refused delivery.
type queue struct {
	refuse hook.DeliveryRef

	mu   sync.Mutex
	sent []sentTask
}

// Send takes the tasks.
func (q *queue) Send(_ context.Context, queue hook.Queue, tasks []hook.Task, delay time.Duration) (errs []error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for i, task := range tasks {
		if task.Delivery == q.refuse {
			errs = make([]error, len(tasks))
			errs[i] = errDown
			continue
		}
		q.sent = append(q.sent, sentTask{queue, task, delay})
	}
	return errs
}

// circuitQueue takes checks, or fails.
type circuitQueue struct {
	err    error
	checks []string
}

// Enqueue takes the check.
func (q *circuitQueue) Enqueue(_ context.Context, c hook.CircuitCheck, delay time.Duration) error {
	q.checks = append(q.checks, fmt.Sprintf("wave %d in %s", c.Wave, delay))
	return q.err
}
