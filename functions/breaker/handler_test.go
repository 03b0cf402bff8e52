package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errNo = errors.New("no")

// attends notes what it is asked for, and fails for one endpoint, or with what a schedule asks.
type attends struct {
	fails      hook.EndpointID
	failsTimed bool

	mu         sync.Mutex
	looks      []hook.CircuitCheck
	ticks      int
	reviews    int
	reconciles int
}

func (a *attends) Reconcile(_ context.Context, look hook.CircuitCheck) error {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.looks = append(a.looks, look)
	if look.Endpoint == a.fails {
		return errNo
	}
	return nil
}

func (a *attends) Tick(context.Context) error {
	a.ticks++
	if a.failsTimed {
		return errNo
	}
	return nil
}

func (a *attends) Review(context.Context) error {
	a.reviews++
	if a.failsTimed {
		return errNo
	}
	return nil
}

func (a *attends) ReconcileDeadLetters(context.Context) error {
	a.reconciles++
	if a.failsTimed {
		return errNo
	}
	return nil
}

// TestHandle_Answers reads events as SQS and the schedule send them and
// compares the answer as Lambda reads it.
func TestHandle_Answers(t *testing.T) {
	t.Parallel()

	first := hook.CircuitCheck{Tenant: "acme", Endpoint: "ep_0123456789abcdef"}
	second := hook.CircuitCheck{Tenant: "acme", Endpoint: "ep_fedcba9876543210", Wave: 3}
	tests := []struct {
		name    string
		event   string
		breaker *attends
		golden  string // empty: an error
		looks   []hook.CircuitCheck
		timed   [3]int // ticks, reviews and reconciliations
	}{
		{name: "a batch that went well", event: "batch", breaker: &attends{}, golden: "all-well", looks: []hook.CircuitCheck{first, second}, timed: [3]int{}},
		{name: "one look must come again", event: "batch", breaker: &attends{fails: second.Endpoint}, golden: "one-failed", looks: []hook.CircuitCheck{first, second}, timed: [3]int{}},
		{name: "a message that is no look touches no other", event: "poisoned", breaker: &attends{}, golden: "poisoned", looks: []hook.CircuitCheck{second}, timed: [3]int{}},
		{name: "a tick", event: "tick", breaker: &attends{}, golden: "tick", looks: nil, timed: [3]int{1, 0, 0}},
		{name: "a tick that failed is an error", event: "tick", breaker: &attends{failsTimed: true}, golden: "", looks: nil, timed: [3]int{1, 0, 0}},
		{name: "a review", event: "review", breaker: &attends{}, golden: "review", looks: nil, timed: [3]int{0, 1, 0}},
		{name: "a review that failed is an error", event: "review", breaker: &attends{failsTimed: true}, golden: "", looks: nil, timed: [3]int{0, 1, 0}},
		{name: "reconciliation", event: "reconcile", breaker: &attends{}, golden: "reconcile", looks: nil, timed: [3]int{0, 0, 1}},
		{name: "reconciliation that failed is an error", event: "reconcile", breaker: &attends{failsTimed: true}, golden: "", looks: nil, timed: [3]int{0, 0, 1}},
		{name: "anything else is an error", event: "unknown", breaker: &attends{}, golden: "", looks: nil, timed: [3]int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			raw, err := os.ReadFile(filepath.Join("testdata", tt.event+".event.json"))
			if err != nil {
				t.Fatal(err)
			}
			var in input
			if err := json.Unmarshal(raw, &in); err != nil {
				t.Fatal(err)
			}
			response, err := (&handler{breaker: tt.breaker, log: slog.New(slog.DiscardHandler)}).Handle(t.Context(), in)
			if (err != nil) != (tt.golden == "") {
				t.Errorf("Handle(%s) = %v; want an error: %t", tt.event, err, tt.golden == "")
			}
			slices.SortFunc(tt.breaker.looks, func(a, b hook.CircuitCheck) int { return a.Wave - b.Wave })
			timed := [3]int{tt.breaker.ticks, tt.breaker.reviews, tt.breaker.reconciles}
			if diff := cmp.Diff(tt.looks, tt.breaker.looks); diff != "" || timed != tt.timed {
				t.Errorf("Handle(%s) made %d ticks, reviews and reconciliations; want %d; looks differ (-want +got):\n%s", tt.event, timed, tt.timed, diff)
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
