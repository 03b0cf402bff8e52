package world

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/shape"
)

// Function is one of the functions in a World.
type Function uint8

// The functions. Gate is the gate of function deliver, in tests of the gate alone. The
// zero Function is none.
const (
	Ingest Function = iota + 1
	Gate
	Deliver
	Breaker
	Replay
)

func (f Function) String() string {
	return [...]string{"none", "ingest", "gate", "deliver", "breaker", "replay"}[f]
}

// Options are the differences between the worlds of tests.
type Options struct {
	// Function is the function under test: only this function dies, fails and logs.
	Function Function
	// Delays is the retry schedule of the endpoints.
	Delays []time.Duration
	// Circuits lets RunFor run the breaker: on each circuit check, and on a tick every minute.
	Circuits bool
	// Jobs lets Run run function replay on each job message.
	Jobs bool
	// InTurn lets the functions of a world with one endpoint make their calls in the same order at every
	// run: one goroutine runs at a time, and the ids are the same. The world must be in a bubble of
	// synctest.
	InTurn bool
	// Unproven lets endpoints begin unproven. By default they begin fast, so that tests
	// without a concern for speed see no slots.
	Unproven bool
}

// World is the in-memory stack with its use cases. It is safe for concurrent use
// by the records of a batch; the methods that run functions are for one goroutine.
type World struct {
	T             *testing.T
	Clock         *Clock
	Store         *memory.Store
	Queue         *memory.TaskQueues
	DeadLetters   *memory.DeadLetters
	Schedules     *memory.Schedules
	CircuitQueue  *memory.CircuitQueue
	Jobs          *memory.JobQueue
	Notifications *memory.Notifications
	Log           *Log // of the function under test
	Crash         *Crash
	Calls         *Calls
	Gate          deliver.Gate // of function deliver; nil: one of each process

	// Answer is the receiver of every endpoint; Always(200) at first.
	Answer func(r send.Request) hook.Outcome
	// Remote makes the attempts at other places; nil: there are no senders.
	Remote attempt.Remote
	// AWS makes the attempts at destinations in AWS; nil: there are none.
	AWS attempt.Sender
	// Shaper shapes the requests.
	Shaper shape.Shaper
	// Posts are the requests that the receivers got, in their order.
	Posts []Post
	// Checks are the circuit checks that functions asked for, in their order.
	Checks []Check

	// NoTicks leaves out the ticks: they matter only after a lost message.
	NoTicks bool
	// Receipts is how many processes get each circuit check at the same time; 0 is one.
	Receipts int

	options Options
	turns   *turns // nil: the goroutines run at the same time
	ids     *IDs   // nil: of random ids
	ticked  time.Time
	mu      sync.Mutex // guards Answer, Posts and Checks
}

// New returns a world at time Start, without an endpoint.
func New(t *testing.T, options Options) *World {
	t.Helper()

	w := &World{
		T: t, Clock: NewClock(Start()), Store: memory.NewStore(), Notifications: &memory.Notifications{}, Log: &Log{},
		Crash: &Crash{}, Calls: &Calls{}, Answer: Always(200), options: options, ticked: Start(),
	}
	w.Store.Wait, w.Store.Table.Now, w.Store.Table.Around = NoWait, w.Clock.Now, w.around
	w.Queue = memory.NewTaskQueues(w.Clock.Now)
	w.DeadLetters = memory.NewDeadLetters(w.Queue)
	w.Schedules = memory.NewSchedules(w.Queue, w.Clock.Now)
	w.CircuitQueue = memory.NewCircuitQueue(w.Clock.Now)
	w.Jobs = memory.NewJobQueue(w.Clock.Now)
	if options.Function == Gate {
		w.Gate = w.wiring(Gate).NewGate()
	}
	if options.InTurn {
		w.turns, w.ids = startTurns(t), NewIDs("in turn")
	}
	t.Cleanup(w.Calls.end(t))
	return w
}

// wiring returns the ports of a function.
func (w *World) wiring(f Function) Wiring {
	log := slog.New(slog.DiscardHandler)
	if f == w.options.Function {
		log = slog.New(slog.NewJSONHandler(w.Log, nil))
	}
	p := ports{w}
	return Wiring{
		Store: w.Store, Queue: p, Schedules: p, DeadLetters: deadLetters{w}, CircuitQueue: p, JobQueue: p, Notifier: p,
		Gate: w.Gate, Vault: memory.Vault{}, Sender: receiver{w}, Remote: w.Remote, AWS: w.AWS, Shaper: &w.Shaper,
		Metrics: emf.Set{Environment: "test"}, Log: log, Now: w.Clock.Now, NewEventID: w.newEventID, NewJobID: hook.NewJobID,
	}
}

// Acceptor returns a new process of function ingest.
func (w *World) Acceptor() *ingest.Acceptor { return w.wiring(Ingest).Acceptor() }

// Deliverer returns a new process of function deliver.
func (w *World) Deliverer() *deliver.Deliverer { return w.wiring(Deliver).Deliverer() }

// Breaker returns a new process of function breaker.
func (w *World) Breaker() *breaker.Breaker { return w.wiring(Breaker).Breaker() }

// Replayer returns a new process of function replay.
func (w *World) Replayer() *replay.Replayer { return w.wiring(Replay).Replayer() }

// Check is a circuit check with its delay.
type Check struct {
	hook.CircuitCheck

	Delay time.Duration
}

func (w *World) checked(c Check) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.Checks = append(w.Checks, c)
}

// Post is a request as its receiver got it.
type Post struct {
	send.Request

	At time.Time
}

// Ref returns the place of the delivery.
func (p Post) Ref() hook.DeliveryRef {
	ref, _ := p.Event.Ref(p.Delivery.Endpoint, p.Delivery.Generation)
	return ref
}

// receiver is the receivers of all endpoints.
type receiver struct{ w *World }

// Send records the request, and returns the receiver's response.
func (r receiver) Send(_ context.Context, request send.Request) hook.Outcome {
	r.w.turns.await("post " + string(request.Delivery.Endpoint) + " " + string(request.Event.ID))
	r.w.mu.Lock()
	r.w.Posts = append(r.w.Posts, Post{request, r.w.Clock.Now()})
	answer := r.w.Answer
	r.w.mu.Unlock()
	return answer(request)
}

// PostsOf returns how many requests each delivery had.
func (w *World) PostsOf() map[hook.DeliveryRef]int {
	w.mu.Lock()
	defer w.mu.Unlock()

	n := make(map[hook.DeliveryRef]int)
	for _, p := range w.Posts {
		n[p.Ref()]++
	}
	return n
}

// Always returns a receiver that answers with the status.
func Always(status int) func(send.Request) hook.Outcome {
	return Status(func(send.Request) int { return status })
}

// InTurn returns a receiver that answers attempt n with the n-th status, and
// later attempts with the last status.
func InTurn(statuses ...int) func(send.Request) hook.Outcome {
	return Status(func(r send.Request) int { return statuses[min(r.Attempt, len(statuses))-1] })
}

// Status returns a receiver that answers with the status of f.
func Status(f func(r send.Request) int) func(send.Request) hook.Outcome {
	return func(r send.Request) hook.Outcome {
		status := f(r)
		return hook.Outcome{Class: hook.ClassOfStatus(status), Status: status, URL: r.Endpoint.URL}
	}
}

// Log keeps the lines of the function under test. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

// Write adds a line.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.lines.Write(line)
}

// String returns all lines.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.lines.String()
}
