package world

import (
	"context"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/attempt"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/store"
)

// Retention is how long events are kept in a Wiring.
const Retention = 90 * 24 * time.Hour

// Store is the store of all use cases.
type Store interface { //nolint:interfacebloat // the ports of all use cases together
	ingest.Store
	attempt.Store
	deliver.Store
	admit.Store
	breaker.Store
	settle.Store
	replay.Store
}

// Wiring holds the ports of the use cases. Each method returns a new use case, as a new process
// would make it.
type Wiring struct {
	Store        Store
	Queue        breaker.Queue
	Schedules    settle.Schedules
	DeadLetters  breaker.DeadLetters
	CircuitQueue breaker.CircuitQueue
	JobQueue     replay.JobQueue
	Notifier     settle.Notifier
	Gate         deliver.Gate // of the Deliverer; nil: a new gate
	Vault        attempt.Vault
	Sender       attempt.Sender
	Remote       attempt.Remote // nil: no other origins
	Shaper       *shape.Shaper
	AWS          attempt.Sender // nil: no destinations in AWS
	Metrics      emf.Set
	Log          *slog.Logger
	Now          func() time.Time
	NewEventID   func() hook.EventID
	NewJobID     func() hook.JobID
	// RealTime lets the use cases wait and set timers by the clock of package time, for tests in
	// testing/synctest. Otherwise the clock of the wiring stands still while a use case runs: it
	// does not wait, and no timer fires.
	RealTime bool
	// Wait is the wait between two tries of a write; nil: by the clock of package time with RealTime, none
	// otherwise.
	Wait store.Wait
}

// wait returns the wait between two tries of a write.
func (w Wiring) wait() store.Wait {
	if w.Wait != nil || w.RealTime {
		return w.Wait
	}
	return NoWait
}

// NoWait is a wait between two tries of a write that returns at once. The other writers of a world are
// done before the next try.
func NoWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// NoTimer is a timer that never fires, because the clock of a world stands still while a batch runs.
func NoTimer(time.Duration, func()) (stop func() bool) { return func() bool { return true } }

// Acceptor returns a new function ingest, with an empty directory.
func (w Wiring) Acceptor() *ingest.Acceptor { return w.AcceptorOf(ingest.NewDirectory(w.Store)) }

// AcceptorOf returns function ingest with the directory, as in a process that is warm.
func (w Wiring) AcceptorOf(directory *ingest.Directory) *ingest.Acceptor {
	return &ingest.Acceptor{
		Store: w.Store, Queue: w.Queue, Directory: directory, Retention: Retention, Now: w.Now, Wait: w.wait(), NewID: w.NewEventID,
	}
}

// NewGate returns a new gate.
func (w Wiring) NewGate() *admit.Gate {
	slots := admit.Releaser{Store: w.Store, Queue: w.Queue, CircuitQueue: w.CircuitQueue, Now: w.Now, Wait: w.wait()}
	g := &admit.Gate{Releaser: slots, Shares: Shares}
	if !w.RealTime {
		g.AfterFunc = NoTimer
	}
	return g
}

// Shares is the number of shares of a tenant in the queue slot.
const Shares = 5

// NewSettler returns a new settler of function deliver.
func (w Wiring) NewSettler() *settle.Settler {
	return &settle.Settler{
		Completion: settle.Completion{Store: w.Store, Queue: w.Queue, DeadLetters: w.DeadLetters, Notifier: w.Notifier, Log: w.Log, Now: w.Now, Wait: w.wait()},
		Schedules:  w.Schedules, Metrics: w.Metrics,
	}
}

// Deliverer returns a new function deliver.
func (w Wiring) Deliverer() *deliver.Deliverer {
	gate := w.Gate
	if gate == nil {
		gate = w.NewGate()
	}
	return &deliver.Deliverer{
		Store:    w.Store,
		Attempts: &attempt.Maker{Store: w.Store, Vault: w.Vault, Sender: w.Sender, Remote: w.Remote, AWS: w.AWS, Shaper: w.Shaper, Metrics: w.Metrics, Log: w.Log, Now: w.Now},
		Gate:     gate, Settler: w.NewSettler(), Metrics: w.Metrics, Log: w.Log, Now: w.Now, Wait: w.wait(),
	}
}

// Breaker returns a new function breaker.
func (w Wiring) Breaker() *breaker.Breaker {
	return &breaker.Breaker{
		Store: w.Store, Queue: w.Queue, DeadLetters: w.DeadLetters, CircuitQueue: w.CircuitQueue,
		Notifier: w.Notifier, Metrics: w.Metrics, Log: w.Log, Now: w.Now, Wait: w.wait(),
	}
}

// Replayer returns a new function replay.
func (w Wiring) Replayer() *replay.Replayer {
	return &replay.Replayer{
		Store: w.Store, Queue: w.Queue, JobQueue: w.JobQueue,
		Metrics: w.Metrics, Log: w.Log, Now: w.Now, NewID: w.NewJobID, Wait: w.wait(),
	}
}
