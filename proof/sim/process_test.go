package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/admission"
)

// verdict is the fate of one effect.
type verdict uint8

const (
	granted     verdict = iota + 1
	refused             // not done, with an error: a throttle
	lost                // done, and the answer is lost: a timeout
	repeated            // done, the answer lost, and done again by the client's own retry
	partial             // a batch of messages: some refused, some with a lost answer
	unprocessed         // a batch of keys: some are left
	dying               // done, and then the process dies
	dead                // the process died before it
)

func (v verdict) String() string {
	return [...]string{"?", "", "refused", "answer lost", "repeated by the client", "partial", "unprocessed keys", "then dies", "dead"}[v]
}

// kind is the possible faults of an effect.
type kind uint8

const (
	read  kind = iota + 1 // may be refused
	write                 // may be refused, or its answer lost
	batch                 // and partial
	local                 // death only
)

// process is one invocation of a function, or one request of a client. Its clock
// has an error.
type process struct {
	*simulation

	name     string
	started  time.Time
	deadline time.Time
	finished time.Time // zero: in progress
	skew     time.Duration
	rng      *rand.Rand
	about    []hook.DeliveryRef // deliveries whose attempts a fault may repeat
	dead     bool
	hurt     bool            // a fault hit the process
	early    bool            // its batch comes again soon
	suffered bool            // the fault is in blamed
	later    bool            // of the later build
	sealed   bool            // KMS opens no secret
	unknown  []table.Key     // records with words that its build does not know
	hops     int             // invocations of its chain before the process
	tenant   hook.TenantID   // of an operator
	samples  hook.EndpointID // the endpoint of its test event
	refusals int             // by senders of other places

	batch  []memory.Message              // of function deliver
	failed []string                      // ids of the messages of the batch that come again
	check  hook.CircuitCheck             // of function breaker
	ticks  bool                          // the schedule of function breaker
	made   []*post                       // its attempts
	unmade []hook.DeliveryRef            // its attempts without a request
	slots  map[string]admission.Lease    // the in-flight slots that it took
	taken  []string                      // those of its last write
	lost   map[string]hook.EndpointID    // those of writes whose answer was lost
	spoilt map[hook.EndpointID]int       // faulty requests to the limits of an endpoint
	beaten map[hook.EndpointID]int       // its writes of the limits of an endpoint that met another writer
	of     hook.Queue                    // of the batch
	waves  map[hook.EndpointID]int       // the waves it released
	saved  map[hook.EndpointID]time.Time // its last write of each circuit
	probed map[hook.EndpointID]time.Time // the last probe task before that write
	turned map[hook.EndpointID]bool      // circuits that it opened or closed, without a request for a check
	owes   map[string]bool               // what it has to tell about endpoints
	done   bool                          // it came to its end

	bill // its requests
}

// call is an effect before its verdict.
type call struct {
	p         *process
	op, about string
	kind      kind
	at        time.Time // earliest time of the grant
	grant     chan verdict
	twins     []*call // the same read by other goroutines of the process, at the same time

	request  *table.Call        // to the table; nil: of another port
	left     map[table.Key]bool // unprocessed keys
	conflict bool               // refused because of a transaction
	commit   time.Duration      // the time in which others see the transaction one by one
}

func (c *call) compare(o *call) int {
	return cmp.Or(cmp.Compare(c.p.name, o.p.name), cmp.Compare(c.op, o.op), cmp.Compare(c.about, o.about))
}

// decide ends the wait of the call and of its twins.
func (c *call) decide(v verdict) {
	for _, twin := range append(c.twins, c) {
		if twin.conflict = c.conflict; c.request != nil {
			twin.request.Left = c.left
		}
		twin.grant <- v
	}
}

var errDead = &hook.Error{Code: hook.CodeInternal, Message: "the process is dead"}

func unavailable(why string) error {
	return &hook.Error{Code: hook.CodeUnavailable, Message: why}
}

// clock returns the time of the process's clock.
func (p *process) clock() time.Time {
	defer p.visible()
	return p.now.Add(p.skew)
}

// visible orders all that the goroutine did before the scheduler's next step, for the
// race detector: a goroutine that waits in a WaitGroup releases nothing to synctest.Wait.
func (w *simulation) visible() {
	w.mu.Lock()
	w.mu.Unlock() //nolint:staticcheck // the pair is the order
}

// invocation is the context of a process, with a deadline by the process's clock.
type invocation struct {
	context.Context

	p *process
}

func (i invocation) Deadline() (time.Time, bool) { return i.p.deadline.Add(i.p.skew), true }

func (i invocation) Value(key any) any {
	if key == (processKey{}) {
		return i.p
	}
	return i.Context.Value(key)
}

func (p *process) context() context.Context { return invocation{p.ctx, p} }

// enter waits for the verdict on the effect, and at least for the duration wait.
func (p *process) enter(op, about string, k kind, wait time.Duration) verdict {
	return p.await(&call{p: p, op: op, about: about, kind: k, at: p.now.Add(wait), grant: make(chan verdict, 1)})
}

// await waits for the verdict on the call.
func (p *process) await(c *call) verdict {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return dead
	}
	p.arrived = append(p.arrived, c)
	p.mu.Unlock()
	return <-c.grant
}

// effect is one call of a port.
func effect[T any](p *process, op, about string, k kind, apply func() (T, error)) (T, error) {
	var none T
	v := p.enter(op, about, k, 0)
	defer p.visible()
	switch v {
	case dead:
		return none, errDead
	case refused:
		return none, unavailable("throttled")
	case granted, lost, repeated, partial, unprocessed, dying:
	}
	x, err := apply()
	if p.verbose {
		p.note("%s %s %s: %s %s", p.name, op, about, told(err), v)
	}
	switch v { //nolint:exhaustive // the other verdicts have the answer
	case dying:
		p.die()
		return none, errDead
	case lost:
		return none, unavailable("no answer")
	}
	return x, err
}

func told(err error) string {
	if err == nil {
		return "ok"
	}
	return hook.CodeOf(err).String()
}

// done is effect without a result.
func done(p *process, op, about string, k kind, apply func() error) error {
	_, err := effect(p, op, about, k, func() (struct{}, error) { return struct{}{}, apply() })
	return err
}

// die ends the process: all further effects get the verdict dead.
func (p *process) die() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.suffer("death")
	p.count("process deaths")
	if p.verbose {
		p.note("%s dies", p.name)
	}
}

// spawn starts a process. The platform ends the process after the timeout.
func (w *simulation) spawn(what string, timeout time.Duration, about []hook.DeliveryRef, body, after func(p *process)) {
	w.spawned++
	p := &process{
		simulation: w, name: fmt.Sprintf("%s-%d", what, w.spawned), started: w.now, deadline: w.now.Add(timeout), about: about,
		rng: rand.New(rand.NewPCG(w.seed, uint64(w.spawned))), waves: make(map[hook.EndpointID]int), saved: make(map[hook.EndpointID]time.Time), probed: make(map[hook.EndpointID]time.Time), turned: make(map[hook.EndpointID]bool), owes: make(map[string]bool),
		bill: bill{conflicts: make(map[hook.DeliveryRef]int), sent: make(map[hook.DeliveryRef]int), tries: make(map[hook.DeliveryRef]int)},
	}
	if s := int64(w.rates.skew); s > 0 {
		p.skew = time.Duration(w.rng.Int64N(2*s) - s)
	}
	p.later = w.isLater()
	w.running[p] = after
	if w.verbose {
		w.note("%s starts, %s off", p.name, p.skew)
	}
	w.start(func() {
		body(p)
		w.mu.Lock()
		w.ended = append(w.ended, p)
		w.mu.Unlock()
	})
}

// start runs the body on an idle goroutine, or on a new one. An idle goroutine keeps
// its stack: to grow new stacks took a sixth of the simulator's time.
func (w *simulation) start(body func()) {
	select {
	case w.bodies <- body:
	default:
		go func() {
			for ; body != nil; body = <-w.bodies {
				body()
			}
		}()
	}
}
