package sim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/retry"
	"surehook.example/surehook/proof/world"
)

// Timeouts of the deployed functions.
const (
	apiTimeout  = 29 * time.Second
	workTimeout = 60 * time.Second
)

// starts appends the invocations that are possible now.
func (w *simulation) starts(all []func(*simulation)) []func(*simulation) {
	due := func(at time.Time, ok bool) bool { return ok && !at.After(w.now) }
	if due(w.plan.next()) {
		all = append(all, (*simulation).act)
	}
	if due(w.queue.Next()) && w.busy < w.mostBusy {
		all = append(all, (*simulation).deliver)
	}
	if due(w.attention.Next()) {
		all = append(all, (*simulation).look)
	}
	if due(w.jobs.Next()) {
		all = append(all, (*simulation).work)
	}
	if due(w.sources.queue.Next()) {
		all = append(all, (*simulation).take)
	}
	return all
}

// act does the next planned action.
func (w *simulation) act() { w.plan.take()() }

// hidden returns the visibility timeout of the next batch.
func (w *simulation) hidden() (d time.Duration, early bool) {
	if w.chance(w.rates.expire) {
		return w.within(20 * time.Second), true // 0: handed out twice
	}
	return visibility, false
}

// receipt is the handle of one receive. As with SQS, only the last receipt deletes the message.
type receipt struct {
	queue, id string
	times     int
}

func (w *simulation) received(queue, id string, times int) receipt {
	w.receipts[queue+id] = times
	return receipt{queue, id, times}
}

func (w *simulation) valid(r receipt) bool { return w.receipts[r.queue+r.id] == r.times }

// acknowledge deletes the processed messages, unless the request is lost.
func (p *process) acknowledge(remove func()) {
	if v := p.enter("acknowledge", "", local, 0); v == dead {
		return
	}
	if p.chance(p.rates.undeleted) {
		p.count("batches undeleted")
		p.suffer("undeleted")
		return
	}
	remove()
}

// wiring returns the process's ports, with every fault.
func (p *process) wiring() world.Wiring {
	ports := p.ports()
	return world.Wiring{
		Store: ports, Queue: ports, Schedules: ports, DeadLetters: p.letters(), CircuitQueue: ports, JobQueue: ports, Notifier: ports,
		Vault: vault{p}, Sender: wire{p: p}, Remote: senders{p}, AWS: cloud{p}, Shaper: p.shaper,
		Log: p.log, Now: p.clock,
		NewEventID: func() hook.EventID {
			p.events++
			return hook.KeyedEventID(p.tenants()[0], fmt.Sprintf("no key %d", p.events))
		},
		NewJobID: func() hook.JobID {
			id := hook.JobID(fmt.Sprintf("rpl_%026d", len(p.startedJobs)+1))
			p.startedJobs = append(p.startedJobs, startedJob{id, p.tenant})
			return id
		},
	}
}

// deliver gives a batch of a queue to function deliver.
func (w *simulation) deliver() {
	var batch []memory.Message
	var early bool
	w.queue.Visibility, early = w.hidden()
	var queue hook.Queue
	queues := hook.Queues()
	for _, i := range w.rng.Perm(len(queues)) {
		queue = queues[i]
		if batch = w.queue.Receive(queue, 1+w.rng.IntN(world.Batch(queue))); len(batch) > 0 {
			break
		}
	}
	if len(batch) == 0 {
		return
	}
	hops := 0
	batch = slices.DeleteFunc(batch, func(m memory.Message) bool {
		n := w.hops[m.Task.Nonce]
		hops = max(hops, n)
		return w.ends(n, func() { w.queue.Reject(m.ID) })
	})
	if len(batch) == 0 {
		return
	}
	w.rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	messages := make([]deliver.Message, len(batch))
	var about []hook.DeliveryRef
	receipts := make([]receipt, len(batch))
	for i, m := range batch {
		receipts[i] = w.received("queue", m.ID, m.ReceiveCount)
		messages[i] = deliver.Message{ID: m.ID, Body: w.body(m.Body), Queue: queue}
		about = append(about, m.Task.Delivery)
		w.note("received %s attempt %d, the %d. time", m.Task.Delivery, m.Task.Attempt, m.ReceiveCount)
	}
	if early {
		w.count("batches visible early")
		w.blame("early", about...)
	}
	w.busy++
	env := w.environment()
	env.busy = true
	sealed := !w.quiet && w.chance(3*w.rates.refuse)
	w.spawn("deliver", workTimeout, about, func(p *process) {
		p.later = env.later
		if p.sealed = sealed; sealed {
			p.refusals++ // no check of others
			p.fault(refused)
			w.count("batches without a key")
		}
		p.of, p.hops, p.batch, p.suffered, p.early = queue, hops+1, batch, early, early
		p.failed = env.deliverer(p).ProcessBatch(p.context(), messages)
		p.checkOthers()
		p.acknowledge(func() {
			for i, m := range batch {
				if w.valid(receipts[i]) {
					p.answer(m.ID, m.ReceiveCount, slices.Contains(p.failed, m.ID), w.queue)
				}
			}
		})
		p.done = true
	}, func(p *process) {
		w.busy--
		if env.busy = false; p.dead {
			w.environments = slices.DeleteFunc(w.environments, func(e *environment) bool { return e == env })
		}
		w.checkDone(p)
	})
}

// queue is a queue that hands out messages.
type queue interface {
	Delete(id string)
	ChangeVisibility(id string, d time.Duration)
}

// answer deletes a processed message, and brings a failed message back after a while.
func (p *process) answer(id string, receives int, failed bool, q queue) {
	if failed {
		q.ChangeVisibility(id, retry.Redelivery(receives, p.rng.Float64()))
		return
	}
	q.Delete(id)
}

// recursionLimit is the number of invocations after which Lambda ends a chain.
const recursionLimit = 16

// ends reports whether Lambda refuses the next invocation of the chain, and then calls reject.
func (w *simulation) ends(hops int, reject func()) bool {
	if !w.limited || hops < recursionLimit {
		return false
	}
	w.count("chains ended")
	reject()
	return true
}

// look gives a circuit check to function breaker.
func (w *simulation) look() {
	w.attention.Visibility, _ = w.hidden()
	for _, m := range w.attention.Receive(1) {
		r := w.received("look", m.ID, m.ReceiveCount)
		hops := w.hops[string(m.Endpoint)]
		if w.ends(hops, func() { w.attention.Reject(m.ID) }) {
			continue
		}
		w.spawn("look", workTimeout, nil, func(p *process) {
			p.hops, p.check = hops+1, m.CircuitCheck
			check, err := w.sentCheck(m.CircuitCheck)
			if err == nil {
				err = p.wiring().Breaker().Reconcile(p.context(), check)
			}
			p.acknowledge(func() {
				if w.valid(r) {
					p.answer(m.ID, m.ReceiveCount, err != nil, w.attention)
				}
			})
			p.done = true
		}, w.checkDone)
	}
}

// work gives a message of a job to function replay.
func (w *simulation) work() {
	w.jobs.Visibility, _ = w.hidden()
	for _, m := range w.jobs.Receive(1) {
		r := w.received("job", m.ID, m.ReceiveCount)
		w.spawn("work", workTimeout, nil, func(p *process) {
			worker := p.wiring().Replayer().Work
			if m.Job.Erasure != "" {
				worker = p.eraser().Work
			}
			job, err := w.sentJob(m.Job)
			if err == nil {
				err = worker(p.context(), job)
			}
			p.acknowledge(func() {
				if w.valid(r) {
					p.answer(m.ID, m.ReceiveCount, err != nil, w.jobs)
				}
			})
		}, func(*process) {})
	}
}

// every runs a schedule: late, twice, or not at all, until the end of the run.
func (w *simulation) every(d time.Duration, what string, do func(ctx context.Context, p *process)) {
	next := w.now.Add(d)
	w.plan.add(next, func() {
		times := 1
		if w.chance(w.rates.twiceTick) {
			times = 2
		}
		if w.chance(w.rates.lateTick) {
			times, w.disturbed = 0, w.now
		}
		for range times {
			w.spawn(what, workTimeout, nil, func(p *process) {
				p.ticks = true
				do(p.context(), p)
				p.done = true
			}, w.checkDone)
		}
		w.checkLateness()
		if n := w.undeliverable(); n > 0 && w.calm {
			w.fail(checkUndeliverable, "%d messages are undeliverable, without a fault", n)
		}
		if w.mayEnd() {
			c, reason := w.unfinished()
			if reason == "" {
				return
			}
			most := drainAtMost
			if c == checkLetters && len(w.deadLetters.Letters()) > lettersOfRun {
				most = drainOverNight
			}
			if w.ordered {
				most = orderedDrain
			}
			if w.now.Sub(w.quietAt) > most {
				w.fail(c, "%s after the faults stopped: %s", most, reason)
				return
			}
		}
		w.every(d, what, do)
	})
}

// container is an execution environment of function ingest, with its cache.
type container struct {
	directory *ingest.Directory
	taken     bool
	later     bool // of the later build
}

func (w *simulation) container() *container {
	if w.chance(w.rates.redeploy) {
		w.count("caches dropped")
		w.containers = nil
	}
	later := w.isLater()
	for _, i := range w.rng.Perm(len(w.containers)) {
		if !w.containers[i].taken && w.containers[i].later == later {
			return w.containers[i]
		}
	}
	directory := ingest.NewDirectory(w.store)
	c := &container{directory: directory, later: later}
	w.containers = append(w.containers, c)
	return c
}

// client posts events in one request, and repeats the request until all events are
// accepted. A client without idempotency keys does not repeat.
type client struct {
	tenant   hook.TenantID
	requests []ingest.Request
	keyed    bool
	tries    int
}

// postIn plans the post of a new event.
func (w *simulation) postIn(tenant hook.TenantID, after time.Duration) {
	w.posting++
	c := &client{tenant: tenant, keyed: true, requests: []ingest.Request{{
		Type: "order.paid", Payload: fmt.Appendf(nil, `{"n":%d}`, pick(w, 1, 2)), IdempotencyKey: fmt.Sprintf("planned-%d-%d", w.spawned, after),
	}}}
	w.plan.add(w.now.Add(after), func() { w.post(c) })
}

func (w *simulation) post(c *client) {
	if w.sources.on {
		w.produce(c)
		return
	}
	c.tries++
	w.asks(c)
	box := w.container()
	box.taken = true
	var results []ingest.Result
	w.spawn("post", apiTimeout, nil, func(p *process) {
		p.later = box.later
		a := p.wiring().AcceptorOf(box.directory)
		all := a.AcceptBatch(p.context(), c.tenant, c.requests)
		if v := p.enter("respond", "", local, 0); v != dead {
			results = all
		}
	}, func(p *process) {
		box.taken = false
		if p.dead {
			w.containers = slices.DeleteFunc(w.containers, func(c *container) bool { return c == box })
		}
		for _, r := range results {
			if r.Err == nil {
				w.checkTended(p, r.ID)
			}
		}
		w.answered(c, results)
	})
}

func (w *simulation) answered(c *client, results []ingest.Result) {
	var left []ingest.Request
	for i, r := range c.requests {
		switch {
		case results == nil:
			left = append(left, r)
		case (w.clashes(c, r) || !w.restored.IsZero()) && hook.CodeOf(results[i].Err) == hook.CodeConflict && results[i].Err != nil:
			w.count("second uses of a key in conflict")
		case results[i].Err == nil:
			w.sawAccepted(results[i].ID, results[i].Deliveries)
		case hook.CodeOf(results[i].Err) == hook.CodeUnavailable, w.mixed && hook.CodeOf(results[i].Err) == hook.CodeInternal:
			left = append(left, r)
		case hook.CodeOf(results[i].Err) == hook.CodeTenantClosing && c.tenant == w.doomed.tenant:
			w.count("posts to a closing tenant")
		case strings.Contains(results[i].Err.Error(), "payload was erased"):
			w.count("erased posts")
		default:
			w.fail(checkAccepted, "a post is refused: %v", results[i].Err)
		}
	}
	if len(left) == 0 || !c.keyed {
		w.posting--
		return
	}
	c.requests = left
	w.plan.add(w.now.Add(time.Second+w.within(30*time.Second)), func() { w.post(c) })
}
