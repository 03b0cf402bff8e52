package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/hook"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errNo = errors.New("no")

// recorder records the calls.
type recorder struct {
	fails      hook.EndpointID // its reconciliations fail
	failsTimed bool            // the calls of the schedules and of the stream fail

	mu         sync.Mutex
	checks     []hook.CircuitCheck
	ticks      int
	reviews    int
	reconciles int
	sweeps     int
	begun      []hook.DeliveryRef
}

func (a *recorder) Reconcile(_ context.Context, check hook.CircuitCheck) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.checks = append(a.checks, check)
	if check.Endpoint == a.fails {
		return errNo
	}
	return nil
}

func (a *recorder) Tick(context.Context) error {
	a.ticks++
	if a.failsTimed {
		return errNo
	}
	return nil
}

func (a *recorder) Review(context.Context) error {
	a.reviews++
	if a.failsTimed {
		return errNo
	}
	return nil
}

func (a *recorder) ReviewPage(_ context.Context, page hook.ReviewPage) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.checks = append(a.checks, page.Endpoints...)
	return nil
}

func (a *recorder) ReconcileDeadLetters(context.Context) error {
	a.reconciles++
	if a.failsTimed {
		return errNo
	}
	return nil
}

func (a *recorder) Sweep(context.Context) error {
	a.sweeps++
	if a.failsTimed {
		return errNo
	}
	return nil
}

func (a *recorder) Record(_ context.Context, begun []hook.DeliveryRef) error {
	a.begun = begun
	if a.failsTimed {
		return errNo
	}
	return nil
}

// eventOf decodes the event with the name in testdata.
func eventOf(t *testing.T, name string) (in input) {
	t.Helper()

	raw, err := os.ReadFile(filepath.Join("testdata", name+".event.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatal(err)
	}
	return in
}

// TestHandle_Stream checks which deliveries are recorded for the records of the table's stream.
func TestHandle_Stream(t *testing.T) {
	t.Parallel()

	const event = "evt_01h455vb4pex5vsknk084sn02q"
	at := time.Date(2026, time.January, 2, 3, 4, 5, 678e6, time.UTC).UnixMilli()
	ref := func(endpoint hook.EndpointID, generation, shard int) hook.DeliveryRef {
		return hook.DeliveryRef{DeliveryID: hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: generation}, AcceptedAt: at, Shard: shard}
	}
	tests := []struct {
		name  string
		event string
		fails bool
		want  []hook.DeliveryRef
	}{
		{name: "an event with two endpoints, and a replayed delivery", event: "stream", want: []hook.DeliveryRef{
			ref("ep_0123456789abcdef", 1, 0), ref("ep_fedcba9876543210", 1, hook.ShardOf(hook.EventID(event), 4)), ref("ep_0123456789abcdef", 3, 0),
		}},
		{name: "an unreadable change affects no other", event: "stream-poisoned", want: []hook.DeliveryRef{ref("ep_0123456789abcdef", 1, 0)}},
		{name: "a failed batch is an error, so that Lambda repeats it", event: "stream", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			in := eventOf(t, tt.event)
			var lines bytes.Buffer
			breaker := &recorder{failsTimed: tt.fails}
			h := &handler{breaker: breaker, log: slog.New(slog.NewJSONHandler(&lines, nil))}
			if response, err := h.Handle(t.Context(), in); response != nil || (err != nil) != tt.fails {
				t.Errorf("Handle(%s) = %v, %v; want nil, an error: %t", tt.event, response, err, tt.fails)
			}
			if diff := cmp.Diff(tt.want, breaker.begun); diff != "" && !tt.fails {
				t.Errorf("begun deliveries differ (-want +got):\n%s", diff)
			}
			if got, want := bytes.Contains(lines.Bytes(), []byte("change.decode_failed")), tt.event == "stream-poisoned"; got != want {
				t.Errorf("logged an unreadable change: %t; want %t: %s", got, want, &lines)
			}
		})
	}
}

// TestHandle_Answers decodes events of SQS and of the schedules, and compares the JSON of the
// response with the golden file.
func TestHandle_Answers(t *testing.T) {
	t.Parallel()

	first := hook.CircuitCheck{Tenant: "acme", Endpoint: "ep_0123456789abcdef"}
	second := hook.CircuitCheck{Tenant: "acme", Endpoint: "ep_fedcba9876543210", Wave: 3}
	tests := []struct {
		name    string
		event   string
		breaker *recorder
		golden  string // empty: an error
		checks  []hook.CircuitCheck
		timed   [4]int // ticks, reviews, reconciliations and sweeps
	}{
		{name: "a batch without failures", event: "batch", breaker: &recorder{}, golden: "all-well", checks: []hook.CircuitCheck{first, second}, timed: [4]int{}},
		{name: "one failed check is reported", event: "batch", breaker: &recorder{fails: second.Endpoint}, golden: "one-failed", checks: []hook.CircuitCheck{first, second}, timed: [4]int{}},
		{name: "an invalid message does not affect others", event: "poisoned", breaker: &recorder{}, golden: "poisoned", checks: []hook.CircuitCheck{second}, timed: [4]int{}},
		{name: "a page of a review", event: "page", breaker: &recorder{}, golden: "all-well", checks: []hook.CircuitCheck{first}, timed: [4]int{}},
		{name: "a tick", event: "tick", breaker: &recorder{}, golden: "tick", checks: nil, timed: [4]int{1, 0, 0, 0}},
		{name: "a failed tick is an error", event: "tick", breaker: &recorder{failsTimed: true}, golden: "", checks: nil, timed: [4]int{1, 0, 0, 0}},
		{name: "a review", event: "review", breaker: &recorder{}, golden: "review", checks: nil, timed: [4]int{0, 1, 0, 0}},
		{name: "a failed review is an error", event: "review", breaker: &recorder{failsTimed: true}, golden: "", checks: nil, timed: [4]int{0, 1, 0, 0}},
		{name: "a reconciliation", event: "reconcile", breaker: &recorder{}, golden: "reconcile", checks: nil, timed: [4]int{0, 0, 1, 0}},
		{name: "a failed reconciliation is an error", event: "reconcile", breaker: &recorder{failsTimed: true}, golden: "", checks: nil, timed: [4]int{0, 0, 1, 0}},
		{name: "a sweep", event: "sweep", breaker: &recorder{}, golden: "sweep", checks: nil, timed: [4]int{0, 0, 0, 1}},
		{name: "a failed sweep is an error", event: "sweep", breaker: &recorder{failsTimed: true}, golden: "", checks: nil, timed: [4]int{0, 0, 0, 1}},
		{name: "anything else is an error", event: "unknown", breaker: &recorder{}, golden: "", checks: nil, timed: [4]int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			in := eventOf(t, tt.event)
			response, err := (&handler{breaker: tt.breaker, batches: lambdafn.Batches{Visibility: unchanged{}, Rand: rand.Float64, Log: slog.New(slog.DiscardHandler), Now: time.Now}}).Handle(t.Context(), in)
			if (err != nil) != (tt.golden == "") {
				t.Errorf("Handle(%s) = %v; want an error: %t", tt.event, err, tt.golden == "")
			}
			slices.SortFunc(tt.breaker.checks, func(a, b hook.CircuitCheck) int { return a.Wave - b.Wave })
			timed := [4]int{tt.breaker.ticks, tt.breaker.reviews, tt.breaker.reconciles, tt.breaker.sweeps}
			if diff := cmp.Diff(tt.checks, tt.breaker.checks); diff != "" || timed != tt.timed {
				t.Errorf("Handle(%s) made %d ticks, reviews, reconciliations and sweeps; want %d; checks differ (-want +got):\n%s", tt.event, timed, tt.timed, diff)
			}
			if tt.golden != "" {
				compare(t, filepath.Join("testdata", tt.golden+".golden.json"), response)
			}
		})
	}
}

func compare(t *testing.T, golden string, response any) {
	t.Helper()

	got, err := json.MarshalIndent(response, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
		t.Errorf("Handle() differs (-want +got):\n%s", diff)
	}
}

// unchanged does not change when messages become visible again.
type unchanged struct{}

func (unchanged) Change(context.Context, string, map[string]time.Duration) error { return nil }
