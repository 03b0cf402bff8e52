package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/proof/world"
)

var start = world.Start()

const (
	maxSteps  = 400_000          // per seed; more steps are a livelock
	suffering = 25 * time.Minute // duration of faults, events and operators, from the start

	// drainAtMost passes from the end of the faults until all deliveries are settled. The
	// last redrive by hand is 5 hours after them. It may make the successor of a delivery
	// that had its letter before its death, and the successor lives 3 hours.
	drainAtMost = 9 * time.Hour

	lettersOfRun   = 200            // dead letters that a reconciliation reads by day
	drainOverNight = 20 * time.Hour // until the second ones of more letters are removed
)

// simulation is the run of one seed. Its clock, its queues' faults and its deaths
// are not package world's, because the seed decides on each of them.
type simulation struct {
	options

	ctx context.Context
	rng *rand.Rand
	now time.Time
	log *slog.Logger

	store       *memory.Store
	recordings  *memory.Store // of attempts, for the checks
	queue       *memory.TaskQueues
	deadLetters *memory.DeadLetters
	schedules   *memory.Schedules
	attention   *memory.CircuitQueue
	jobs        *memory.JobQueue
	sources     producers
	shaper      *shape.Shaper

	rates       rates
	blackouts   []span
	quotas      []span                          // times with a full quota of schedules
	twins       bool                            // attempts often have two tasks
	kept        map[hook.TenantID]time.Duration // shorter retentions
	partitions  map[table.Partition]partition
	hops        map[string]int // invocations of the chain before each message
	quietAt     time.Time
	redriven    time.Time // the last redrive of undeliverable messages
	calm        bool      // no faults
	flapping    bool      // endpoints are paused and resumed all the time
	mixed       bool      // an earlier and a later build run
	crowded     bool      // more than a full wave of events for one endpoint
	deployments []span    // of the later build, of the earlier, and of the later again
	late        float64   // how soon the table removes an expired record; 0 before the second part
	quiet       bool      // the faults have stopped
	plan        timeline
	spawned     int
	busy        int // batches in progress at function deliver
	mostBusy    int
	steps       int
	doomed      doomed

	endpoints    []*endpoint
	containers   []*container
	environments []*environment
	receipts     map[string]int // the last receive count of each message
	operations   int            // open operations of operators
	startedJobs  []startedJob
	changes      []change  // of the table, in its stream
	restored     time.Time // the end of the restore of the table; zero: there was none
	restoreAhead bool      // the restore is planned: the schedules go on until then

	checker

	items []written // by the current request

	mu      sync.Mutex // guards arrived and ended, and the death of processes
	arrived []*call
	ended   []*process

	waiting   []*call
	due       []int               // indices of the waiting calls that may be granted now
	startable []func(*simulation) // invocations that may start now
	bodies    chan func()         // to idle goroutines; closed at the end
	running   map[*process]func(p *process)

	trace  []string
	counts map[string]int
	failed check  // the first failed check
	broken string // the same, in words
}

// options are the choices about a run.
type options struct {
	seed    uint64
	level   level
	verbose bool // keep the trace
	limited bool // Lambda ends chains of invocations after recursionLimit
	sweeper bool // the sweeper and the stream run; see sweeper_test.go
	losing  bool // tasks are lost

	ordered bool // most endpoints are ordered; see ordered_test.go

	restores bool // an operator restores the table; see restore_test.go
}

// run runs the seed to its end, inside a synctest bubble.
func run(ctx context.Context, o options) *simulation {
	w := &simulation{
		ctx: ctx, options: o, rng: rand.New(rand.NewPCG(o.seed, 0)), hops: make(map[string]int), partitions: make(map[table.Partition]partition), now: start, log: slog.New(slog.DiscardHandler),
		shaper: new(shape.Shaper), store: memory.NewStore(), recordings: memory.NewStore(), running: make(map[*process]func(*process)), bodies: make(chan func()), counts: make(map[string]int), receipts: make(map[string]int), checker: newChecker(),
	}
	clock := func() time.Time { return w.now }
	w.store.Wait = world.NoWait
	w.store.Table.Now, w.store.Table.Around, w.store.Table.Wrote = clock, w.around, w.wrote
	w.queue = memory.NewTaskQueues(clock)
	w.deadLetters = memory.NewDeadLetters(w.queue)
	w.schedules = memory.NewSchedules(w.queue, clock)
	w.attention = memory.NewCircuitQueue(clock)
	w.jobs = memory.NewJobQueue(clock)
	w.sources = producers{queue: memory.NewEventQueue(clock), events: make(map[string]*produced)}
	w.queue.Fair = w.chance(0.5)
	w.attention.Visibility, w.jobs.Visibility = visibility, visibility
	w.drawRates()
	w.drawLosses()
	w.drawBuilds()
	w.drawProducers()
	w.drawBrief()
	w.drawQuotas()
	if !w.twins {
		w.mostBusy = 2 + w.rng.IntN(w.level.functions-1)
	}
	if w.calm {
		w.mostBusy = 64
	}
	receives := w.level.receives
	if w.calm {
		receives = max(receives, 8) // a forced replay sends a second task, which returns until a slow attempt ends
	}
	if w.restores {
		receives = min(receives, 8) // a task that nobody knows ends in undeliverable
	}
	w.queue.MaxReceives, w.attention.MaxReceives, w.jobs.MaxReceives = receives, receives, receives
	w.begin() //nolint:contextcheck // processes have the simulation's own
	for more := true; more; {
		more = w.step() || w.late == 0 && w.age() //nolint:contextcheck // processes have the simulation's own
	}
	w.abort()
	close(w.bodies)
	return w
}

// step runs one option; false when no option is left.
func (w *simulation) step() bool {
	w.settle()
	if w.broken != "" {
		return false
	}
	if w.steps++; w.steps > maxSteps {
		_, reason := w.unfinished()
		w.fail(checkEnd, "no end after %d steps: %s", maxSteps, reason)
		return false
	}
	w.due = w.due[:0]
	for i, c := range w.waiting {
		if !c.at.After(w.now) {
			w.due = append(w.due, i)
		}
	}
	w.startable = w.starts(w.startable[:0])
	if n := len(w.due) + len(w.startable); n > 0 {
		// Move the clock first: the chosen option runs concurrently with the scheduler.
		chosen := w.rng.IntN(n)
		w.now = w.now.Add(time.Duration(w.rng.IntN(8)) * time.Millisecond)
		if chosen < len(w.due) {
			w.grant(w.due[chosen])
		} else {
			w.startable[chosen-len(w.due)](w)
		}
		return true
	}
	next, ok := w.next()
	if !ok {
		return false
	}
	w.now = next
	return true
}

// settle waits until every process waits, and sorts the new calls, so that their
// order is independent of the order of the goroutines.
func (w *simulation) settle() {
	for {
		synctest.Wait()
		w.visible()
		slices.SortFunc(w.ended, func(a, b *process) int { return strings.Compare(a.name, b.name) })
		for _, p := range w.ended {
			p.finished = w.now
			after := w.running[p]
			delete(w.running, p)
			after(p)
		}
		w.ended = w.ended[:0]
		w.arrange()
		for _, c := range w.arrived {
			if w.chance(w.rates.stall) {
				w.count("stalls")
				c.at = later(c.at, w.now).Add(time.Duration(w.rng.IntN(40_000)) * time.Millisecond)
			}
			if w.lingers(c.p) {
				c.at = later(c.at, w.now).Add(w.within(25 * time.Second))
			}
			if c.p.early && c.p.effects == 1 && w.chance(w.rates.hesitate) {
				c.at = later(c.at, w.now).Add(w.within(20 * time.Second))
			}
		}
		w.waiting = append(w.waiting, w.arrived...)
		w.arrived = w.arrived[:0]
		released := false
		w.waiting = slices.DeleteFunc(w.waiting, func(c *call) bool {
			if c.p.dead {
				c.decide(dead)
				released = true
			}
			return c.p.dead
		})
		if !released {
			return
		}
	}
}

// arrange sorts the new calls, and joins the same reads of one process: they are of its
// goroutines, which nothing else tells apart.
func (w *simulation) arrange() {
	slices.SortStableFunc(w.arrived, (*call).compare)
	var last *call
	w.arrived = slices.DeleteFunc(w.arrived, func(c *call) bool {
		if c.request == nil || last == nil || last.request == nil || last.compare(c) != 0 {
			last = c
			c.p.charge(c)
			return false
		}
		if c.kind == read {
			last.twins = append(last.twins, c)
			return true
		}
		k := c.request.Keys[0]
		ref, delivery := deliveryOf(k)
		if alike := k.Sort == "endpoint" || strings.HasPrefix(k.Hash, "order#") || k.Sort == "event" && w.sources.on || delivery && c.p.messages(ref) > 1; !alike { // for copies of a task or a message, or answers at one time
			w.fail(checkSetup, "%s makes the request %s %s twice at once", c.p.name, c.op, c.about)
		}
		c.p.charge(c)
		return false
	})
}

// grant gives the call its verdict.
func (w *simulation) grant(i int) {
	c := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	v := w.judge(c)
	if v == dead {
		c.p.die()
	}
	if v != granted {
		c.p.fault(v)
	}
	if w.verbose && (v == dead || v == refused) {
		w.note("%s %s %s: %s", c.p.name, c.op, c.about, v)
	}
	if c.request != nil {
		w.prepare(c)
	}
	c.decide(v)
}

// next returns the time of the next option.
func (w *simulation) next() (at time.Time, ok bool) {
	consider := func(t time.Time, some bool) {
		if some && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	for _, c := range w.waiting {
		consider(c.at, true)
	}
	if w.busy < w.mostBusy {
		consider(w.queue.Next())
	}
	consider(w.attention.Next())
	consider(w.jobs.Next())
	consider(w.sources.queue.Next())
	consider(w.plan.next())
	return later(at, w.now), ok
}

// abort ends all running processes.
func (w *simulation) abort() {
	w.settle()
	for len(w.running) > 0 {
		for p := range w.running {
			p.dead = true
		}
		w.settle()
	}
}

func (w *simulation) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

// within returns a random duration of at most d.
func (w *simulation) within(d time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

func (w *simulation) count(what string) { w.counts[what]++ }

func (w *simulation) note(format string, args ...any) {
	if w.verbose {
		w.trace = append(w.trace, fmt.Sprintf("%10.3f ", w.now.Sub(start).Seconds())+fmt.Sprintf(format, args...))
	}
}

// fail records a failed check. Only the first one counts.
func (w *simulation) fail(c check, format string, args ...any) {
	if !w.restored.IsZero() && !slices.Contains(afterRestore(), c) {
		return
	}
	if w.broken == "" {
		w.failed = c
		w.broken = "check " + string(c) + ": " + fmt.Sprintf("at %.3f s, step %d: ", w.now.Sub(start).Seconds(), w.steps) + fmt.Sprintf(format, args...)
		w.note("BROKEN: %s", fmt.Sprintf(format, args...))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func pick[T any](w *simulation, all ...T) T { return all[w.rng.IntN(len(all))] }

// timeline is the planned actions by time.
type timeline struct{ all []planned }

type planned struct {
	at time.Time
	do func()
}

func (t *timeline) add(at time.Time, do func()) {
	i, _ := slices.BinarySearchFunc(t.all, at, func(p planned, at time.Time) int {
		return cmp.Or(p.at.Compare(at), -1) // after earlier plans for the same time
	})
	t.all = slices.Insert(t.all, i, planned{at, do})
}

func (t *timeline) next() (time.Time, bool) {
	if len(t.all) == 0 {
		return time.Time{}, false
	}
	return t.all[0].at, true
}

func (t *timeline) take() func() {
	do := t.all[0].do
	t.all = slices.Delete(t.all, 0, 1)
	return do
}
