package deliver_test

import (
	"context"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// failures in a row that open a circuit.
const failures = 5

// An event that the transformation cannot shape is dead at once, without a request and
// without an effect on the circuit. After a correction a replay delivers it.
func TestProcessBatch_Transformation(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.Transformation = `{"body": event.data.m}` })
	for range 2 * failures {
		w.Post(endpoint)
	}
	id := w.Post(endpoint)[0]
	w.Invoke(hook.QueueLive)
	w.Run()
	d := w.Delivery(id)
	if d.State != hook.StateDead || d.Reason != hook.ReasonTransformation || d.Attempts != 1 || len(w.Posts) != 0 {
		t.Fatalf("%s %s after %d attempts and %d POSTs; want dead transformation after 1, 0", d.State, d.Reason, d.Attempts, len(w.Posts))
	}
	if d.Last.Class != hook.ClassTransformation || !strings.Contains(d.Last.Error, "no such key: m") || !strings.HasPrefix(d.Last.Shape, "cel-") {
		t.Errorf("the last attempt is %+v; want the error and the version", d.Last)
	}
	if letters := w.DeadLetters.Letters(); len(letters) != 2*failures+1 {
		t.Errorf("%d dead letters", len(letters))
	}
	if record := w.Circuit(endpoint); record.State != circuit.Closed || record.Failures != 0 {
		t.Errorf("the circuit is %+v; want it untouched", record.Circuit)
	}

	endpoint.Transformation = `{"body": event.data.n}`
	if err := w.Store.UpdateEndpoint(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	w.batch(w.Deliverer(), w.body(replayOf(id, hook.ReplayRequest{By: "key_a"})))
	w.Run()
	if len(w.Posts) != 1 || string(w.Posts[0].Content.Body) != "1" || w.Delivery(id).State != hook.StateDiscarded {
		t.Errorf("%d POSTs, and the delivery is %s; want the replay delivered", len(w.Posts), w.Delivery(id).State)
	}
}

// If the function ends while the event is shaped, nothing is known about the event: the message comes
// again, and the delivery is not dead.
func TestProcessBatch_StoppedTransformation(t *testing.T) {
	t.Parallel()

	w := setup(t)
	endpoint := w.Endpoint(func(e *hook.Endpoint) { e.Transformation = `{"body": event.data.n}` })
	id := w.Post(endpoint)[0]
	ended, end := context.WithCancel(w.Context())
	end()
	messages := batchOf(w.Queue.Receive(hook.QueueLive, 1)...)
	if failed := w.Deliverer().ProcessBatch(ended, messages); len(failed) != 1 {
		t.Errorf("%d of 1 messages failed; want that of the event, to come again", len(failed))
	}
	if letters := w.DeadLetters.Letters(); len(letters) != 0 || len(w.Posts) != 0 {
		t.Fatalf("%d dead letters and %d POSTs; want none", len(letters), len(w.Posts))
	}
	if failed := w.Deliverer().ProcessBatch(w.Context(), messages); len(failed) != 0 || w.Delivery(id).State != hook.StateDelivered {
		t.Errorf("the message again: %d failed, and the delivery is %s; want delivered", len(failed), w.Delivery(id).State)
	}
}

// If the transformation cannot shape the event of a probe, this says nothing about the endpoint:
// the circuit stays half-open, and another delivery becomes the probe.
func TestProcessBatch_TransformationOfProbe(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.Always(503)
	endpoint := w.Endpoint(nil)
	for range failures {
		w.Post(endpoint)
		w.Invoke(hook.QueueLive)
	}
	parked := w.Post(endpoint)[0]
	w.Invoke(hook.QueueLive)
	endpoint.Transformation = `{"body": event.data.m}`
	if err := w.Store.UpdateEndpoint(t.Context(), endpoint); err != nil {
		t.Fatal(err)
	}
	opened := w.Circuit(endpoint)
	if opened.State == circuit.Closed {
		t.Fatal("the circuit did not open")
	}
	w.Clock.Until(start.Add(hook.DefaultCooldown))
	probe := w.Delivery(parked).NextTask()
	probe.Probe = true
	w.Enqueue(hook.QueueRetry, probe)
	w.InvokeAll()
	if d := w.Delivery(parked); d.Reason != hook.ReasonTransformation {
		t.Errorf("the probe is %s %s; want dead transformation", d.State, d.Reason)
	}
	if got := w.Circuit(endpoint); got.State == circuit.Closed || got.Cooldown != opened.Cooldown {
		t.Errorf("the circuit is %+v after %+v; want it neither closed nor opened again", got.Circuit, opened.Circuit)
	}
}

// Events that the transformation cannot shape end, and give back what they hold, also if the
// process dies at any step.
func TestProcessBatch_TransformationWithinLimits(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*hook.Endpoint){
		"none":   func(*hook.Endpoint) {},
		"slots":  func(e *hook.Endpoint) { e.MaxInFlight = 1 },
		"a rate": func(e *hook.Endpoint) { e.RatePerSecond = 1000 },
	} {
		for crash := range 6 {
			if name == "slots" && crash > 0 {
				break // without the breaker, nobody releases deliveries that wait for a slot
			}
			w := setup(t)
			endpoint := w.Endpoint(func(e *hook.Endpoint) {
				change(e)
				e.Transformation = `{"body": event.data.m}`
			})
			ids := []hook.DeliveryRef{w.Post(endpoint)[0], w.Post(endpoint)[0], w.Post(endpoint)[0]}
			if crash > 0 {
				w.Crash.Arm(crash, true)
			}
			w.Run()
			for _, id := range ids {
				if d := w.Delivery(id); d.State != hook.StateDead || d.Reason != hook.ReasonTransformation || d.Attempts != 1 {
					t.Errorf("with %s, death %d: %s %s after %d attempts; want dead transformation after 1", name, crash, d.State, d.Reason, d.Attempts)
				}
			}
			if len(w.Posts) > 0 || len(w.DeadLetters.Letters()) < len(ids) {
				t.Errorf("with %s, death %d: %d POSTs and %d letters; want 0, 3", name, crash, len(w.Posts), len(w.DeadLetters.Letters()))
			}
		}
	}
}

// The shape of a request is the same at every attempt, and its version is in the record.
func TestProcessBatch_EnvelopeAtEveryAttempt(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.Answer = world.InTurn(503, 200)
	id := w.Post(w.Endpoint(func(e *hook.Endpoint) { e.Envelope = hook.EnvelopeStandard }))[0]
	w.Run()
	if len(w.Posts) != 2 || string(w.Posts[0].Content.Body) != string(w.Posts[1].Content.Body) || !strings.HasSuffix(string(w.Posts[0].Content.Body), `"data":{"n": 1}}`) {
		t.Errorf("posts = %v; want the same body twice", w.Posts)
	}
	if d := w.Delivery(id); d.Last.Shape != "standard" {
		t.Errorf("the shape is %q; want standard", d.Last.Shape)
	}
}
