package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/sign"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// world is the real use case over the memory ports, with a clock that a test
// moves, an endpoint that answers as it is told, and a process that can be
// made to die at any effect.
type world struct {
	t           *testing.T
	store       *memory.Store
	queue       *memory.Queue
	deadLetters *memory.DeadLetters
	schedules   *memory.Schedules
	crash       *crash
	gate        deliver.Gate
	asks        []hook.CircuitCheck // what the gate asked the breaker for

	mu     sync.Mutex
	now    time.Time
	answer func(r send.Request) hook.Outcome
	posts  []send.Request
}

func newWorld(t *testing.T) *world {
	t.Helper()

	w := &world{t: t, store: memory.NewStore(), now: start, crash: &crash{}}
	w.gate = &gate.Gate{Store: w.store, CircuitQueue: w, Notifier: &memory.Notifications{}, Now: w.clock, Rand: func() float64 { return 0.5 }}
	w.queue = memory.NewQueue(w.clock)
	w.deadLetters = memory.NewDeadLetters(w.queue)
	w.schedules = memory.NewSchedules(w.queue, w.clock)
	w.answer = always(200)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.now
}

func (w *world) sleepUntil(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if at.After(w.now) {
		w.now = at
	}
}

func (w *world) Enqueue(_ context.Context, look hook.CircuitCheck, _ time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.asks = append(w.asks, look)
	return nil
}

func (w *world) Send(_ context.Context, r send.Request) hook.Outcome {
	w.mu.Lock()
	w.posts = append(w.posts, r)
	answer := w.answer
	w.mu.Unlock()
	return answer(r)
}

func always(status int) func(send.Request) hook.Outcome {
	return func(send.Request) hook.Outcome {
		return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: "https://example.com/hook"}
	}
}

// inTurn answers attempt n with the n-th status, and those after with the last.
func inTurn(statuses ...int) func(send.Request) hook.Outcome {
	return func(r send.Request) hook.Outcome {
		return always(statuses[min(r.Attempt, len(statuses))-1])(r)
	}
}

// deliverer returns a new process over the same world.
func (w *world) deliverer() *deliver.Deliverer {
	store := crashStore{w.store, w.crash}
	return &deliver.Deliverer{
		Store:       store,
		Queue:       crashQueue{w.queue, w.crash},
		Schedules:   crashSchedules{w.schedules, w.crash},
		DeadLetters: crashLetters{w.deadLetters, w.crash},
		Vault:       memory.Vault{},
		Sender:      w,
		Gate:        w.gate,
		Settlement:  settle.Settlement{Store: store},
		Notifier:    &memory.Notifications{},
		Log:         slog.New(slog.DiscardHandler),
		Now:         w.clock,
	}
}

// endpoint creates an active endpoint that retries after 10 s, then 20 m, without jitter.
func (w *world) endpoint(change func(e *hook.Endpoint)) hook.Endpoint {
	w.t.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(w.t.Context(), sign.NewSecret(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	e := hook.Endpoint{
		ID: id, Tenant: "acme", URL: "https://example.com/hook", EventTypes: []string{"*"},
		Retry:   hook.RetryPolicy{Schedule: []time.Duration{10 * time.Second, 20 * time.Minute}, Jitter: hook.JitterNone},
		Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge,
		Style: hook.StyleStandard, Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: start}},
		Status:  hook.StatusActive, StatusSince: start, CreatedAt: start, UpdatedAt: start,
	}
	if change != nil {
		change(&e)
	}
	if err := w.store.CreateEndpoint(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
	e.Version = 1
	return e
}

// post accepts an event for the endpoints and puts its tokens on the live lane.
func (w *world) post(endpoints ...hook.Endpoint) []hook.DeliveryID {
	w.t.Helper()

	id, err := hook.NewEventID()
	if err != nil {
		w.t.Fatal(err)
	}
	now := w.clock()
	e := hook.Event{ID: id, Tenant: "acme", Type: "order.paid", Payload: []byte(`{"n": 1}`), AcceptedAt: now, ExpiresAt: now.Add(90 * 24 * time.Hour), Nonce: "n"}
	var deliveries []hook.DeliveryID
	for _, endpoint := range endpoints {
		e.Targets = append(e.Targets, endpoint.ID)
		deliveries = append(deliveries, hook.DeliveryID{Event: id, Endpoint: endpoint.ID, Generation: 1})
	}
	if err := w.store.PutEvent(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
	for _, d := range deliveries {
		w.enqueue(hook.LaneLive, hook.NewToken("acme", d, 1))
	}
	return deliveries
}

func (w *world) enqueue(lane hook.Lane, tokens ...hook.Token) {
	w.t.Helper()

	if errs := w.queue.Send(w.t.Context(), lane, tokens, 0); errs != nil {
		w.t.Fatal(errs)
	}
}

// invoke gives one batch of the lane to a new process, as Lambda does: what it
// does not report as failed is deleted. A process that dies reports nothing.
func (w *world) invoke(lane hook.Lane) (received, failed int) {
	w.t.Helper()

	batch := w.queue.Receive(lane, 10)
	if len(batch) == 0 {
		return 0, 0
	}
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body}
	}
	again := w.deliverer().ProcessBatch(w.t.Context(), messages)
	if w.crash.happened() {
		w.crash.recover()
		return len(batch), len(batch)
	}
	for _, m := range batch {
		keep := false
		for _, id := range again {
			keep = keep || id == m.ID
		}
		if !keep {
			w.queue.Delete(m.ID)
		}
	}
	return len(batch), len(again)
}

// run moves the clock from message to message until there is none.
func (w *world) run() {
	w.t.Helper()

	for range 200 {
		at, ok := w.queue.Next()
		if !ok {
			return
		}
		w.sleepUntil(at)
		w.invoke(hook.LaneLive)
		w.invoke(hook.LaneRetry)
		w.invoke(hook.LaneReplay)
	}
	w.t.Fatal("the queue did not become empty in 200 rounds")
}

func (w *world) delivery(id hook.DeliveryID) hook.Delivery {
	w.t.Helper()

	d, err := w.store.Delivery(w.t.Context(), id)
	if err != nil {
		w.t.Fatalf("delivery %s: %v", id, err)
	}
	return d
}

// attempts returns "number class" of each recorded attempt.
func (w *world) attempts(id hook.DeliveryID) []string {
	w.t.Helper()

	recorded, err := w.store.Attempts(w.t.Context(), id.Event)
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for _, a := range recorded {
		if a.Delivery == id {
			list = append(list, fmt.Sprintf("%d %s", a.Number, a.Outcome.Class))
		}
	}
	return list
}

// crash kills the process at its n-th effect, before it or after it.
type crash struct {
	mu     sync.Mutex
	at     int // 0: never
	after  bool
	effect int
	dead   bool
}

var errDead = errors.New("the process is dead")

func (c *crash) do(effect func() error) error {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return errDead
	}
	c.effect++
	hit := c.at != 0 && c.effect == c.at
	c.dead = hit
	c.mu.Unlock()
	if hit && !c.after {
		return errDead
	}
	if err := effect(); err != nil || !hit {
		return err
	}
	return errDead
}

func (c *crash) happened() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.dead
}

// recover starts the next process; it lives.
func (c *crash) recover() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.dead, c.at = false, 0
}

type crashStore struct {
	*memory.Store
	c *crash
}

func (s crashStore) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	return s.c.do(func() error { return s.Store.SaveDelivery(ctx, d, a) })
}

func (s crashStore) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	return s.c.do(func() error { return s.Store.UpdateEndpoint(ctx, e) })
}

func (s crashStore) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	return s.c.do(func() error { return s.Store.RecordOutcome(ctx, d) })
}

type crashQueue struct {
	*memory.Queue
	c *crash
}

func (q crashQueue) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	if err := q.c.do(func() error { return errors.Join(q.Queue.Send(ctx, lane, tokens, delay)...) }); err != nil {
		return []error{err}
	}
	return nil
}

type crashLetters struct {
	*memory.DeadLetters
	c *crash
}

func (l crashLetters) Send(ctx context.Context, letter hook.DeadLetter) error {
	return l.c.do(func() error { return l.DeadLetters.Send(ctx, letter) })
}

type crashSchedules struct {
	*memory.Schedules
	c *crash
}

func (s crashSchedules) At(ctx context.Context, token hook.Token, at time.Time) error {
	return s.c.do(func() error { return s.Schedules.At(ctx, token, at) })
}
