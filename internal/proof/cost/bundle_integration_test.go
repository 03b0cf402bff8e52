//go:build integration

package cost_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"surehook/internal/aws/dynamo"
	"surehook/internal/aws/sqs"
	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/notify"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/memory"
	"surehook/internal/proof/cost"
	"surehook/internal/proof/world"
	"surehook/internal/rule/speed"
	"surehook/internal/rule/stats"
)

// Concurrency of the functions. The number of requests of one kind, divided by the
// concurrency, is the number of sequential requests in an invocation.
const (
	ingestAtOnce  = 16
	deliverAtOnce = 10
	breakerAtOnce = 8
)

// queue is the name of a queue.
type queue string

const (
	live     queue = "live"
	retrying queue = "retry"
	slot     queue = "slot"
	overflow queue = "overflow"
	circuits queue = "circuits"
	letters  queue = "dead-letters"
)

// lane returns the lane of the queue; 0 for a queue without tokens.
func (q queue) lane() hook.Lane {
	for _, lane := range hook.Lanes() {
		if lane.String() == string(q) {
			return lane
		}
	}
	return 0
}

// message waits in a queue until it is due.
type message struct {
	queue queue
	body  string
	due   time.Time
}

// start is the start time of every scenario. The far future keeps emulators from
// expiring records and from running schedules.
var start = time.Date(2036, time.March, 4, 5, 50, 0, 0, time.UTC)

// bundle is the shared wiring over the real adapters on an emulator, with all
// requests in the ledger. Its clock is virtual: the bundle hands over the messages
// that the ledger saw, so no run waits for a retry. The crash injector and the
// ports in memory stay out, because the adapters' requests are the subject.
type bundle struct {
	t         *testing.T
	ledger    *cost.Ledger
	store     *dynamo.Store
	api       http.Handler
	deliverer *deliver.Deliverer
	breaker   *breaker.Breaker
	names     map[string]queue // by URL and by ARN
	batch     int              // messages of a batch of the event source
	unproven  bool             // endpoints are new; otherwise fast
	answer    func(r send.Request) hook.Outcome

	mu        sync.Mutex
	now       time.Time
	ids       *world.IDs
	random    *rand.ChaCha8 // seeded: payloads and ids are the same at every run
	inbox     []message
	lines     bytes.Buffer
	attempts  int
	delivered int
	messages  int // on the lanes
}

func newBundle(t *testing.T, batch int) *bundle {
	t.Helper()

	w := &bundle{t: t, batch: batch, names: make(map[string]queue), now: start, ids: world.NewIDs("ledger"), random: rand.NewChaCha8([32]byte{}), answer: answers(200)}
	plain := emulator(t)
	table := newTable(t, plain)
	w.ledger = cost.NewLedger(keys(), peek(plain, table), w.take)
	cfg := w.ledger.Config(plain)
	log := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: attribute})).
		With(slog.String("requestId", "6d68ca91-49c9-448d-89b8-7ca3e6dc66aa")) //nolint:sloglint // so Lambda's logger calls it

	w.store = dynamo.New(cfg, table)
	urls := sqs.URLs{Live: w.queue(plain, live), Retry: w.queue(plain, retrying), Slot: w.queue(plain, slot), Overflow: w.queue(plain, overflow)}
	tokens, dead := sqs.New(cfg, urls), sqs.NewDeadLetters(cfg, w.queue(plain, letters))
	metrics := emf.Set{Environment: "prod"}
	notifier := &notify.Notifier{History: w.store, Topic: w.topic(plain, cfg), Metrics: metrics, Log: log}
	wiring := world.Wiring{
		Store: w.store, Queue: tokens, Schedules: w.schedules(plain, cfg), DeadLetters: dead,
		CircuitQueue: sqs.NewCircuitQueue(cfg, w.queue(plain, circuits)), Notifier: notifier,
		Settlement: settle.Settlement{Store: w.store, Notifier: notifier, Log: log},
		Vault:      memory.Vault{}, Sender: w, Metrics: metrics, Log: log, Now: w.clock, NewEventID: w.ids.Event,
	}
	acceptor, err := wiring.Acceptor()
	if err != nil {
		t.Fatal(err)
	}
	notifier.Poster = acceptor
	w.api = httpapi.Events(acceptor, log, metrics)
	w.deliverer, w.breaker = wiring.Deliverer(), wiring.Breaker()
	return w
}

// attribute names an attribute as Lambda's logger does. Every line has the same
// timestamp, with all nine digits: a shorter one would change the bytes of the log.
func attribute(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a = slog.Time(slog.TimeKey, start.Add(123456789))
	}
	return lambdacontext.ReplaceAttr(groups, a)
}

// text returns 26 random characters of base32.
func (w *bundle) text() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	text := make([]byte, 26)
	for i := range text {
		text[i] = alphabet[w.random.Uint64()%uint64(len(alphabet))]
	}
	return string(text)
}

func (w *bundle) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.now
}

// Write takes a line of the log.
func (w *bundle) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.lines.Write(line)
}

// Send answers an attempt with the outcome of the scenario.
func (w *bundle) Send(_ context.Context, r send.Request) hook.Outcome {
	outcome := w.answer(r)
	outcome.Duration = cost.ReceiverTime

	w.mu.Lock()
	defer w.mu.Unlock()

	w.attempts++
	if outcome.Class == hook.ClassDelivered {
		w.delivered++
	}
	return outcome
}

func answers(status int) func(send.Request) hook.Outcome {
	return func(send.Request) hook.Outcome {
		o := hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: "https://hooks.example.com/surehook/orders", Body: []byte(`{"ok":true}`)}
		if o.Class != hook.ClassDelivered {
			o.Body = []byte(`{"error":"service unavailable","request_id":"0123456789abcdef"}`)
			o.Error = fmt.Sprintf("the endpoint answered %d", status)
		}
		return o
	}
}

// take puts a sent message into the inbox.
func (w *bundle) take(m cost.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()

	name := w.names[m.Queue]
	if name == letters {
		return // no function receives dead letters here
	}
	due := w.now.Add(time.Duration(m.Delay) * time.Second)
	if m.At != "" {
		var err error
		if due, err = time.Parse("at(2006-01-02T15:04:05)", m.At); err != nil {
			w.t.Errorf("schedule at %s: %v", m.At, err)
		}
	}
	if name != circuits {
		w.messages++
	}
	w.inbox = append(w.inbox, message{name, m.Body, due})
}

// post posts n events at once: singly, or as a batch when there are several.
func (w *bundle) post(n int) {
	w.t.Helper()

	event := map[string]any{"event_type": "order.paid", "payload": json.RawMessage(w.payload())}
	var body any = event
	path := "/v1/tenants/" + string(tenant) + "/events"
	if n > 1 {
		events := make([]any, n)
		for i := range events {
			events[i] = event
		}
		body, path = map[string]any{"events": events}, path+"/batch"
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.invoke(n, ingestAtOnce, func() {
		ctx := httpapi.WithPrincipal(w.t.Context(), hook.Principal{Key: "key_0123456789abcdef", Tenant: tenant, Scopes: []hook.Scope{hook.ScopeEventsWrite}})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(encoded))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		w.api.ServeHTTP(answer, r)
		if answer.Code != http.StatusAccepted {
			w.t.Fatalf("POST %s = %d %s; want 202", path, answer.Code, answer.Body)
		}
	})
	const apiChunk = 512 << 10
	w.ledger.Add(cost.Usage{cost.APIRequest: float64((len(encoded) + apiChunk - 1) / apiChunk)})
	w.ledger.Add(cost.LogUsage(cost.AccessLine + "\n"))
}

// payload returns 500 bytes, mostly random text, compressed by a third.
func (w *bundle) payload() string {
	head := `{"order":"` + w.text() + `","customer":"` + w.text() + `","currency":"EUR","total":12990,"lines":["`
	for len(head) < 496 {
		head += w.text()
	}
	return head[:497] + `"]}`
}

// mostTicks bounds the wait for deliveries without a message.
const mostTicks = 200

// drain hands over all messages when due. While fewer than want deliveries
// succeeded, the breaker's tick looks for deliveries without a message.
func (w *bundle) drain(want int) {
	w.t.Helper()

	for ticks := 0; ; {
		name, batch := w.next()
		if len(batch) == 0 {
			if ticks++; w.delivered >= want || ticks > mostTicks {
				return
			}
			w.tick()
			continue
		}
		size := 0
		for _, m := range batch {
			size += len(m.body)
		}
		// One poll received them and one request deletes them.
		w.ledger.Add(cost.QueueUsage(size, true).Plus(cost.QueueUsage(0, true)))
		if name == circuits {
			w.invoke(len(batch), breakerAtOnce, func() { w.attend(batch) })
			continue
		}
		w.invoke(len(batch), deliverAtOnce, func() { w.deliver(name, batch) })
	}
}

// tick runs the breaker's tick a minute later.
func (w *bundle) tick() {
	w.t.Helper()

	w.mu.Lock()
	w.now = w.now.Add(time.Minute)
	w.mu.Unlock()
	w.invoke(1, breakerAtOnce, func() {
		if err := w.breaker.Tick(w.t.Context()); err != nil {
			w.t.Fatalf("Tick() = %v", err)
		}
	})
}

// next takes the next batch of one queue, and moves the clock to its due time.
func (w *bundle) next() (queue, []message) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if len(w.inbox) == 0 {
		return "", nil
	}
	// By body, too: function ingest sends the chunks of a batch concurrently.
	slices.SortStableFunc(w.inbox, func(a, b message) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.body, b.body)) })
	if first := w.inbox[0].due; first.After(w.now) {
		w.now = first
	}
	name := w.inbox[0].queue
	limit := min(w.batch, world.Batch(name.lane()))
	var batch, rest []message
	for _, m := range w.inbox {
		if m.queue == name && !m.due.After(w.now) && len(batch) < limit {
			batch = append(batch, m)
		} else {
			rest = append(rest, m)
		}
	}
	w.inbox = rest
	return name, batch
}

func (w *bundle) deliver(name queue, batch []message) {
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: w.text(), Body: m.body, Lane: name.lane()}
	}
	if failed := w.deliverer.ProcessBatch(w.t.Context(), messages); len(failed) > 0 {
		w.t.Fatalf("ProcessBatch() returned %d of %d messages:\n%s", len(failed), len(messages), w.lines.String())
	}
}

func (w *bundle) attend(batch []message) {
	for _, m := range batch {
		look, err := hook.DecodeCircuitCheck(m.body)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.breaker.Reconcile(w.t.Context(), look); err != nil {
			w.t.Fatalf("Reconcile(%+v) = %v", look, err)
		}
	}
}

// invoke counts an invocation for n messages or events, with its duration and its
// log. Requests of one kind are concurrent, requests of different kinds sequential.
func (w *bundle) invoke(n, atOnce int, f func()) {
	w.t.Helper()

	before, attempts := w.account(), w.attempts
	w.lines.Reset()
	f()
	d := time.Duration(n) * cost.WorkTime
	for name, requests := range w.account().Requests {
		made := int(requests - before.Requests[name])
		d += time.Duration((made+atOnce-1)/atOnce) * cost.RequestTime
	}
	if w.attempts > attempts {
		d += cost.ReceiverTime
	}
	w.ledger.Add(cost.InvocationUsage(d).Plus(cost.LogUsage(w.lines.String())))
}

func (w *bundle) account() cost.Account {
	w.t.Helper()

	account, err := w.ledger.Account()
	if err != nil {
		w.t.Fatal(err)
	}
	return account
}

// endpoint creates an endpoint, and resets the ledger.
func (w *bundle) endpoint(change func(e *hook.Endpoint)) {
	w.t.Helper()

	e, err := world.EndpointWith(w.t.Context(), w.ids.Endpoint(), world.Secret, w.clock())
	if err != nil {
		w.t.Fatal(err)
	}
	e.URL = "https://hooks.example.com/surehook/orders"
	if change != nil {
		change(&e)
	}
	if err := w.store.CreateEndpoint(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
	w.fill(e)
	if !w.unproven {
		record := gate.NewRecord(e.Tenant, e.ID)
		record.Speed, record.SpeedAt, record.SeenAt = speed.Fast, w.clock(), w.clock()
		if err := w.store.SaveCircuit(w.t.Context(), record); err != nil {
			w.t.Fatal(err)
		}
	}
	w.ledger.Reset()
}

// fill counts the hour as a busy hour near its end: every minute has deliveries,
// with durations of 20 ms to 2 s. The item only grows.
func (w *bundle) fill(e hook.Endpoint) {
	w.t.Helper()

	now := w.clock()
	for minute := range 50 {
		var counts stats.Counts
		for i := range 40 {
			took := time.Duration(20*math.Pow(100, float64(i)/40)) * time.Millisecond
			counts.Count(stats.Attempt{Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Age: took, Duration: took})
			counts.OK++
		}
		if _, err := w.store.Count(w.t.Context(), e.Tenant, e.ID, counts, now.Add(-time.Duration(minute)*time.Minute)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// warm posts and delivers one event, to fill the caches, and resets the ledger.
func (w *bundle) warm() {
	w.t.Helper()

	w.post(1)
	w.drain(1)
	w.ledger.Reset()
	w.attempts, w.delivered, w.messages = 0, 0, 0
}
