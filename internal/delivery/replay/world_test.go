package replay_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/replay"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/sign"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// world is the real use cases of replay and delivery over the memory ports, with
// a clock that a test moves, receivers that answer as they are told, and a
// replayer that can be made to die at any effect.
type world struct {
	t         *testing.T
	store     *memory.Store
	queue     *memory.Queue
	schedules *memory.Schedules
	jobs      *memory.JobQueue
	deliverer *deliver.Deliverer
	crash     *crash
	spy       *spy

	mu     sync.Mutex
	now    time.Time
	answer func(r send.Request) int // the status
	posts  map[hook.DeliveryID]int
}

func newWorld(t *testing.T) *world {
	t.Helper()

	w := &world{
		t: t, store: memory.NewStore(), now: start, crash: &crash{}, spy: &spy{},
		posts:  make(map[hook.DeliveryID]int),
		answer: func(send.Request) int { return 200 },
	}
	w.queue = memory.NewQueue(w.clock)
	w.schedules = memory.NewSchedules(w.queue, w.clock)
	w.jobs = memory.NewJobQueue(w.clock)
	w.deliverer = &deliver.Deliverer{
		Store: w.store, Queue: w.queue, Schedules: w.schedules, DeadLetters: memory.NewDeadLetters(w.queue),
		Vault: memory.Vault{}, Sender: w,
		Gate:       &gate.Gate{Store: w.store, CircuitQueue: w, Notifier: &memory.Notifications{}, Now: w.clock, Rand: func() float64 { return 0.5 }},
		Settlement: settle.Settlement{Store: w.store},
		Notifier:   &memory.Notifications{},
		Log:        slog.New(slog.DiscardHandler), Now: w.clock,
	}
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

func (w *world) Enqueue(context.Context, hook.CircuitCheck, time.Duration) error { return nil }

func (w *world) Send(_ context.Context, r send.Request) hook.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.posts[r.Delivery]++
	status := w.answer(r)
	return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: r.Endpoint.URL}
}

// replayer returns a new process over the same world.
func (w *world) replayer() *replay.Replayer {
	ports := dying{w: w}
	return &replay.Replayer{
		Store: ports, Index: ports, Endpoints: w.store, Jobs: ports, Queue: ports, JobQueue: ports, Settlement: ports,
		Log: slog.New(slog.DiscardHandler), Now: w.clock, NewID: hook.NewJobID,
	}
}

// endpoint creates an active endpoint that does not retry.
func (w *world) endpoint(change func(e *hook.Endpoint)) hook.Endpoint {
	w.t.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(w.t.Context(), sign.NewSecret(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	e := hook.Endpoint{
		ID: id, Tenant: "acme", URL: "https://example.com/hook", EventTypes: []string{"*"},
		Retry:   hook.RetryPolicy{Schedule: []time.Duration{time.Minute}, Jitter: hook.JitterNone},
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

// event stores an event for the endpoints and sends no token.
func (w *world) event(eventType string, at time.Time, targets ...hook.Endpoint) hook.Event {
	w.t.Helper()

	id, err := hook.NewEventID()
	if err != nil {
		w.t.Fatal(err)
	}
	e := hook.Event{
		ID: id, Tenant: "acme", Type: eventType, Payload: []byte(`{"n": 1}`), Nonce: "n",
		AcceptedAt: at, ExpiresAt: at.Add(90 * 24 * time.Hour),
	}
	for _, target := range targets {
		e.Targets = append(e.Targets, target.ID)
	}
	if err := w.store.PutEvent(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
	return e
}

// past stores n deliveries to the endpoint in the state, one a second older
// than the next, the youngest an hour old. They are in the order of their age.
func (w *world) past(e hook.Endpoint, state hook.State, n int) []hook.DeliveryID {
	w.t.Helper()

	ids := make([]hook.DeliveryID, n)
	for i := range ids {
		ids[i] = w.one(e, state, "order.paid", start.Add(-time.Hour-time.Duration(n-i)*time.Second))
	}
	return ids
}

func (w *world) one(e hook.Endpoint, state hook.State, eventType string, at time.Time) hook.DeliveryID {
	w.t.Helper()

	d := hook.QueuedDelivery(w.event(eventType, at, e), e.ID)
	d.State, d.Token = state, hook.NewNonce()
	switch state {
	case hook.StateDead:
		d.Reason, d.Attempts, d.Last = hook.ReasonExhausted, 2, hook.Outcome{Class: hook.ClassUnavailable, Status: 503, Error: "503"}
	case hook.StateDelivered:
		d.Attempts, d.Last = 1, hook.Outcome{Class: hook.ClassDelivered, Status: 200}
	case hook.StateParked:
		d.Reason = hook.ReasonPaused
	case hook.StateRetrying:
		d.Attempts, d.NextAttemptAt = 1, start.Add(time.Hour)
	case hook.StateQueued:
		return d.ID
	case hook.StateDiscarded, hook.StateCancelled:
		d.Reason = hook.ReasonManual
	}
	w.save(d)
	return d.ID
}

func (w *world) save(d hook.Delivery) {
	w.t.Helper()

	if err := w.store.SaveDelivery(w.t.Context(), d, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delivery(id hook.DeliveryID) hook.Delivery {
	w.t.Helper()

	d, err := w.store.Delivery(w.t.Context(), id)
	if err != nil {
		w.t.Fatalf("delivery %s: %v", id, err)
	}
	return d
}

func (w *world) job(id hook.JobID) replay.Progress {
	w.t.Helper()

	p, err := w.replayer().Job(w.t.Context(), "acme", id)
	if err != nil {
		w.t.Fatalf("job %s: %v", id, err)
	}
	return p
}

func (w *world) start(q replay.JobRequest) replay.Job {
	w.t.Helper()

	if q.Rate == 0 {
		q.Rate = replay.DefaultRate
	}
	q.By = "key_0000000000000001"
	j, err := w.replayer().Start(w.t.Context(), "acme", q)
	if err != nil {
		w.t.Fatalf("Start(%+v) = %v", q, err)
	}
	return j
}

// work gives one message of the jobs queue to a new process, as Lambda does. A
// process that dies reports nothing.
func (w *world) work() bool {
	w.t.Helper()

	received := w.jobs.Receive(1)
	if len(received) == 0 {
		return false
	}
	err := w.replayer().Work(w.t.Context(), received[0].Job)
	if dead := w.crash.recover(); !dead && err == nil {
		w.jobs.Delete(received[0].ID)
	}
	return true
}

// deliver gives one batch of the lane to function deliver.
func (w *world) deliver(lane hook.Lane) bool {
	w.t.Helper()

	batch := w.queue.Receive(lane, 10)
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body}
	}
	failed := w.deliverer.ProcessBatch(w.t.Context(), messages)
	for _, m := range batch {
		if !slices.Contains(failed, m.ID) {
			w.queue.Delete(m.ID)
		}
	}
	return len(batch) > 0
}

// step moves the clock to the next message and works on all that is due.
func (w *world) step() bool {
	w.t.Helper()

	at, more := w.queue.Next()
	if other, ok := w.jobs.Next(); ok && (!more || other.Before(at)) {
		at, more = other, true
	}
	if !more {
		return false
	}
	w.sleepUntil(at)
	for w.work() || w.deliver(hook.LaneReplay) || w.deliver(hook.LaneRetry) || w.deliver(hook.LaneLive) {
		continue
	}
	return true
}

func (w *world) run() {
	w.t.Helper()

	for range 100_000 {
		if !w.step() {
			return
		}
	}
	w.t.Fatal("the queues did not become empty")
}

// states returns how many of the deliveries, in the generation given, are in
// which state: "2 delivered, 1 dead".
func (w *world) states(ids []hook.DeliveryID, generation int) string {
	w.t.Helper()

	counts := make(map[string]int)
	for _, id := range ids {
		id.Generation = generation
		d, err := w.store.Delivery(w.t.Context(), id)
		switch {
		case hook.CodeOf(err) == hook.CodeNotFound:
			counts["none"]++
		case err != nil:
			w.t.Fatal(err)
		default:
			counts[strings.TrimSpace(d.State.String()+" "+string(d.Reason))]++
		}
	}
	var all []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%d %s", counts[state], state))
	}
	return strings.Join(all, ", ")
}
