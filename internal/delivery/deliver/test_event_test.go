package deliver_test

import (
	"bytes"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/proof/world"
)

// sendTest sends a test event to the endpoint.
func (w *bundle) sendTest(e hook.Endpoint) {
	w.T.Helper()

	if _, err := w.Acceptor().AcceptFor(w.T.Context(), e, "webhook.test", []byte(`{}`), false); err != nil {
		w.T.Fatalf("AcceptFor() = %v", err)
	}
}

// TestProcessBatch_SendsATestEventAtOnce checks that nothing holds back the test event with which an
// owner tries a mended endpoint, and that its success ends what holds back the others.
func TestProcessBatch_SendsATestEventAtOnce(t *testing.T) {
	t.Parallel()

	failing := world.Always(500)
	throttling := func(r send.Request) hook.Outcome {
		o := world.Always(429)(r)
		o.RetryAfter = time.Hour
		return o
	}
	tests := []struct {
		name     string
		endpoint func(e *hook.Endpoint)
		before   func(r send.Request) hook.Outcome // the answer to three events before the test event
		mended   bool                              // the answer to the test event is 200
	}{
		{name: "an open circuit", endpoint: func(e *hook.Endpoint) { e.Circuit.Failures = 1 }, before: failing, mended: true},
		{name: "an open circuit, and it fails again", endpoint: func(e *hook.Endpoint) { e.Circuit.Failures = 1 }, before: failing},
		{name: "the hold of a 429", before: throttling, mended: true},
		{name: "the hold of a 429, and another", before: throttling},
		{name: "a rate", endpoint: func(e *hook.Endpoint) { e.RatePerSecond = 0.01 }, before: world.Always(200), mended: true},
		{name: "a window", endpoint: windowed(nil), before: world.Always(200), mended: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			e := w.Endpoint(tt.endpoint)
			w.Answer = tt.before
			w.PostMany(e, 3)
			w.InvokeAll()
			w.Post(e) // waits
			w.InvokeAll()
			was := w.Circuit(e)
			if w.Answer = tt.before; tt.mended {
				w.Answer = world.Always(200)
			}
			w.Posts, w.Checks = nil, nil
			w.sendTest(e)
			w.InvokeAll()
			if len(w.Posts) == 0 || !w.Posts[0].Event.ID.IsTest() && !bytes.Contains(w.Posts[0].Content.Body, []byte(`"webhook.test"`)) {
				t.Fatalf("requests = %+v; want that of the test event first", w.Posts)
			}
			c := w.Circuit(e)
			if !tt.mended {
				if c.State != was.State || !c.ProbeAt.Equal(was.ProbeAt) || c.Failures != was.Failures || c.ThrottledUntil.Before(was.ThrottledUntil) {
					t.Errorf("the record was %+v and is %+v; want the same circuit", was, c)
				}
				return
			}
			if c.State != circuit.Closed || !c.ThrottledUntil.IsZero() {
				t.Errorf("the circuit is %s, held until %s; want closed, and no hold", c.State, c.ThrottledUntil)
			}
			if waited := was.State == circuit.Open || !was.ThrottledUntil.IsZero(); waited && (len(w.Checks) == 0 || c.Wave != 1) {
				t.Errorf("checks = %+v, wave %d; want a check that releases what waited", w.Checks, c.Wave)
			}
		})
	}
}

// A test event says nothing bad about the endpoint, however often it fails: its owner may try what
// does not work yet.
func TestProcessBatch_AFailedTestEventHarmsNothing(t *testing.T) {
	t.Parallel()

	for status, requests := range map[int]int{410: 1, 429: 3, 500: 3} {
		w := setup(t)
		e := w.Endpoint(func(e *hook.Endpoint) { e.Circuit.Failures = 1 })
		w.Answer = func(r send.Request) hook.Outcome {
			if !r.Event.ID.IsTest() {
				return world.Always(200)(r)
			}
			o := world.Always(status)(r)
			o.RetryAfter = time.Minute
			return o
		}
		w.sendTest(e)
		id := w.Post(e)[0]
		w.Run()
		if c, d := w.Circuit(e), w.Delivery(id); c.State != circuit.Closed || !c.ThrottledUntil.IsZero() || d.State != hook.StateDelivered || len(w.Posts) != requests+1 {
			t.Errorf("after a test event that fails with %d, and an event: %+v, %s, %d requests", status, c, d.State, len(w.Posts))
		}
		if e, err := w.Store.Endpoint(t.Context(), e.Tenant, e.ID); err != nil || e.Status != hook.StatusActive {
			t.Errorf("after a test event that fails with %d the endpoint is %s, %v; want active", status, e.Status, err)
		}
	}
}
