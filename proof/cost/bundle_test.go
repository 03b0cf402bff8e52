package cost_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/aws/lambdalog"
	"surehook.example/surehook/internal/aws/sns"
	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/cost"
	"surehook.example/surehook/proof/world"
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
	replays  queue = "replay"
	slot     queue = "slot"
	overflow queue = "overflow"
	windows  queue = "coalesce"
	circuits queue = "circuits"
	letters  queue = "dead-letters"
)

// queue returns the name of a queue of tasks; 0 for another queue.
func (q queue) queue() hook.Queue {
	for _, queue := range hook.Queues() {
		if queue.String() == string(q) {
			return queue
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

// start is the start time of every scenario.
var start = time.Date(2036, time.March, 4, 5, 50, 0, 0, time.UTC)

// bundle is the shared wiring over the real adapters, with all requests in the ledger,
// and answered in this process. Its clock is virtual: the bundle hands over the messages
// that the ledger saw, so no run waits for a retry. The crash injector and the
// ports in memory stay out, because the adapters' requests are the subject.
type bundle struct {
	t         *testing.T
	ledger    *cost.Ledger
	store     *dynamo.Store
	api       http.Handler
	source    *source.Source
	processes []*deliver.Deliverer // each processes a batch, in turn
	breaker   *breaker.Breaker
	replayer  *replay.Replayer
	names     map[string]queue // by URL and by ARN
	batch     int              // messages of a batch of the event source
	unproven  bool             // endpoints are new; otherwise fast
	perMinute int              // deliveries of the endpoint in the hour before
	key       string           // the ordering key of what is posted
	answer    func(r send.Request) hook.Outcome

	mu        sync.Mutex
	now       time.Time
	ids       *world.IDs
	random    *rand.ChaCha8 // seeded: payloads and ids are the same at every run
	inbox     []message
	lines     bytes.Buffer
	attempts  int
	delivered int
	messages  int // on the queues
	batches   int // received by function deliver
	inBatch   map[hook.EndpointID]int
	longest   time.Duration // attempt of the invocation

	connections map[connection]kept
	handshakes  int // of the invocation
}

// connection is of a process to an endpoint.
type connection struct {
	process  int
	endpoint hook.EndpointID
}

// kept are the open connections at rest since the last use.
type kept struct {
	n    int
	used time.Time
}

// connect counts the handshakes for n attempts to the endpoint at the same time.
func (w *bundle) connect(c connection, n int) {
	now, open := w.clock(), w.connections[c]
	if now.Sub(open.used) > cost.EndpointIdle || w.batch == one {
		open.n = 0
	}
	w.handshakes += max(0, n-open.n)
	w.connections[c] = kept{max(n, open.n), now}
}

func newBundle(t *testing.T, batch, processes int) *bundle {
	t.Helper()

	w := &bundle{t: t, batch: batch, perMinute: 40, names: make(map[string]queue), connections: make(map[connection]kept), now: start, ids: world.NewIDs("ledger"), random: rand.NewChaCha8([32]byte{}), answer: answers(200)}
	aws := services{table.New(memory.Schema())}
	aws.table.Now = w.clock
	w.ledger = cost.NewLedger(memory.Schema(), aws.peek, w.take)
	cfg := aws.config(w.ledger)
	log := slog.New(dated{lambdalog.New(w).Handler()})

	w.store = dynamo.New(cfg, memory.Schema().Name)
	urls := sqs.URLs{hook.QueueLive: w.queue(live), hook.QueueRetry: w.queue(retrying), hook.QueueReplay: w.queue(replays), hook.QueueSlot: w.queue(slot), hook.QueueOverflow: w.queue(overflow), hook.QueueCoalesce: w.queue(windows)}
	tasks, dead := sqs.New(cfg, urls), sqs.NewDeadLetters(cfg, w.queue(letters))
	metrics := emf.Set{Environment: "prod"}
	notifier := &notify.Notifier{History: w.store, Topic: sns.New(cfg, "arn:aws:sns:us-east-1:000000000000:cost"), Metrics: metrics, Log: log}
	wiring := world.Wiring{
		Store: w.store, Queue: tasks, Schedules: w.schedules(cfg), DeadLetters: dead,
		CircuitQueue: sqs.NewCircuitQueue(cfg, w.queue(circuits)), Notifier: notifier,
		Vault: memory.Vault{}, Sender: w, Remote: abroad{w}, AWS: w, Metrics: metrics, Log: log, Now: w.clock, NewEventID: w.ids.Event,
	}
	acceptor := wiring.Acceptor()
	notifier.Poster = acceptor
	w.api = httpapi.Events(acceptor, log)
	w.source = &source.Source{
		Reader: source.Reader{Tenant: names.DefaultTenantPath, Body: httpapi.ReadEvent}, Acceptor: acceptor, // no message returns or is wrong
		Rand: rand.Float64, Metrics: metrics, Log: log, Now: w.clock,
	}
	for range processes {
		w.processes = append(w.processes, wiring.Deliverer())
	}
	w.breaker, w.replayer = wiring.Breaker(), wiring.Replayer()
	return w
}

// dated gives every line the same time, with all its digits: a shorter one would change
// the bytes of the log.
type dated struct{ slog.Handler }

func (h dated) Handle(ctx context.Context, r slog.Record) error {
	r.Time = start.Add(123456789)
	invocation := &lambdacontext.LambdaContext{AwsRequestID: "6d68ca91-49c9-448d-89b8-7ca3e6dc66aa"}
	return h.Handler.Handle(lambdacontext.NewContext(ctx, invocation), r)
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
	outcome.Duration = max(outcome.Duration, cost.ReceiverTime)

	w.mu.Lock()
	defer w.mu.Unlock()

	w.attempts++
	w.longest = max(w.longest, outcome.Duration)
	if outcome.Class == hook.ClassDelivered {
		w.delivered++
	}
	return outcome
}

func answers(status int) func(send.Request) hook.Outcome {
	return func(r send.Request) hook.Outcome {
		o := hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: "https://hooks.example.com/surehook/orders", Body: []byte(`{"ok":true}`)}
		if o.Class != hook.ClassDelivered || r.Endpoint.RecordHeaders {
			o.Headers = map[string]string{"Content-Type": "application/json", "Server": "cloudflare", "Cf-Ray": "9a1b2c3d4e5f6a7b-FRA"}
			o.Sent = map[string]string{
				"Accept": "*/*", "Content-Type": "application/json", "User-Agent": "Surehook/1.0.0", "Traceparent": "00-725affb5918f8a538ae20ffcc3895dfc-68144a9b842e0618-02",
				"Webhook-Id": string(r.Event.ID), "Webhook-Signature": "v1,OUx4QaimCI3U2WX5Ar3e0Alsz5ubqmZIC+DTNEk0C1o=", "Webhook-Timestamp": "1795960041",
				"X-Webhook-Attempt": "1", "X-Webhook-Delivery": "dlv_3jbbzvb4cfh99rnrgfzk1rjqfw_90ggxvhy5xcp4w0f_1", "X-Webhook-Event": r.Event.Type, "X-Api-Key": hook.Masked,
			}
		}
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

// mostTicks bounds the wait for deliveries without a message.
const mostTicks = 200

// drain hands over all messages when due. While fewer than want deliveries
// succeeded, the breaker's tick looks for deliveries without a message.
func (w *bundle) drain(want int) {
	w.t.Helper()

	for ticks := 0; ; {
		if w.handOver(forever) {
			continue
		}
		if ticks++; w.delivered >= want || ticks > mostTicks {
			return
		}
		w.tick()
	}
}

// forever is after every due time.
const forever = 1000 * time.Hour

// handOver hands over the next batch due within the time from now, and moves the clock to
// its due time.
func (w *bundle) handOver(within time.Duration) bool {
	w.t.Helper()

	name, batch := w.next(within)
	if len(batch) == 0 {
		return false
	}
	for polled := range slices.Chunk(batch, full) {
		size := 0
		for _, m := range polled {
			size += len(m.body)
		}
		// One poll received them and one request deletes them.
		w.ledger.Add(cost.QueueUsage(size, true).Plus(cost.QueueUsage(0, true)))
	}
	if name == circuits {
		w.invoke(len(batch), breakerAtOnce, func() { w.attend(batch) })
	} else {
		w.invoke(len(batch), deliverAtOnce, func() { w.deliver(name, batch) })
	}
	return true
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

// next takes the next batch of one queue due within the time from now, and moves the
// clock to its due time.
func (w *bundle) next(within time.Duration) (queue, []message) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if len(w.inbox) == 0 {
		return "", nil
	}
	// By body, too: function ingest sends the chunks of a batch concurrently.
	slices.SortStableFunc(w.inbox, func(a, b message) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.body, b.body)) })
	if first := w.inbox[0].due; first.After(w.now.Add(within)) {
		return "", nil
	} else if first.After(w.now) {
		w.now = first
	}
	name := w.inbox[0].queue
	limit := min(w.batch, world.Batch(name.queue()))
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
	w.inBatch = make(map[hook.EndpointID]int)
	for i, m := range batch {
		if task, err := hook.DecodeTask(m.body); err == nil {
			w.inBatch[task.Delivery.Endpoint]++
		}
		messages[i] = deliver.Message{ID: w.text(), Body: m.body, Queue: name.queue()}
	}
	w.batches++
	for endpoint, n := range w.inBatch {
		if name == windows {
			n = 1 // one request
		}
		w.connect(connection{w.batches % len(w.processes), endpoint}, n)
	}
	process := w.processes[w.batches%len(w.processes)]
	if failed := process.ProcessBatch(w.t.Context(), messages); len(failed) > 0 {
		w.t.Fatalf("ProcessBatch() returned %d of %d messages:\n%s", len(failed), len(messages), w.lines.String())
	}
}

func (w *bundle) attend(batch []message) {
	for _, m := range batch {
		look, err := hook.DecodeCircuitMessage(m.body)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := w.breaker.Reconcile(w.t.Context(), look.CircuitCheck); err != nil {
			w.t.Fatalf("Reconcile(%+v) = %v", look, err)
		}
	}
}

// invoke counts an invocation for n messages or events, with its duration and its
// log. Requests of one kind are concurrent, requests of different kinds sequential.
func (w *bundle) invoke(n, atOnce int, f func()) {
	w.t.Helper()

	before := w.account()
	w.longest, w.handshakes = 0, 0
	w.lines.Reset()
	f()
	if w.batch == one { // connections to DynamoDB and SQS have rested, too
		w.handshakes += 2
	}
	memory := cost.MemoryMB
	if atOnce == breakerAtOnce {
		memory = cost.BreakerMB
	}
	d := cost.WorkTime(float64(n), memory)
	for name, requests := range w.account().Requests {
		made := int(requests - before.Requests[name])
		d += time.Duration((made+atOnce-1)/atOnce) * cost.RequestTime
	}
	d += w.longest + cost.HandshakeTime(float64(w.handshakes), memory)
	w.ledger.Add(cost.InvocationUsage(d, memory).Plus(cost.LogUsage(w.lines.String())))
}

func (w *bundle) account() cost.Account {
	w.t.Helper()

	account, err := w.ledger.Account()
	if err != nil {
		w.t.Fatal(err)
	}
	return account
}
