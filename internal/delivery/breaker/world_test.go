package breaker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/sign"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// world is the real breaker, gate and deliver over the memory ports, with a
// clock that a test moves, an endpoint that answers as it is told, and a breaker
// that can be made to die at any effect.
type world struct {
	t           *testing.T
	store       *memory.Store
	queue       *memory.Queue
	deadLetters *memory.DeadLetters
	schedules   *memory.Schedules
	attention   *memory.CircuitQueue
	notices     memory.Notifications // of the breaker
	spy         *spy
	noTicks     bool
	looksEach   int // how many processes get each look at the same time; 0 is one

	mu     sync.Mutex
	now    time.Time
	ticked time.Time
	answer func(n int) int // the status of the n-th POST, from 1
	posts  []post
	log    bytes.Buffer
}

type post struct {
	at       time.Time
	delivery hook.DeliveryID
}

func newWorld(t *testing.T) *world {
	t.Helper()

	w := &world{t: t, store: memory.NewStore(), now: start, ticked: start, spy: &spy{requests: map[string]int{}}}
	w.queue = memory.NewQueue(w.clock)
	w.deadLetters = memory.NewDeadLetters(w.queue)
	w.schedules = memory.NewSchedules(w.queue, w.clock)
	w.attention = memory.NewCircuitQueue(w.clock)
	w.answer = func(int) int { return 200 }
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.now = w.now.Add(d)
}

func (w *world) Send(_ context.Context, r send.Request) hook.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.posts = append(w.posts, post{w.now, r.Delivery})
	status := w.answer(len(w.posts))
	return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: "https://example.com/hook"}
}

func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.log.Write(line)
}

// lines returns the wide lines with the message.
func (w *world) lines(message string) []map[string]any {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()

	var lines []map[string]any
	for line := range bytes.Lines(w.log.Bytes()) {
		var attrs map[string]any
		if err := json.Unmarshal(line, &attrs); err != nil {
			w.t.Fatal(err)
		}
		if attrs["msg"] == message {
			lines = append(lines, attrs)
		}
	}
	return lines
}

// attended returns the values that the wide lines have under the key.
func (w *world) attended(key string) []any {
	w.t.Helper()

	var values []any
	for _, line := range w.lines("circuit.reconciled") {
		values = append(values, line[key])
	}
	return values
}

// breaker returns a new process over the same world.
func (w *world) breaker() *breaker.Breaker {
	ports := spied{w.store, w.queue, w.attention, &w.notices, w.spy}
	return &breaker.Breaker{
		Store: ports, Queue: ports, DeadLetters: spiedLetters{w.deadLetters, w.spy}, CircuitQueue: ports,
		Settlement: settle.Settlement{Store: ports}, Notifier: ports,
		Metrics: emf.Set{Environment: "test"}, Log: slog.New(slog.NewJSONHandler(w, nil)), Now: w.clock,
	}
}

func (w *world) deliverer() *deliver.Deliverer {
	ports := counted{w.store, w.queue, w.attention, w.spy}
	return &deliver.Deliverer{
		Store: ports, Queue: ports, Schedules: w.schedules, DeadLetters: w.deadLetters, Vault: memory.Vault{}, Sender: w,
		Gate:       &gate.Gate{Store: ports, CircuitQueue: ports, Notifier: &memory.Notifications{}, Now: w.clock, Rand: func() float64 { return 0.5 }},
		Settlement: settle.Settlement{Store: w.store},
		Notifier:   &memory.Notifications{},
		Log:        slog.New(slog.DiscardHandler), Now: w.clock,
	}
}

// endpoint creates an active endpoint that retries every 10 s, often, without jitter.
func (w *world) endpoint(change func(e *hook.Endpoint)) hook.Endpoint {
	w.t.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(w.t.Context(), sign.NewSecret(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	e := hook.Endpoint{
		ID: id, Tenant: "acme", URL: "https://example.com/hook", EventTypes: []string{"*"},
		Retry:   hook.RetryPolicy{Schedule: slices.Repeat([]time.Duration{10 * time.Second}, 20), Jitter: hook.JitterNone},
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

func (w *world) event(e hook.Endpoint, at time.Time) hook.Event {
	w.t.Helper()

	id, err := hook.NewEventID()
	if err != nil {
		w.t.Fatal(err)
	}
	event := hook.Event{
		ID: id, Tenant: "acme", Type: "order.paid", Payload: []byte(`{"n": 1}`), Targets: []hook.EndpointID{e.ID},
		AcceptedAt: at, ExpiresAt: at.Add(90 * 24 * time.Hour), Nonce: "n",
	}
	if err := w.store.PutEvent(w.t.Context(), event); err != nil {
		w.t.Fatal(err)
	}
	return event
}

// post accepts n events for the endpoint, a millisecond apart, and puts their tokens on the live lane.
func (w *world) post(e hook.Endpoint, n int) []hook.DeliveryID {
	w.t.Helper()

	var ids []hook.DeliveryID
	for range n {
		w.pass(time.Millisecond)
		ids = append(ids, hook.QueuedDelivery(w.event(e, w.clock()), e.ID).ID)
		if errs := w.queue.Send(w.t.Context(), hook.LaneLive, []hook.Token{hook.NewToken("acme", ids[len(ids)-1], 1)}, 0); errs != nil {
			w.t.Fatal(errs)
		}
	}
	return ids
}

// park stores parked deliveries of these ages.
func (w *world) park(e hook.Endpoint, ages ...time.Duration) []hook.DeliveryID {
	w.t.Helper()

	var ids []hook.DeliveryID
	for _, age := range ages {
		d := hook.QueuedDelivery(w.event(e, w.clock().Add(-age)), e.ID)
		d.State, d.Reason, d.Token = hook.StateParked, hook.ReasonCircuit, hook.NewNonce()
		if err := w.store.SaveDelivery(w.t.Context(), d, nil); err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	return ids
}

// ages returns n ages, the oldest first, a second apart.
func ages(n int) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = time.Duration(n-i) * time.Second
	}
	return list
}

// record changes the endpoint's record.
func (w *world) record(e hook.Endpoint, change func(r gate.Record) gate.Record) {
	w.t.Helper()

	if err := w.store.SaveCircuit(w.t.Context(), change(w.circuit(e))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) circuit(e hook.Endpoint) gate.Record {
	w.t.Helper()

	r, err := w.store.Circuit(w.t.Context(), e.Tenant, e.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// open opens the endpoint's circuit as the gate does, when somebody waits.
func (w *world) open(e hook.Endpoint) {
	w.t.Helper()

	settings := circuit.Settings{CircuitSettings: e.Circuit.WithDefaults()}
	w.record(e, func(r gate.Record) gate.Record { return r.Wait(w.clock()).Trip(settings, w.clock()) })
	w.ask(hook.CircuitCheck{Tenant: e.Tenant, Endpoint: e.ID}, settings.Cooldown)
}

func (w *world) ask(look hook.CircuitCheck, delay time.Duration) {
	w.t.Helper()

	if err := w.attention.Enqueue(w.t.Context(), look, delay); err != nil {
		w.t.Fatal(err)
	}
}

// runFor moves the clock from one thing that happens to the next, as long as d.
func (w *world) runFor(d time.Duration) {
	w.t.Helper()

	end := w.clock().Add(d)
	for {
		next := end
		if !w.noTicks {
			next = earlier(next, w.ticked.Add(time.Minute), true)
		}
		at, ok := w.queue.Next()
		next = earlier(next, at, ok)
		at, ok = w.attention.Next()
		next = earlier(next, at, ok)
		w.pass(max(0, next.Sub(w.clock())))
		if !w.clock().Before(end) {
			return
		}
		w.step()
	}
}

func earlier(a, b time.Time, ok bool) time.Time {
	if ok && b.Before(a) {
		return b
	}
	return a
}

// step does what is due now.
func (w *world) step() {
	w.t.Helper()

	if !w.noTicks && !w.clock().Before(w.ticked.Add(time.Minute)) {
		w.ticked = w.clock()
		if err := w.breaker().Tick(w.t.Context()); err != nil && !w.spy.recover() {
			w.t.Errorf("Tick() = %v", err)
		}
	}
	for _, m := range w.attention.Receive(10) {
		var wg sync.WaitGroup
		errs := make([]error, max(w.looksEach, 1))
		for i := range errs {
			wg.Go(func() { errs[i] = w.breaker().Reconcile(w.t.Context(), m.Check) })
		}
		wg.Wait()
		switch err := errors.Join(errs...); {
		case w.spy.recover(): // the look comes again
		case err != nil:
			w.t.Errorf("Attend(%+v) = %v", m.Check, err)
		default:
			w.attention.Delete(m.ID)
		}
	}
	for _, lane := range []hook.Lane{hook.LaneLive, hook.LaneRetry, hook.LaneReplay} {
		for w.deliver(lane) {
		}
	}
}

// deliver gives one batch of the lane to a process; false if there is none.
func (w *world) deliver(lane hook.Lane) bool {
	w.t.Helper()

	batch := w.queue.Receive(lane, 10)
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body}
	}
	again := w.deliverer().ProcessBatch(w.t.Context(), messages)
	for _, m := range batch {
		if !slices.Contains(again, m.ID) {
			w.queue.Delete(m.ID)
		}
	}
	return len(batch) > 0
}

// states returns how many of the deliveries are in each state, "2 dead expired, 1 parked circuit_open".
func (w *world) states(ids []hook.DeliveryID) string {
	w.t.Helper()

	counts := map[string]int{}
	for _, id := range ids {
		d, err := w.store.Delivery(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		counts[strings.TrimSpace(d.State.String()+" "+string(d.Reason))]++
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return strings.Join(parts, ", ")
}

// waves returns what was posted, together at one time each, in the order of the
// ids. The first wave goes out at the time at which the probe came through.
func (w *world) waves(ids []hook.DeliveryID) [][]hook.DeliveryID {
	var waves [][]hook.DeliveryID
	var last time.Time
	for _, p := range w.posts {
		if len(waves) == 0 || !p.at.Equal(last) {
			waves = append(waves, nil)
			last = p.at
		}
		waves[len(waves)-1] = append(waves[len(waves)-1], p.delivery)
	}
	for _, wave := range waves {
		slices.SortFunc(wave, func(a, b hook.DeliveryID) int { return slices.Index(ids, a) - slices.Index(ids, b) })
	}
	return waves
}

func sizes(waves [][]hook.DeliveryID) []int {
	var list []int
	for _, wave := range waves {
		list = append(list, len(wave))
	}
	return list
}
