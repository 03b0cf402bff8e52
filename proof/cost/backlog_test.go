package cost_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/cost"
)

var backlogFlag = flag.Int("backlog", 0, "measure a replay and a release of so many deliveries")

// TestBacklog_Release measures a release of parked deliveries of one fast endpoint. The time is that of
// its waves: functions and table take none. It measures 10,000 in less than a minute, and runs only
// with -args -backlog 10000; a million takes half an hour and 12 GB with GOGC=40, and a replay of a million an hour.
func TestBacklog_Release(t *testing.T) {
	t.Parallel()

	measureBacklog(t, "a release", hook.StateParked, func(w *bundle, e hook.Endpoint) {
		record, err := w.store.Circuit(t.Context(), e.Tenant, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.SaveCircuit(t.Context(), record.ExpectParked(w.clock()).Release(w.clock())); err != nil {
			t.Fatal(err)
		}
		w.drain(*backlogFlag)
	})
}

// TestBacklog_Replay measures a replay job of dead deliveries as TestBacklog_Release does a release. The
// time is that of the job's rate.
func TestBacklog_Replay(t *testing.T) {
	t.Parallel()

	measureBacklog(t, "a replay job", hook.StateDead, (*bundle).replayAll)
}

// measureBacklog makes as many deliveries as the flag says, in the state, and measures what run does
// with them until all are delivered.
func measureBacklog(t *testing.T, name string, state hook.State, run func(*bundle, hook.Endpoint)) {
	t.Helper()

	if *backlogFlag == 0 {
		t.Skip("runs with -args -backlog 10000")
	}
	w := newBundle(t, full, 1)
	var e hook.Endpoint
	w.endpoint(func(made *hook.Endpoint) { e = *made })
	for i := range *backlogFlag {
		at := w.clock().Add(-time.Hour + time.Duration(i)*time.Millisecond)
		id := w.ids.Event()
		event := hook.Event{ID: id, Tenant: e.Tenant, Type: "order.paid", Payload: []byte(w.payload()), AcceptedAt: at, ExpiresAt: at.Add(90 * 24 * time.Hour), Targets: []hook.Target{e.Target()}}
		if err := w.store.PutEvent(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		d := hook.QueuedDelivery(event, e.Target())
		d.State, d.Reason, d.DecidedBy = state, hook.ReasonCircuit, hook.NewNonce()
		if err := w.store.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.ledger.Reset()
	began, clock := time.Now(), w.clock()
	run(w, e)
	w.wantDelivered(*backlogFlag)
	s := w.scenario(name, "", *backlogFlag)
	requests := 0.0
	for _, n := range s.Account.Requests {
		requests += n
	}
	each := float64(*backlogFlag)
	t.Logf("%s of %d: %.2f requests, %.2f write units, %.2f read units, %.2f messages for each; %s by its rates; measured in %s",
		name, *backlogFlag, requests/each, s.Account.Usage[cost.WriteUnit]/each, s.Account.Usage[cost.ReadUnit]/each,
		float64(w.messages)/each, w.clock().Sub(clock), time.Since(began).Round(time.Second))
}

// jobQueue has the next message of a job.
type jobQueue struct {
	w    *bundle
	next *replay.Message
	due  time.Time
}

func (q *jobQueue) Continue(_ context.Context, m replay.Message, delay time.Duration) error {
	q.next, q.due = &m, q.w.clock().Add(delay)
	return nil
}

// replayAll runs a job of all dead deliveries of the endpoint, at the highest rate.
func (w *bundle) replayAll(e hook.Endpoint) {
	w.t.Helper()

	q := &jobQueue{w: w}
	w.replayer.JobQueue = q
	w.replayer.NewID = hook.NewJobID
	if _, err := w.replayer.Start(w.t.Context(), e.Tenant, replay.JobRequest{Filter: replay.Filter{State: hook.StateDead}, Terms: replay.Terms{Rate: replay.MaxRate}, Endpoint: string(e.ID)}); err != nil {
		w.t.Fatal(err)
	}
	for q.next != nil {
		if w.handOver(q.due.Sub(w.clock())) {
			continue
		}
		w.mu.Lock()
		w.now = later(w.now, q.due)
		w.mu.Unlock()
		m := *q.next
		q.next = nil
		w.invoke(1, breakerAtOnce, func() {
			if err := w.replayer.Work(w.t.Context(), m); err != nil {
				w.t.Fatal(err)
			}
		})
	}
	for w.handOver(forever) {
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
