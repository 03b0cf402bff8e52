package sim_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
)

// In one seed in eight, producers send all events to the events queue, in the three forms of a
// message, and some send wrong messages. Often a tenant has a limit of events per second. Messages
// come twice, function ingest dies within a batch, and operators redrive the rejects.
//
// A message is deleted only after its event was accepted, or after another message took its place, in
// the events queue or among the rejects. All messages of one event are accepted under one id.

const returning, rejecting = "return event", "reject event"

// produced is an event on its way through the queue.
type produced struct {
	tenant hook.TenantID // empty: a wrong message
	key    string        // idempotency key
	of     hook.EventID  // the id under which it was accepted; empty: not yet
	ended  bool          // accepted, rejected or dropped
}

// producers is the state of the events queue in such a seed.
type producers struct {
	queue  *memory.EventQueue
	on     bool
	events map[string]*produced // by the id of the first message
}

func (w *simulation) drawProducers() {
	if w.sources.on = w.seed%8 == 2 && !w.ordered; !w.sources.on {
		return
	}
	w.sources.queue.Visibility = visibility
	if w.chance(0.7) {
		limit := hook.TenantLimits{EventsPerSecond: pick(w, 1, 2, 5)}
		if err := w.store.SetTenantLimits(w.ctx, w.tenants()[0], limit); err != nil {
			w.fail(checkSetup, "set limits: %v", err)
		}
	}
	for range 1 + w.rng.IntN(6) {
		w.plan.add(start.Add(w.within(suffering)), w.produceWrong)
		w.plan.add(start.Add(w.within(suffering)), w.redriveRejects)
	}
}

// produce sends each event of the client in a message of its own.
func (w *simulation) produce(c *client) {
	for _, r := range c.requests {
		w.send(&produced{tenant: c.tenant, key: r.IdempotencyKey}, w.messageOf(c.tenant, r))
	}
	w.posting += len(c.requests) - 1 // the client counts as one, but each message ends by itself
}

// messageOf returns the event in one of the forms of a message.
func (w *simulation) messageOf(tenant hook.TenantID, r ingest.Request) source.Message {
	form := w.rng.IntN(3)
	if form == 1 && r.IdempotencyKey == "" {
		form = 0 // an event of EventBridge always has an id, which is its key
	}
	var body any
	switch form {
	case 0:
		m := source.Message{Body: string(r.Payload), Attributes: map[string]string{source.AttrTenant: string(tenant), source.AttrEventType: r.Type}}
		if r.IdempotencyKey != "" {
			m.Attributes[source.AttrIdempotencyKey] = r.IdempotencyKey
		}
		return m
	case 1:
		body = map[string]any{"id": r.IdempotencyKey, "detail-type": r.Type, "account": string(tenant), "detail": json.RawMessage(r.Payload)}
	default:
		post := map[string]any{"tenant": tenant, "event_type": r.Type, "payload": json.RawMessage(r.Payload)}
		if r.IdempotencyKey != "" {
			post["idempotency_key"] = r.IdempotencyKey
		}
		body = post
	}
	text, err := json.Marshal(body)
	if err != nil {
		w.fail(checkSetup, "encode message: %v", err)
	}
	return source.Message{Body: string(text)}
}

func (w *simulation) produceWrong() {
	w.posting++
	w.send(&produced{}, pick(w, source.Message{Body: `{"tenant":"acme"}`}, source.Message{Body: `no JSON`},
		source.Message{Body: `1`, Attributes: map[string]string{source.AttrTenant: "acme"}}))
}

// send puts the message on the queue. It already has the attribute with the first id, because the
// simulation must know that id, and the queue in memory chooses the ids of messages itself.
func (w *simulation) send(p *produced, m source.Message) {
	first := fmt.Sprintf("message-%d", len(w.sources.events))
	p.key = cmp.Or(p.key, first)
	w.sources.events[first] = p
	if m.Attributes == nil {
		m.Attributes = make(map[string]string)
	}
	m.Attributes[source.AttrID] = first
	w.note("producer: %s %s %s", first, p.key, m.Body)
	if err := w.sources.queue.Return(w.ctx, m, string(p.tenant), 0); err != nil {
		w.fail(checkSetup, "send message: %v", err)
	}
}

// take gives a batch of the events queue to function ingest.
func (w *simulation) take() {
	var early bool
	w.sources.queue.Visibility, early = w.hidden()
	batch := w.sources.queue.Events(1 + w.rng.IntN(10))
	messages, receipts := make([]source.Message, len(batch)), make([]receipt, len(batch))
	for i, m := range batch {
		messages[i], receipts[i] = m.Message, w.received("event", m.ID, m.ReceiveCount)
	}
	box := w.container()
	box.taken = true
	w.spawn("post", apiTimeout, nil, func(p *process) {
		p.later, p.suffered, p.early = box.later, early, early
		o := &observed{process: p, acceptor: p.wiring().AcceptorOf(box.directory), results: make(map[string]ingest.Result), moved: make(map[string]string)}
		failed := o.source().ProcessBatch(p.context(), messages)
		p.acknowledge(func() {
			for i, m := range batch {
				if w.valid(receipts[i]) {
					fails := slices.Contains(failed, m.ID)
					if !fails {
						w.sawTaken(o, m.Message)
					}
					p.answer(m.ID, m.ReceiveCount, fails, w.sources.queue)
				}
			}
		})
	}, func(p *process) {
		box.taken = false
		if p.dead {
			w.containers = slices.DeleteFunc(w.containers, func(c *container) bool { return c == box })
		}
	})
}

// observed is a process of function ingest, with what it did to its messages.
type observed struct {
	*process

	acceptor source.Acceptor
	results  map[string]ingest.Result // by tenant and idempotency key
	moved    map[string]string        // returning or rejecting, by first id
}

func (o *observed) source() *source.Source {
	unit := o.rng.Float64() // one for all, because the messages of a batch end in parallel
	return &source.Source{
		Reader: source.Reader{Tenant: "account", Body: httpapi.ReadEvent}, Acceptor: o, Queue: o, Rand: func() float64 { return unit }, Metrics: emf.Set{}, Log: o.log, Now: o.clock,
	}
}

func (o *observed) AcceptBatch(ctx context.Context, tenant hook.TenantID, requests []ingest.Request) []ingest.Result {
	results := o.acceptor.AcceptBatch(ctx, tenant, requests)
	for i, r := range requests {
		o.mu.Lock()
		if name := string(tenant) + " " + r.IdempotencyKey; results[i].Err == nil || o.results[name].ID == "" { // a batch may have copies of a message: a success counts
			o.results[name] = results[i]
		}
		o.mu.Unlock()
	}
	return results
}

func (o *observed) Return(ctx context.Context, m source.Message, group string, delay time.Duration) error {
	return o.move(ctx, returning, m, func() error { return o.sources.queue.Return(ctx, m, group, delay) })
}

func (o *observed) Reject(ctx context.Context, m source.Message) error {
	return o.move(ctx, rejecting, m, func() error { return o.sources.queue.Reject(ctx, m) })
}

func (o *observed) move(_ context.Context, op string, m source.Message, do func() error) error {
	first, _ := m.First()
	return done(o.process, op, first, write, func() error {
		o.count(op)
		o.moved[first] = op
		times := 1
		if o.chance(o.rates.duplicate) {
			times = 2
		}
		for range times {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
}

// sawTaken checks that a message may be deleted.
func (w *simulation) sawTaken(o *observed, m source.Message) {
	first, _ := m.First()
	e := w.sources.events[first]
	if e == nil {
		w.fail(checkAccepted, "message %s lost the id of its first message", m.ID)
		return
	}
	switch o.moved[first] {
	case returning: // another message has its place
		return
	case rejecting:
		w.endMessage(e)
		return
	}
	result, known := o.results[string(e.tenant)+" "+e.key]
	switch {
	case errors.Is(result.Err, ingest.ErrErased), known && result.Err != nil && hook.CodeOf(result.Err) == hook.CodeTenantClosing:
		w.count("messages dropped")
		w.endMessage(e)
		return
	case !known || result.Err != nil:
		w.fail(checkAccepted, "%s: message %s is deleted, but its event is not accepted: %v", o.name, first, result.Err)
		return
	case e.of != "" && e.of != result.ID:
		w.fail(checkAccepted, "message %s is accepted as %s and as %s", first, e.of, result.ID)
	}
	e.of = result.ID
	w.sawAccepted(result.ID, result.Deliveries)
	w.endMessage(e)
}

func (w *simulation) endMessage(e *produced) {
	if !e.ended {
		e.ended = true
		w.posting--
	}
}

// redriveRejects sends the rejects to the events queue again, as an operator.
func (w *simulation) redriveRejects() {
	w.hand("redrive rejects", func(ctx context.Context, p *process) error {
		return second((&reject.Admin{Queue: rejectQueue{p}, Now: p.clock}).Redrive(ctx))
	})
}

// rejectQueue is the queue of rejects, as one process calls it.
type rejectQueue struct{ p *process }

func (q rejectQueue) Receive(ctx context.Context) ([]source.Message, error) {
	return effect(q.p, "receive rejects", "", read, func() ([]source.Message, error) { return q.p.sources.queue.Receive(ctx) })
}

func (q rejectQueue) Release(ctx context.Context, all []source.Message) error {
	return done(q.p, "release rejects", fmt.Sprint(len(all)), write, func() error { return q.p.sources.queue.Release(ctx, all) })
}

func (q rejectQueue) Remove(ctx context.Context, all []source.Message) error {
	return done(q.p, "remove rejects", fmt.Sprint(len(all)), write, func() error { return q.p.sources.queue.Remove(ctx, all) })
}

func (q rejectQueue) Return(ctx context.Context, m source.Message, group string, delay time.Duration) error {
	first, _ := m.First()
	return done(q.p, "redrive reject", first, write, func() error {
		if e := q.p.sources.events[first]; e == nil {
			q.p.fail(checkAccepted, "a redrive loses the id of the first message: it sends %s", first)
		} else if e.ended && e.of == "" { // not accepted yet
			e.ended = false
			q.p.posting++
		}
		return q.p.sources.queue.Return(ctx, m, group, delay)
	})
}

// auditRejects returns what is wrong after all work has ended: the events queue must be empty, and the
// rejects must be exactly the wrong messages, with their reasons.
func (w *simulation) auditRejects() string {
	if _, left := w.sources.queue.Next(); left {
		return "a message is left on the events queue"
	}
	rejected := make(map[string]bool)
	for _, m := range w.sources.queue.AllRejects() {
		first, _ := m.First()
		rejected[first] = true
		if e := w.sources.events[first]; m.Reason() == "" || e == nil || e.tenant != "" {
			return fmt.Sprintf("the message %s is a reject with the reason %q", first, m.Reason())
		}
	}
	for first, e := range w.sources.events {
		if e.tenant == "" && !rejected[first] {
			return fmt.Sprintf("the wrong message %s is not a reject", first)
		}
	}
	return ""
}
