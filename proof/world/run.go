package world

import (
	"errors"
	"slices"
	"sync"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// maxRounds bounds Run. The longest test, 10,000 replays in pages of 100 with a
// second between pages, needs some 200 rounds.
const maxRounds = 100_000

const tickEvery = time.Minute

// Batch returns the number of messages that function deliver receives at once from
// the queue, as deployed.
func Batch(queue hook.Queue) int { return queue.BatchSize() }

// Invoke gives a batch of messages of the queue to a new process of function
// deliver, as Lambda does, and deletes the messages that the process does not
// report as failed. A process that dies reports nothing.
func (w *World) Invoke(queue hook.Queue) (received, failed int) {
	w.T.Helper()

	batch := w.Queue.Receive(queue, Batch(queue))
	if len(batch) == 0 {
		return 0, 0
	}
	messages := make([]deliver.Message, len(batch))
	for i, m := range batch {
		messages[i] = deliver.Message{ID: m.ID, Body: m.Body, Queue: queue}
	}
	kept := w.Deliverer().ProcessBatch(w.as(Deliver), messages)
	if w.options.Function == Deliver && w.Crash.Restart() {
		return len(batch), len(batch)
	}
	for _, m := range batch {
		if !slices.Contains(kept, m.ID) {
			w.Queue.Delete(m.ID)
		}
	}
	return len(batch), len(kept)
}

// InvokeAll runs function deliver until no message is visible.
func (w *World) InvokeAll() {
	w.T.Helper()

	for _, queue := range hook.Queues() {
		for n := 1; n > 0; {
			n, _ = w.Invoke(queue)
		}
	}
}

// Work gives a job message to a new process of function replay; false if no
// message is visible.
func (w *World) Work() bool {
	w.T.Helper()

	received := w.Jobs.Receive(1)
	if len(received) == 0 {
		return false
	}
	err := w.Replayer().Work(w.as(Replay), received[0].Job)
	if died := w.Crash.Restart(); !died && err == nil {
		w.Jobs.Delete(received[0].ID)
	}
	return true
}

// Tick runs the breaker's tick, if a minute passed since the last tick.
func (w *World) Tick() {
	w.T.Helper()

	if w.NoTicks || w.Clock.Now().Before(w.ticked.Add(tickEvery)) {
		return
	}
	w.ticked = w.Clock.Now()
	if err := w.Breaker().Tick(w.as(Breaker)); err != nil && !w.Crash.Restart() {
		w.T.Errorf("Tick() = %v", err)
	}
}

// CheckCircuits gives each visible circuit check to new processes of the breaker.
func (w *World) CheckCircuits() {
	w.T.Helper()

	for _, m := range w.CircuitQueue.Receive(10) {
		var wg sync.WaitGroup
		errs := make([]error, max(w.Receipts, 1))
		for i := range errs {
			wg.Go(func() { errs[i] = w.checkCircuit(m) })
		}
		wg.Wait()
		switch err := errors.Join(errs...); {
		case w.Crash.Restart(): // the check becomes visible again
		case err != nil:
			w.T.Errorf("breaker of %+v = %v", m.CircuitMessage, err)
		default:
			w.CircuitQueue.Delete(m.ID)
		}
	}
}

// checkCircuit gives the message to a new process of the breaker.
func (w *World) checkCircuit(m memory.CircuitMessage) error {
	if m.Review != nil {
		return w.Breaker().ReviewPage(w.as(Breaker), *m.Review)
	}
	return w.Breaker().Reconcile(w.as(Breaker), m.CircuitCheck)
}

// Now runs everything that is due now.
func (w *World) Now() {
	w.T.Helper()

	if w.options.Circuits {
		w.Tick()
		w.CheckCircuits()
	}
	for w.options.Jobs && w.Work() {
		continue
	}
	w.InvokeAll()
}

// Step moves the clock to the next message, and runs everything that is due
// then; false if no message is left.
func (w *World) Step() bool {
	w.T.Helper()

	next := w.next()
	if !next.OK {
		return false
	}
	w.Clock.Until(next.At)
	w.Now()
	return true
}

// Run moves the clock from message to message until none is left.
func (w *World) Run() {
	w.T.Helper()

	for range maxRounds {
		if !w.Step() {
			return
		}
	}
	w.T.Fatalf("the queues did not become empty in %d rounds", maxRounds)
}

// RunFor moves the clock from message to message, and from tick to tick, for d.
func (w *World) RunFor(d time.Duration) {
	w.T.Helper()

	end := w.Clock.Now().Add(d)
	for {
		next := w.next()
		next.Consider(end, true)
		if w.options.Circuits && !w.NoTicks {
			next.Consider(w.ticked.Add(tickEvery), true)
		}
		w.Clock.Until(next.At)
		if !w.Clock.Now().Before(end) {
			return
		}
		w.Now()
	}
}

// next returns the time of the next message.
func (w *World) next() Earliest {
	var next Earliest
	for _, queue := range hook.Queues() {
		at, ok := w.Queue.NextOf(queue)
		if ok && queue == hook.QueueCoalesce { // an invocation gathers tasks
			at = at.Add(hook.CoalesceGather)
		}
		next.Consider(at, ok)
	}
	if w.options.Circuits {
		next.Consider(w.CircuitQueue.Next())
	}
	if w.options.Jobs {
		next.Consider(w.Jobs.Next())
	}
	return next
}
