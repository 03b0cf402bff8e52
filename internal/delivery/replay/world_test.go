package replay_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

var start = world.Start()

// bundle is the world of function replay, beside function deliver with its gate.
// The breaker is absent: parked deliveries stay parked.
type bundle struct{ *world.World }

// missed reports whether a death could not be counted, which is only logged.
func (w *bundle) missed() bool { return strings.Contains(w.Log.String(), "dead_count.failed") }

// setup returns a world whose endpoints retry once, after a minute.
func setup(t *testing.T) *bundle {
	t.Helper()

	return &bundle{world.New(t, world.Options{Function: world.Replay, Delays: []time.Duration{time.Minute}, Jobs: true})}
}

// inTurn runs f in a world whose goroutines run one at a time: otherwise the n-th effect of a job would
// be another one in each run.
func inTurn(t *testing.T, f func(w *bundle)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		f(&bundle{world.New(t, world.Options{Function: world.Replay, Delays: []time.Duration{time.Minute}, Jobs: true, InTurn: true})})
	})
}

// past stores n deliveries to the endpoint in the state, each a second older than the next, and
// the youngest an hour old. It returns them from the oldest to the youngest.
func (w *bundle) past(e hook.Endpoint, state hook.State, n int) []hook.DeliveryRef {
	w.T.Helper()

	ids := make([]hook.DeliveryRef, n)
	for i := range ids {
		ids[i] = w.one(e, state, "order.paid", start.Add(-time.Hour-time.Duration(n-i)*time.Second))
	}
	return ids
}

// one stores a delivery to the endpoint in the state. A queued delivery has no record.
func (w *bundle) one(e hook.Endpoint, state hook.State, eventType string, at time.Time) hook.DeliveryRef {
	w.T.Helper()

	d := hook.QueuedDelivery(w.Event(eventType, at, e), e.Target())
	d.State, d.DecidedBy = state, hook.NewNonce()
	switch state {
	case hook.StateDead:
		d.Reason, d.Attempts, d.Last = hook.ReasonExhausted, 2, hook.Outcome{Class: hook.ClassUnavailable, Status: 503, Error: "503"}
	case hook.StateDelivered:
		d.Attempts, d.Last = 1, hook.Outcome{Class: hook.ClassDelivered, Status: 200}
	case hook.StateParked:
		d.Reason = hook.ReasonPaused
	case hook.StateRetrying:
		d.Attempts, d.NextAttemptAt = 1, start.Add(time.Hour)
	case hook.StateQueued:
		return d.Ref()
	case hook.StateDiscarded, hook.StateCancelled:
		d.Reason = hook.ReasonManual
	}
	w.Save(d)
	return d.Ref()
}

// keep records the queued delivery, as the breaker does if its task is late.
func (w *bundle) keep(id hook.DeliveryRef) {
	w.T.Helper()

	if err := w.Breaker().Record(w.T.Context(), []hook.DeliveryRef{id}); err != nil {
		w.T.Fatal(err)
	}
}

// change changes the record of the delivery.
func (w *bundle) change(id hook.DeliveryRef, edit func(*hook.Delivery)) {
	w.T.Helper()

	d := w.Delivery(id)
	edit(&d)
	w.Save(d)
}

func (w *bundle) job(id hook.JobID) replay.Progress {
	w.T.Helper()

	p, err := w.Replayer().Job(w.Context(), "acme", id)
	if err != nil {
		w.T.Fatalf("job %s: %v", id, err)
	}
	return p
}

// next returns a copy of the message that continues the job.
func (w *bundle) next(j replay.Job) replay.Message {
	w.T.Helper()

	return replay.Message{Tenant: "acme", Job: j.ID, Nonce: w.job(j.ID).Next}
}

func (w *bundle) start(q replay.JobRequest) replay.Job {
	w.T.Helper()

	if q.Rate == 0 {
		q.Rate = replay.DefaultRate
	}
	q.By = "key_0000000000000001"
	j, err := w.Replayer().Start(w.Context(), "acme", q)
	if err != nil {
		w.T.Fatalf("Start(%+v) = %v", q, err)
	}
	return j
}

// states returns how many of the deliveries are in each state in the given generation: "2
// delivered, 1 dead".
func (w *bundle) states(ids []hook.DeliveryRef, generation int) string {
	w.T.Helper()

	of := make([]hook.DeliveryRef, len(ids))
	for i, id := range ids {
		id.Generation = generation
		of[i] = id
	}
	return w.States(of)
}
