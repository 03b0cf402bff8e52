package reliability_test

import (
	"container/heap"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// site is an endpoint with the counts of its deliveries.
type site struct {
	class    int
	endpoint hook.Endpoint
	outages  timeline
	answer   receiver      // by the time since the beginning of the trouble
	lead     time.Duration // from the start to the beginning of the trouble

	posted, requests, wasted, delivered, dead int
	took                                      map[time.Time]time.Duration // of the delivered events, by their acceptance
}

// trial runs the real use cases for the sites. Its clock goes from event to event.
type trial struct {
	clock     *world.Clock
	ids       *world.IDs
	sites     map[hook.EndpointID]*site
	order     []*site // as they were added
	store     *memory.Store
	queue     *memory.TaskQueues
	circuits  *memory.CircuitQueue
	acceptor  *ingest.Acceptor
	deliverer *deliver.Deliverer
	breaker   *breaker.Breaker
	posts     posts

	mu sync.Mutex // guards the counts of the sites: deliver works on a batch concurrently
}

// newTrial returns a trial of the shared wiring over its own clock. The crash
// injector stays out: nothing fails here but the endpoints.
func newTrial(t *testing.T) *trial {
	t.Helper()

	w := &trial{
		clock: world.NewClock(start), ids: world.NewIDs("reliability"), sites: map[hook.EndpointID]*site{}, store: memory.NewStore(),
	}
	w.queue, w.circuits = memory.NewTaskQueues(w.clock.Now), memory.NewCircuitQueue(w.clock.Now)
	wiring := world.Wiring{
		Store: ending{w.store, w}, Queue: w.queue, Schedules: memory.NewSchedules(w.queue, w.clock.Now), DeadLetters: memory.NewDeadLetters(w.queue),
		CircuitQueue: w.circuits, Notifier: silent{},
		Vault: memory.Vault{}, Sender: w, Log: slog.New(slog.DiscardHandler), Now: w.clock.Now, NewEventID: w.ids.Event,
	}
	w.acceptor = wiring.Acceptor()
	w.acceptor.Retention = 5 * 24 * time.Hour // the store of all days would not fit into memory
	w.deliverer, w.breaker = wiring.Deliverer(), wiring.Breaker()
	return w
}

// silent drops notifications.
type silent struct{}

func (silent) Notify(context.Context, hook.Notification) error { return nil }

// ending counts settled deliveries.
type ending struct {
	*memory.Store
	w *trial
}

func (e ending) SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error {
	err := e.Store.SaveDelivery(ctx, d, attempt)
	if err == nil {
		e.w.count(d)
	}
	return err
}

func (w *trial) count(d hook.Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()

	s := w.sites[d.ID.Endpoint]
	switch d.State {
	case hook.StateDelivered:
		s.delivered++
		s.took[d.CreatedAt] = w.clock.Now().Sub(d.CreatedAt)
	case hook.StateDead:
		s.dead++
	case hook.StateQueued, hook.StateRetrying, hook.StateParked, hook.StateDiscarded, hook.StateCancelled:
	}
}

// Send is the endpoint.
func (w *trial) Send(_ context.Context, r send.Request) hook.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()

	s := w.sites[r.Endpoint.ID]
	at := w.clock.Now().Sub(start) - s.lead
	if at >= 0 {
		s.requests++
	}
	o := s.answer(r.Event.AcceptedAt.Sub(start)-s.lead, r.Attempt, at)
	if o.Class != hook.ClassDelivered {
		s.wasted++
	}
	return o
}

// add creates an endpoint with all defaults but the changes, alone in its tenant.
func (w *trial) add(t *testing.T, tenant string, class int, outages timeline, changes ...func(e *hook.Endpoint)) *site {
	t.Helper()

	e, err := world.EndpointWith(t.Context(), w.ids.Endpoint(), world.Secret, start)
	if err != nil {
		t.Fatal(err)
	}
	e.Tenant = hook.TenantID(tenant)
	if e.Secrets[0].Sealed, err = (memory.Vault{}).Seal(t.Context(), world.Secret, e.Tenant, e.ID); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(&e)
	}
	if err := w.store.CreateEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	s := &site{class: class, endpoint: e, outages: outages, took: make(map[time.Time]time.Duration)}
	s.answer = closedDuring(outages)
	w.sites[e.ID] = s
	w.order = append(w.order, s)
	return s
}

// run posts events to each site at the rate for the span, and continues until all
// deliveries are settled.
func (w *trial) run(t *testing.T, rng *rand.Rand, every, span time.Duration, posted func(s *site, at time.Duration)) {
	t.Helper()

	w.runUntil(t, rng, every, span, 0, posted)
}

// runUntil is run, but ends after the time at the latest; 0: it does not.
func (w *trial) runUntil(t *testing.T, rng *rand.Rand, every, span, end time.Duration, posted func(s *site, at time.Duration)) {
	t.Helper()

	for _, s := range w.order {
		heap.Push(&w.posts, post{start.Add(exponential(rng, every)), s})
	}
	tick, review, expire := start.Add(time.Minute), start.Add(15*time.Minute), start.Add(time.Hour)
	for {
		next, ok := w.next()
		if !ok && w.ended() {
			return
		}
		if !ok || tick.Before(next) {
			next = tick
		}
		if end > 0 && next.Sub(start) > end {
			return
		}
		w.clock.Until(next)
		for len(w.posts) > 0 && !w.posts[0].at.After(next) {
			p, _ := heap.Pop(&w.posts).(post)
			if p.at.Sub(start) > span {
				continue
			}
			p.site.posted++
			posted(p.site, p.at.Sub(start))
			if _, err := w.acceptor.Accept(t.Context(), p.site.endpoint.Tenant, ingest.Request{Type: "order.paid", Payload: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
			heap.Push(&w.posts, post{p.at.Add(exponential(rng, every)), p.site})
		}
		w.deliver(t)
		for _, m := range w.circuits.Receive(10) {
			if err := w.breaker.Reconcile(t.Context(), m.CircuitCheck); err != nil {
				t.Fatal(err)
			}
			w.circuits.Delete(m.ID)
		}
		if !w.clock.Now().Before(tick) {
			if err := w.breaker.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			tick = w.clock.Now().Add(time.Minute)
		}
		if !w.clock.Now().Before(review) {
			if err := w.breaker.Review(t.Context()); err != nil {
				t.Fatal(err)
			}
			review = w.clock.Now().Add(15 * time.Minute)
		}
		if !w.clock.Now().Before(expire) {
			w.store.Expire(w.clock.Now())
			expire = w.clock.Now().Add(time.Hour)
		}
	}
}

// deliver gives all due messages to the deliverer.
func (w *trial) deliver(t *testing.T) {
	t.Helper()

	for _, queue := range hook.Queues() {
		for {
			batch := w.queue.Receive(queue, world.Batch(queue))
			if len(batch) == 0 {
				break
			}
			messages := make([]deliver.Message, len(batch))
			for i, m := range batch {
				messages[i] = deliver.Message{ID: m.ID, Body: m.Body, Queue: queue}
			}
			if failed := w.deliverer.ProcessBatch(t.Context(), messages); len(failed) > 0 {
				t.Fatalf("%d messages of a batch failed at %s", len(failed), w.clock.Now())
			}
			for _, m := range batch {
				w.queue.Delete(m.ID)
			}
		}
	}
}

// ended reports whether all deliveries are settled. Parked deliveries wait for time only.
func (w *trial) ended() bool {
	for _, s := range w.order {
		if s.delivered+s.dead < s.posted {
			return false
		}
	}
	return true
}

// next returns the time of the next message or post.
func (w *trial) next() (at time.Time, ok bool) {
	var next world.Earliest
	next.Consider(w.queue.Next())
	next.Consider(w.circuits.Next())
	if len(w.posts) > 0 {
		next.Consider(w.posts[0].at, true)
	}
	return next.At, next.OK
}

// post is a planned event for a site.
type post struct {
	at   time.Time
	site *site
}

type posts []post

func (p posts) Len() int           { return len(p) }
func (p posts) Less(i, j int) bool { return p[i].at.Before(p[j].at) }
func (p posts) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }

func (p *posts) Push(x any) {
	next, _ := x.(post)
	*p = append(*p, next)
}

func (p *posts) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
