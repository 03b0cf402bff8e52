//go:build integration

package cost_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
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
	"surehook/internal/delivery/ingest"
	"surehook/internal/delivery/notify"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/httpapi"
	"surehook/internal/memory"
	"surehook/internal/proof/cost"
	"surehook/internal/rule/sign"
	"surehook/internal/rule/stats"
)

// How many things a function works on at once: what many requests of one kind
// are divided by to know how long they take one after the other.
const (
	ingestAtOnce  = 16
	deliverAtOnce = 10
	breakerAtOnce = 8
)

// queue is one that has a function behind it.
type queue string

const (
	live     queue = "live"
	retrying queue = "retry"
	circuits queue = "circuits"
	letters  queue = "dead-letters"
)

// message waits in a queue until it is due.
type message struct {
	queue queue
	body  string
	due   time.Time
}

// world is the real use cases over the real adapters on an emulator, all of
// whose requests are in the ledger. Messages are handed over in its own time, by
// what the ledger saw go to the queues, so that nobody waits for a retry.
type world struct {
	t         *testing.T
	ledger    *cost.Ledger
	store     *dynamo.Store
	api       http.Handler
	deliverer *deliver.Deliverer
	breaker   *breaker.Breaker
	names     map[string]queue // by URL and by ARN
	batch     int              // messages that an event source hands over at once
	answer    func(r send.Request) hook.Outcome

	mu        sync.Mutex
	now       time.Time
	inbox     []message
	lines     bytes.Buffer
	attempts  int // that were made
	delivered int
	messages  int // that were put on the lanes
}

func newWorld(t *testing.T, batch int) *world {
	t.Helper()

	w := &world{t: t, batch: batch, names: make(map[string]queue), now: time.Now().UTC().Truncate(time.Hour).Add(50 * time.Minute), answer: answers(200)}
	plain := emulator(t)
	table := newTable(t, plain)
	w.ledger = cost.NewLedger(keys(), peek(plain, table), w.take)
	cfg := w.ledger.Config(plain)
	log := slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})).
		With(slog.String("requestId", "6d68ca91-49c9-448d-89b8-7ca3e6dc66aa")) //nolint:sloglint // so Lambda's logger calls it

	w.store = dynamo.New(cfg, table)
	urls := sqs.URLs{Live: w.queue(plain, live), Retry: w.queue(plain, retrying)}
	tokens, dead := sqs.New(cfg, urls), sqs.NewDeadLetters(cfg, w.queue(plain, letters))
	attention := sqs.NewCircuitQueue(cfg, w.queue(plain, circuits))
	directory, err := ingest.NewDirectory(w.store)
	if err != nil {
		t.Fatal(err)
	}
	acceptor := &ingest.Acceptor{
		Store: w.store, Queue: tokens, Directory: directory, Retention: 90 * 24 * time.Hour, Now: w.clock, NewID: hook.NewEventID,
	}
	metrics := emf.Set{Environment: "prod"}
	w.api = httpapi.Events(acceptor, log, metrics)
	notices := notify.Notifier{History: w.store, Poster: acceptor, Topic: w.topic(plain, cfg), Metrics: metrics, Log: log}
	after := settle.Settlement{Store: w.store, Notifier: notices}
	w.deliverer = &deliver.Deliverer{
		Store: w.store, Queue: tokens, Schedules: w.schedules(plain, cfg), DeadLetters: dead, Vault: memory.Vault{}, Sender: w,
		Gate:       &gate.Gate{Store: w.store, CircuitQueue: attention, Notifier: notices, Now: w.clock, Rand: func() float64 { return 0.5 }},
		Settlement: after, Notifier: notices, Metrics: metrics, Log: log, Now: w.clock,
	}
	w.breaker = &breaker.Breaker{
		Store: w.store, Queue: tokens, DeadLetters: dead, CircuitQueue: attention, Settlement: after,
		Notifier: notices, Metrics: metrics, Log: log, Now: w.clock,
	}
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.now
}

// Write takes a line of the log.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.lines.Write(line)
}

// Send answers an attempt as the world says.
func (w *world) Send(_ context.Context, r send.Request) hook.Outcome {
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

// take puts what was sent into the inbox.
func (w *world) take(m cost.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()

	name := w.names[m.Queue]
	if name == letters {
		return // nobody works on them
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
func (w *world) post(n int) {
	w.t.Helper()

	event := map[string]any{"type": "order.paid", "payload": json.RawMessage(payload())}
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

// payload is 500 bytes, most of them random text, which compresses by a third.
func payload() string {
	head := `{"order":"` + rand.Text() + `","customer":"` + rand.Text() + `","currency":"EUR","total":12990,"lines":["`
	for len(head) < 496 {
		head += rand.Text()
	}
	return head[:497] + `"]}`
}

// mostTicks bounds how long the world waits for what nobody was told of.
const mostTicks = 200

// drain hands over everything, in its time, until nothing is left. While fewer
// deliveries succeeded than should, the breaker's tick looks for what is left.
func (w *world) drain(want int) {
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
		w.invoke(len(batch), deliverAtOnce, func() { w.deliver(batch) })
	}
}

// tick runs the breaker's tick a minute later.
func (w *world) tick() {
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

// next takes the messages of one queue that an event source hands over next, and moves the clock to when they are due.
func (w *world) next() (queue, []message) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if len(w.inbox) == 0 {
		return "", nil
	}
	slices.SortStableFunc(w.inbox, func(a, b message) int { return a.due.Compare(b.due) })
	if first := w.inbox[0].due; first.After(w.now) {
		w.now = first
	}
	name := w.inbox[0].queue
	var batch, rest []message
	for _, m := range w.inbox {
		if m.queue == name && !m.due.After(w.now) && len(batch) < w.batch {
			batch = append(batch, m)
		} else {
			rest = append(rest, m)
		}
	}
	w.inbox = rest
	return name, batch
}

func (w *world) deliver(batch []message) {
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: rand.Text(), Body: m.body}
	}
	if failed := w.deliverer.ProcessBatch(w.t.Context(), messages); len(failed) > 0 {
		w.t.Fatalf("Batch() returned %d of %d messages:\n%s", len(failed), len(messages), w.lines.String())
	}
}

func (w *world) attend(batch []message) {
	for _, m := range batch {
		look, err := hook.DecodeCircuitCheck(m.body)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.breaker.Reconcile(w.t.Context(), look); err != nil {
			w.t.Fatalf("Attend(%+v) = %v", look, err)
		}
	}
}

// invoke counts an invocation of a function that works on n things, with its
// time and its log. Requests of one kind are made at once, those of different kinds in turn.
func (w *world) invoke(n, atOnce int, f func()) {
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

func (w *world) account() cost.Account {
	w.t.Helper()

	account, err := w.ledger.Account()
	if err != nil {
		w.t.Fatal(err)
	}
	return account
}

// endpoint creates an endpoint, and forgets what that costs.
func (w *world) endpoint(change func(e *hook.Endpoint)) {
	w.t.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(w.t.Context(), sign.NewSecret(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	now := w.clock()
	e := hook.Endpoint{
		ID: id, Tenant: tenant, URL: "https://hooks.example.com/surehook/orders", EventTypes: []string{"*"},
		Retry: hook.RetryPolicy{Preset: "standard"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge,
		Style: hook.StyleStandard, Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: now}},
		Status:  hook.StatusActive, StatusSince: now, CreatedAt: now, UpdatedAt: now,
	}
	if change != nil {
		change(&e)
	}
	if err := w.store.CreateEndpoint(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
	w.fill(e)
	w.ledger.Reset()
}

// fill makes the counts of the hour those of a busy one that is nearly over:
// every minute has some, and answers took 20 ms to 2 s. The item only grows.
func (w *world) fill(e hook.Endpoint) {
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

// warm posts and delivers one event, so that caches are as they are at work, and forgets what that costs.
func (w *world) warm() {
	w.t.Helper()

	w.post(1)
	w.drain(1)
	w.ledger.Reset()
	w.attempts, w.delivered, w.messages = 0, 0, 0
}
