package reliability_test

import (
	"container/heap"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"surehook/internal/delivery/breaker"
	"surehook/internal/delivery/deliver"
	"surehook/internal/delivery/gate"
	"surehook/internal/delivery/ingest"
	"surehook/internal/delivery/send"
	"surehook/internal/delivery/settle"
	"surehook/internal/hook"
	"surehook/internal/memory"
	"surehook/internal/rule/sign"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// site is an endpoint and what came of its deliveries.
type site struct {
	class    int
	endpoint hook.Endpoint
	outages  timeline

	posted, requests, wasted, delivered, dead int
}

// world runs the real use cases for the sites, by a clock that goes from event to event.
type world struct {
	now       time.Time
	sites     map[hook.EndpointID]*site
	order     []*site // in which they were made
	store     *memory.Store
	queue     *memory.Queue
	attention *memory.CircuitQueue
	acceptor  *ingest.Acceptor
	deliverer *deliver.Deliverer
	breaker   *breaker.Breaker
	posts     posts

	mu sync.Mutex // of the sites' counts: a batch is worked on at once
}

func newWorld(t *testing.T) *world {
	t.Helper()

	w := &world{now: start, sites: map[hook.EndpointID]*site{}, store: memory.NewStore()}
	clock := func() time.Time { return w.now }
	w.queue, w.attention = memory.NewQueue(clock), memory.NewCircuitQueue(clock)
	directory, err := ingest.NewDirectory(w.store)
	if err != nil {
		t.Fatal(err)
	}
	w.acceptor = &ingest.Acceptor{
		Store: w.store, Queue: w.queue, Directory: directory, Retention: 5 * 24 * time.Hour, Now: clock, NewID: hook.NewEventID,
	}
	letters := memory.NewDeadLetters(w.queue)
	quiet := slog.New(slog.DiscardHandler)
	after := ending{settle.Settlement{Store: w.store}, w}
	w.deliverer = &deliver.Deliverer{
		Store: w.store, Queue: w.queue, Schedules: memory.NewSchedules(w.queue, clock), DeadLetters: letters,
		Vault: memory.Vault{}, Sender: w, Settlement: after, Notifier: silent{}, Log: quiet, Now: clock,
		Gate: &gate.Gate{Store: w.store, CircuitQueue: w.attention, Notifier: silent{}, Now: clock, Rand: func() float64 { return 0.5 }},
	}
	w.breaker = &breaker.Breaker{
		Store: w.store, Queue: w.queue, DeadLetters: letters, CircuitQueue: w.attention, Settlement: after,
		Notifier: silent{}, Log: quiet, Now: clock,
	}
	return w
}

// silent hears notices.
type silent struct{}

func (silent) Notify(context.Context, hook.Notification) error { return nil }

// ending counts deliveries that end.
type ending struct {
	settle.Settlement
	w *world
}

func (e ending) Complete(ctx context.Context, d hook.Delivery) error {
	e.w.count(d)
	return e.Settlement.Complete(ctx, d)
}

func (w *world) count(d hook.Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()

	s := w.sites[d.ID.Endpoint]
	switch d.State {
	case hook.StateDelivered:
		s.delivered++
	case hook.StateDead:
		s.dead++
	case hook.StateQueued, hook.StateRetrying, hook.StateParked, hook.StateDiscarded, hook.StateCancelled:
	}
}

// Send is the endpoint: it answers 200 when it is up and 503 when it is down.
func (w *world) Send(_ context.Context, r send.Request) hook.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()

	s := w.sites[r.Endpoint.ID]
	s.requests++
	if s.outages.down(w.now.Sub(start)) {
		s.wasted++
		return hook.Outcome{Class: hook.ClassUnavailable, Status: 503, Duration: 50 * time.Millisecond}
	}
	return hook.Outcome{Class: hook.ClassDelivered, Status: 200, Duration: 50 * time.Millisecond}
}

// add makes an endpoint with all defaults, alone in its tenant.
func (w *world) add(t *testing.T, tenant string, class int, outages timeline) *site {
	t.Helper()

	id := hook.NewEndpointID()
	sealed, err := memory.Vault{}.Seal(t.Context(), sign.NewSecret(), id)
	if err != nil {
		t.Fatal(err)
	}
	e := hook.Endpoint{
		ID: id, Tenant: hook.TenantID(tenant), URL: "https://example.com/hook", EventTypes: []string{"*"},
		Retry: hook.RetryPolicy{Preset: "standard"}, Timeout: hook.DefaultTimeout, MaxAge: hook.DefaultMaxAge,
		Style: hook.StyleStandard, Schemes: []hook.Scheme{hook.SchemeV1},
		Secrets: []hook.Secret{{Scheme: hook.SchemeV1, Sealed: sealed, CreatedAt: start}},
		Status:  hook.StatusActive, StatusSince: start, CreatedAt: start, UpdatedAt: start,
	}
	if err := w.store.CreateEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	s := &site{class: class, endpoint: e, outages: outages}
	w.sites[id] = s
	w.order = append(w.order, s)
	return s
}

// run posts events to each site at the rate given for the span, and goes on
// until all their deliveries have ended.
func (w *world) run(t *testing.T, rng *rand.Rand, every, span time.Duration, posted func(s *site, at time.Duration)) {
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
		w.now = next
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
		for _, m := range w.attention.Receive(10) {
			if err := w.breaker.Reconcile(t.Context(), m.Check); err != nil {
				t.Fatal(err)
			}
			w.attention.Delete(m.ID)
		}
		if !w.now.Before(tick) {
			if err := w.breaker.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			tick = w.now.Add(time.Minute)
		}
		if !w.now.Before(review) {
			if err := w.breaker.Review(t.Context()); err != nil {
				t.Fatal(err)
			}
			review = w.now.Add(15 * time.Minute)
		}
		if !w.now.Before(expire) {
			w.store.Expire(w.now)
			expire = w.now.Add(time.Hour)
		}
	}
}

// deliver gives all messages that are due to the deliverer.
func (w *world) deliver(t *testing.T) {
	t.Helper()

	for _, lane := range []hook.Lane{hook.LaneLive, hook.LaneRetry} {
		for {
			batch := w.queue.Receive(lane, 10)
			if len(batch) == 0 {
				break
			}
			messages := make([]deliver.Message, len(batch))
			for i, m := range batch {
				messages[i] = deliver.Message{ID: m.ID, Body: m.Body}
			}
			if failed := w.deliverer.ProcessBatch(t.Context(), messages); len(failed) > 0 {
				t.Fatalf("%d messages of a batch failed at %s", len(failed), w.now)
			}
			for _, m := range batch {
				w.queue.Delete(m.ID)
			}
		}
	}
}

// ended reports whether all deliveries have ended: what is parked waits for nothing but time.
func (w *world) ended() bool {
	for _, s := range w.order {
		if s.delivered+s.dead < s.posted {
			return false
		}
	}
	return true
}

// next returns the time of whatever comes next; ok is false when nothing is left to do.
func (w *world) next() (at time.Time, ok bool) {
	consider := func(t time.Time, there bool) {
		if there && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	consider(w.queue.Next())
	consider(w.attention.Next())
	if len(w.posts) > 0 {
		consider(w.posts[0].at, true)
	}
	return at, ok
}

// post is an event that a site is to get.
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
