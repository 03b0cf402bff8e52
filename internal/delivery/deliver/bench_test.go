package deliver_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/egress"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/proof/world"
	"surehook/internal/rule/sign"
	"surehook/internal/rule/speed"
)

// benchBatch is the number of messages in a batch of the queue.
const benchBatch = 10

// BenchmarkDeliverer_Batch delivers a batch to one endpoint on loopback, or to ten.
// Bare sends the same ten payloads with the same headers, a signature and an http.Client only. Ratio
// runs both by turns, so that other load on the machine affects both alike; of-bare
// is the share of the bare loop's throughput.
func BenchmarkDeliverer_Batch(b *testing.B) {
	for _, endpoints := range []int{1, benchBatch} {
		name := "endpoints=" + strconv.Itoa(endpoints)
		w := newBench(b, endpoints)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w.forget()
				messages := w.messages(b)
				b.StartTimer()
				w.deliver(b, messages)
			}
		})
		b.Run("ratio/"+name, func(b *testing.B) {
			var ours, bare time.Duration
			for b.Loop() {
				w.forget()
				messages := w.messages(b)
				begun := time.Now()
				w.deliver(b, messages)
				between := time.Now()
				w.bare(b)
				ours, bare = ours+between.Sub(begun), bare+time.Since(between)
			}
			b.ReportMetric(bare.Seconds()/ours.Seconds(), "of-bare")
		})
	}
	w := newBench(b, 0)
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			w.bare(b)
		}
	})
}

// bench is the real use case over memory, and its endpoints on loopback.
type bench struct {
	deliverer *deliver.Deliverer
	store     *memory.Store
	endpoints []hook.EndpointID
	payload   []byte

	received *atomic.Int64 // requests

	client *http.Client
	url    string
	key    sign.Key
}

func newBench(b *testing.B, endpoints int) *bench {
	b.Helper()

	received := new(atomic.Int64)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		received.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	b.Cleanup(receiver.Close)
	secret := sign.NewSecret()
	key, err := sign.Parse(secret)
	if err != nil {
		b.Fatal(err)
	}
	policy := egress.Policy{Loopback: true}
	w := &bench{
		store:    memory.NewStore(),
		received: received,
		payload:  bytes.Repeat([]byte("1"), 500),
		client:   &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchBatch}},
		url:      receiver.URL,
		key:      key,
	}
	queue := memory.NewQueue(time.Now)
	w.deliverer = world.Wiring{
		Store: w.store, Queue: queue, Schedules: memory.NewSchedules(queue, time.Now), DeadLetters: memory.NewDeadLetters(queue),
		CircuitQueue: memory.NewCircuitQueue(time.Now), Notifier: &memory.Notifications{}, Settlement: settle.Settlement{Store: w.store},
		Vault:  memory.Vault{},
		Sender: &send.Sender{Client: egress.NewClient(policy), Policy: policy, UserAgent: "Surehook/bench", Now: time.Now},
		Log:    slog.New(slog.DiscardHandler), Now: time.Now,
	}.Deliverer()
	for range endpoints {
		w.endpoints = append(w.endpoints, w.endpoint(b, secret))
	}
	return w
}

func (w *bench) endpoint(b *testing.B, secret string) hook.EndpointID {
	b.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(b.Context(), secret, "acme", id)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	err = w.store.CreateEndpoint(b.Context(), hook.Endpoint{
		ID: id, Tenant: "acme", URL: w.url, EventTypes: []string{"*"},
		Retry: hook.RetryPolicy{Schedule: []time.Duration{time.Minute}}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge,
		Style: hook.StyleStandard, Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: now}},
		Status:  hook.StatusActive, StatusSince: now, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		b.Fatal(err)
	}
	// A new endpoint is not fast, and its tokens would move to lane slot, unsent.
	record := gate.NewRecord("acme", id)
	record.Speed, record.SpeedAt, record.SeenAt = speed.Fast, now, now
	if err := w.store.SaveCircuit(b.Context(), record); err != nil {
		b.Fatal(err)
	}
	return id
}

// messages stores events and returns the batch of their tokens, for the endpoints by turns.
func (w *bench) messages(b *testing.B) []deliver.Message {
	b.Helper()

	messages := make([]deliver.Message, benchBatch)
	for i := range messages {
		endpoint := w.endpoints[i%len(w.endpoints)]
		event, err := hook.NewEventID()
		if err != nil {
			b.Fatal(err)
		}
		e := hook.Event{
			ID: event, Tenant: "acme", Type: "order.paid", Payload: w.payload, Targets: []hook.Target{{Endpoint: endpoint, Shards: 1}}, AcceptedAt: time.Now(),
		}
		err = w.store.PutEvent(b.Context(), e)
		if err != nil {
			b.Fatal(err)
		}
		token := hook.NewToken("acme", hook.QueuedDelivery(e, e.Targets[0]).Ref(), 1)
		body, err := token.Encode()
		if err != nil {
			b.Fatal(err)
		}
		messages[i] = deliver.Message{ID: strconv.Itoa(i), Body: body}
	}
	return messages
}

// forget removes the delivered events and all that expires: a function keeps no records either,
// and the collection of the kept ones would count as work of a delivery.
func (w *bench) forget() {
	w.store.Expire(time.Now().AddDate(1, 0, 0))
}

func (w *bench) deliver(b *testing.B, messages []deliver.Message) {
	b.Helper()

	before := w.received.Load()
	defer func() {
		if got := w.received.Load() - before; got != benchBatch {
			b.Fatalf("the receiver got %d requests of a batch; want %d", got, benchBatch)
		}
	}()
	if failed := w.deliverer.ProcessBatch(b.Context(), messages); len(failed) > 0 {
		b.Fatalf("Batch() = %v; want none failed", failed)
	}
}

// bare sends as many signed requests at once as a batch does.
func (w *bench) bare(b *testing.B) {
	b.Helper()

	var posts sync.WaitGroup
	for range benchBatch {
		posts.Go(func() {
			if err := w.post(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
	posts.Wait()
}

func (w *bench) post(ctx context.Context) error {
	now := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(w.payload))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	// The headers of a delivery: a share is of the same request.
	req.Header.Set("User-Agent", "Surehook/bench")
	req.Header.Set("X-Webhook-Event", "order.paid")
	req.Header.Set("X-Webhook-Delivery", "dlv_7esq587grdgq1a74fmzr4eddmc_g9erm47fngq2q4y6_1")
	req.Header.Set("X-Webhook-Attempt", "1")
	req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	req.Header.Set("Webhook-Id", "evt_1")
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", sign.Standard([]sign.Key{w.key}, sign.Message{ID: "evt_1", Timestamp: now, Body: w.payload}))
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
