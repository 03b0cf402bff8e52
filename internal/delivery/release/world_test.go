package release_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/release"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/proof/world"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/speed"
)

var start = world.Start()

// bundle is a Releaser over the store in memory, with queues that note what they take.
type bundle struct {
	*release.Releaser

	t        *testing.T
	store    *store
	clock    *world.Clock
	queue    *queue
	circuits *circuitQueue
	endpoint hook.Endpoint
	parked   []hook.Delivery // the oldest first
}

// setup returns an active new endpoint, known to have parked deliveries, after change.
func setup(t *testing.T, change func(e *hook.Endpoint, r *gate.Record)) *bundle {
	t.Helper()

	w := &bundle{t: t, clock: world.NewClock(start), queue: &queue{}, circuits: &circuitQueue{}, store: &store{Store: memory.NewStore()}}
	var err error
	if w.endpoint, err = world.NewEndpoint(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	record := gate.NewRecord(world.Tenant, w.endpoint.ID).Wait(start)
	if change != nil {
		change(&w.endpoint, &record)
	}
	if err := errors.Join(w.store.CreateEndpoint(t.Context(), w.endpoint), w.store.SaveCircuit(t.Context(), record)); err != nil {
		t.Fatal(err)
	}
	w.Releaser = &release.Releaser{Store: w.store, Queue: w.queue, CircuitQueue: w.circuits, Now: w.clock.Now, Wait: world.NoWait}
	return w
}

// park parks a delivery for each number of attempts, a second apart, the oldest first.
func (w *bundle) park(attempts ...int) {
	w.t.Helper()

	for i, n := range attempts {
		at := start.Add(time.Duration(i-len(attempts)) * time.Second)
		e := hook.Event{
			ID: hook.KeyedEventID(world.Tenant, fmt.Sprint(i)), Tenant: world.Tenant, Type: "order.paid", Payload: []byte("1"),
			Targets: []hook.Target{w.endpoint.Target()}, AcceptedAt: at, ExpiresAt: at.Add(world.Retention),
		}
		d := hook.QueuedDelivery(e, e.Targets[0])
		d.State, d.Reason, d.Attempts, d.Parks, d.Token = hook.StateParked, hook.ReasonInFlight, n, 1, "before"
		if err := w.store.SaveDelivery(w.t.Context(), d, nil); err != nil {
			w.t.Fatal(err)
		}
		w.parked = append(w.parked, d)
	}
}

// lease begins a lease of the i-th parked delivery, or of another delivery for -1, -2 ...
func (w *bundle) lease(i int, left time.Duration) gate.Held {
	w.t.Helper()

	held := gate.Held{Key: fmt.Sprint("other", i), Lease: gate.Lease{Nonce: "n", Run: "r", Until: w.clock.Now().Add(left)}}
	if i >= 0 {
		held.Key = gate.LeaseKey(w.parked[i].ID)
	}
	before := w.limits()
	if err := w.store.ChangeLimits(w.t.Context(), w.endpoint.ID, before, before.Begin(held), 1000); err != nil {
		w.t.Fatal(err)
	}
	return held
}

func (w *bundle) limits() gate.Limits {
	w.t.Helper()

	l, err := w.store.Store.Limits(w.t.Context(), w.endpoint.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *bundle) record() gate.Record {
	w.t.Helper()

	r, err := w.store.Store.Circuit(w.t.Context(), world.Tenant, w.endpoint.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// fill calls Fill with the stored record.
func (w *bundle) fill(parked ...hook.Delivery) (int, error) {
	w.t.Helper()

	return w.Fill(w.t.Context(), w.endpoint, w.record(), parked...)
}

// handOver hands over the leases of attempts that the endpoint answered after the times.
func (w *bundle) handOver(held []gate.Held, answers ...time.Duration) error {
	w.t.Helper()

	return w.HandOver(w.t.Context(), release.Slots{Tenant: world.Tenant, ID: w.endpoint.ID, Endpoint: &w.endpoint, Held: held, Answers: answers})
}

// sent returns the positions of the deliveries whose tokens were sent, with the delays:
// "0 1 2@1s".
func (w *bundle) sent() string {
	w.t.Helper()

	var list []string
	for _, s := range w.queue.sent {
		i := slices.IndexFunc(w.parked, func(d hook.Delivery) bool { return d.Ref() == s.token.Delivery })
		text := fmt.Sprint(i)
		if s.delay > 0 {
			text += "@" + s.delay.String()
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// leased returns the number of leases that have not ended.
func (w *bundle) leased() int { return w.limits().InFlight(w.clock.Now()) }

// fast makes the endpoint fast.
func fast(r *gate.Record) { r.Speed, r.SeenAt = speed.Fast, start }

// open opens the circuit.
func open(r *gate.Record) {
	r.Circuit = circuit.Circuit{State: circuit.Open, Generation: 1, Cooldown: time.Minute, OpenedAt: start, ProbeAt: start.Add(time.Minute)}
}

var errDown = errors.New("the store is down")

// store fails calls, and lets another writer change the limits before a write.
type store struct {
	*memory.Store

	down   string       // the call that fails
	lag    bool         // the index lists no delivery yet
	before func() error // before each change of limits; an error is returned
	lose   bool         // the answer to the next change of limits is lost: the client repeats the write
	calls  sync.Map     // call to true
}

func (s *store) fail(call string) error {
	s.calls.Store(call, true)
	if s.down == call {
		return errDown
	}
	return nil
}

// called reports whether there was such a call.
func (s *store) called(call string) bool {
	_, ok := s.calls.Load(call)
	return ok
}

// Circuit reads a record.
func (s *store) Circuit(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (gate.Record, error) {
	if err := s.fail("read circuit"); err != nil {
		return gate.Record{}, err
	}
	return s.Store.Circuit(ctx, tenant, id)
}

// Limits reads limits.
func (s *store) Limits(ctx context.Context, id hook.EndpointID) (gate.Limits, error) {
	if err := s.fail("read limits"); err != nil {
		return gate.Limits{}, err
	}
	return s.Store.Limits(ctx, id)
}

// ChangeLimits writes limits.
func (s *store) ChangeLimits(ctx context.Context, id hook.EndpointID, before, after gate.Limits, most int) error {
	if err := s.fail("change limits"); err != nil {
		return err
	}
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	if s.lose {
		s.lose = false
		if err := s.Store.ChangeLimits(ctx, id, before, after, most); err != nil {
			return err
		}
	}
	return s.Store.ChangeLimits(ctx, id, before, after, most)
}

// Parked lists deliveries.
func (s *store) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	if err := s.fail("list parked"); err != nil {
		return nil, err
	}
	if s.lag {
		return nil, nil
	}
	return s.Store.Parked(ctx, target, since, limit)
}

type sentToken struct {
	lane  hook.Lane
	token hook.Token
	delay time.Duration
}

// queue takes tokens, but not those of a refused delivery.
type queue struct {
	refuse hook.DeliveryRef

	mu   sync.Mutex
	sent []sentToken
}

// Send takes the tokens.
func (q *queue) Send(_ context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) (errs []error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	for i, token := range tokens {
		if token.Delivery == q.refuse {
			errs = make([]error, len(tokens))
			errs[i] = errDown
			continue
		}
		q.sent = append(q.sent, sentToken{lane, token, delay})
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
