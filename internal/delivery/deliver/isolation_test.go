package deliver_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/proof/world"
	"surehook/internal/rule/sign"
)

// TestIsolation runs seventeen good endpoints on the in-memory stack, in virtual
// time: alone, and beside three bad endpoints. The bad endpoints answer after 9.5 s,
// answer 503 always, and receive a flood of 10,000 events. The p99 of the good
// endpoints may grow by half at most.
func TestIsolation(t *testing.T) {
	t.Parallel()

	alone := latencies(t, false)
	beside := latencies(t, true)
	p50, p99 := percentile(alone, 50), percentile(alone, 99)
	bad50, bad99 := percentile(beside, 50), percentile(beside, 99)
	t.Logf("17 good endpoints alone:              p50 %v, p99 %v, %d deliveries", p50, p99, len(alone))
	t.Logf("beside a slow, a broken, a flooded:   p50 %v, p99 %v, %d deliveries", bad50, bad99, len(beside))
	if len(alone) != len(beside) {
		t.Errorf("%d deliveries with the bad three; want %d, as without", len(beside), len(alone))
	}
	if bad99 > p99*3/2 {
		t.Errorf("p99 is %v beside the bad three and %v without; want at most 1.5 times as long", bad99, p99)
	}
}

const (
	goodEndpoints = 17
	functions     = 20 // deliver functions at the live lane, the maximum concurrency of a small stack
	retriers      = 10 // and at the retry lane
	batchSize     = 10
	pollEvery     = 20 * time.Millisecond
	overhead      = 5 * time.Millisecond // of an invocation
	runFor        = 2 * time.Minute
	flood         = 10_000
)

// lab is the real use case with a simulated receiver per endpoint.
type lab struct {
	store *memory.Store
	queue *memory.Queue
	took  map[hook.EndpointID]func() (time.Duration, int) // duration and status of the next answer

	leaves func() // called when a request is answered; may be nil

	mu        sync.Mutex
	good      map[hook.EndpointID]bool
	latencies []time.Duration
	delays    int // tokens sent by the functions: delayed by the gate, where no attempt fails
}

func (l *lab) Send(_ context.Context, r send.Request) hook.Outcome {
	wait, status := l.took[r.Endpoint.ID]()
	time.Sleep(wait) // virtual
	if l.leaves != nil {
		l.leaves()
	}
	return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: r.Endpoint.URL, Duration: wait}
}

// EnqueueReview is never called: the lab reviews no endpoints.
func (l *lab) EnqueueReview(context.Context, hook.ReviewPage) error { return nil }

func (l *lab) Enqueue(context.Context, hook.CircuitCheck, time.Duration) error { return nil }

// arrived keeps the latency of a delivery to a good endpoint, from event to answer.
func (l *lab) arrived(d hook.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.good[d.ID.Endpoint] && d.State == hook.StateDelivered {
		l.latencies = append(l.latencies, d.UpdatedAt.Sub(d.CreatedAt))
	}
}

// noting reports saved deliveries to the lab.
type noting struct {
	*memory.Store
	lab *lab
}

func (n noting) SaveDelivery(ctx context.Context, d hook.Delivery, a *hook.Attempt) error {
	err := n.Store.SaveDelivery(ctx, d, a)
	if err == nil {
		n.lab.arrived(d)
	}
	return err
}

// counting reports sent tokens to the lab.
type counting struct {
	*memory.Queue
	lab *lab
}

func (c counting) Send(ctx context.Context, lane hook.Lane, tokens []hook.Token, delay time.Duration) []error {
	c.lab.mu.Lock()
	c.lab.delays += len(tokens)
	c.lab.mu.Unlock()
	return c.Queue.Send(ctx, lane, tokens, delay)
}

// latencies runs the lab and returns the latency of each delivery to a good endpoint.
func latencies(t *testing.T, bad bool) []time.Duration {
	t.Helper()

	var got []time.Duration
	synctest.Test(t, func(t *testing.T) {
		l := newLab()
		dice := rand.New(rand.NewPCG(1, 2))
		steady := make([]hook.EndpointID, 0, goodEndpoints+2)
		for range goodEndpoints {
			base := time.Duration(20+dice.IntN(80)) * time.Millisecond
			id := l.endpoint(t, nil, func() (time.Duration, int) { return base, 200 })
			l.good[id] = true
			steady = append(steady, id)
		}
		if bad {
			steady = append(steady,
				l.endpoint(t, nil, func() (time.Duration, int) { return 9500 * time.Millisecond, 200 }),
				l.endpoint(t, nil, func() (time.Duration, int) { return 50 * time.Millisecond, 503 }))
			flooded := l.endpoint(t, nil, func() (time.Duration, int) { return 50 * time.Millisecond, 200 })
			go func() {
				time.Sleep(runFor / 4)
				for range flood {
					l.post(t, flooded)
				}
			}()
		}
		for _, id := range steady {
			go func() {
				for end := time.Now().Add(runFor); time.Now().Before(end); time.Sleep(time.Second) {
					l.post(t, id)
				}
			}()
		}
		l.run(t, runFor+time.Minute)
		got = l.latencies
	})
	return got
}

// function takes batches from the lane, as Lambda's pollers do, one after the other.
func (l *lab) function(ctx context.Context, t *testing.T, lane hook.Lane) {
	t.Helper()

	d := world.Wiring{
		Store: noting{l.store, l}, Queue: counting{l.queue, l}, Schedules: memory.NewSchedules(l.queue, time.Now),
		DeadLetters: memory.NewDeadLetters(l.queue), CircuitQueue: l, Notifier: &memory.Notifications{},
		Settlement: settle.Settlement{Store: l.store}, Vault: memory.Vault{}, Sender: l,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}.Deliverer()
	for ctx.Err() == nil {
		batch := l.queue.Receive(lane, batchSize)
		if len(batch) == 0 {
			time.Sleep(pollEvery)
			continue
		}
		messages := make([]deliver.Message, len(batch))
		for i, m := range batch {
			body, err := m.Token.Encode()
			if err != nil {
				t.Error(err)
			}
			messages[i] = deliver.Message{ID: m.ID, Body: body}
		}
		time.Sleep(overhead)
		failed := d.ProcessBatch(context.WithoutCancel(ctx), messages)
		for _, m := range batch {
			if !slices.Contains(failed, m.ID) {
				l.queue.Delete(m.ID)
			}
		}
	}
}

func newLab() *lab {
	l := &lab{store: memory.NewStore(), good: map[hook.EndpointID]bool{}, took: map[hook.EndpointID]func() (time.Duration, int){}}
	l.queue = memory.NewQueue(time.Now)
	l.queue.Fair = true
	l.queue.Visibility = 6 * time.Minute
	return l
}

// run lets the functions work for d.
func (l *lab) run(t *testing.T, d time.Duration) {
	t.Helper()

	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i := range functions + retriers {
		lane := hook.LaneLive
		if i >= functions {
			lane = hook.LaneRetry
		}
		running.Go(func() { l.function(ctx, t, lane) })
	}
	time.Sleep(d)
	stop()
	running.Wait()
}

func (l *lab) endpoint(t *testing.T, change func(e *hook.Endpoint), took func() (time.Duration, int)) hook.EndpointID {
	t.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(t.Context(), sign.NewSecret(), "acme", id)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	e := hook.Endpoint{
		ID: id, Tenant: "acme", URL: "https://example.com/" + string(id), EventTypes: []string{"*"},
		Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge, Style: hook.StyleStandard, Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: now}},
		Status:  hook.StatusActive, StatusSince: now, CreatedAt: now, UpdatedAt: now,
	}
	if change != nil {
		change(&e)
	}
	if err := l.store.CreateEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	l.took[id] = took
	return id
}

func (l *lab) post(t *testing.T, id hook.EndpointID) {
	t.Helper()

	event, err := hook.NewEventID()
	if err != nil {
		t.Error(err)
	}
	now := time.Now()
	e := hook.Event{
		ID: event, Tenant: "acme", Type: "order.paid", Payload: []byte("1"), Targets: []hook.Target{{Endpoint: id, Shards: 1}},
		AcceptedAt: now, ExpiresAt: now.Add(24 * time.Hour),
	}
	if err := l.store.PutEvent(t.Context(), e); err != nil {
		t.Error(err)
	}
	token := hook.NewToken("acme", hook.QueuedDelivery(e, e.Targets[0]).Ref(), 1)
	if errs := l.queue.Send(t.Context(), hook.LaneLive, []hook.Token{token}, 0); errs != nil {
		t.Error(fmt.Errorf("send: %v", errs))
	}
}

func percentile(of []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
