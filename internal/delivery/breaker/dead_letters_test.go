package breaker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/world"
)

// generations stores the generations of a new delivery, each a replay of the one before, and
// returns the stored ones. states has a state, "replaced", or "-" for no record.
func (w *bundle) generations(states ...string) []hook.Delivery {
	w.T.Helper()

	var all []hook.Delivery
	first := hook.QueuedDelivery(w.Event("order.paid", w.Clock.Now(), hook.Endpoint{ID: hook.NewEndpointID()}), hook.Target{Endpoint: hook.NewEndpointID(), Shards: 1})
	for i, state := range states {
		d := first
		d.ID.Generation, d.Attempts, d.Job, d.JobIndex = i+1, 1, someJob, i
		if i < len(states)-1 {
			d.Replayed = hook.Replayed{Generation: i + 2, At: w.Clock.Now()}
		}
		if state == "replaced" {
			d.State, d.Reason = hook.StateCancelled, hook.ReasonReplayed
		} else if state != "-" {
			var err error
			if d.State, err = hook.ParseState(state); err != nil {
				w.T.Fatal(err)
			}
		}
		if state != "-" {
			if err := w.Store.SaveDelivery(w.T.Context(), d, nil); err != nil {
				w.T.Fatal(err)
			}
			d.Version++
		}
		all = append(all, d)
	}
	return all
}

// sendLetters sends n dead letters of the delivery, which are this old.
func (w *bundle) sendLetters(d hook.Delivery, n int, ago time.Duration) {
	w.T.Helper()

	letter := hook.DeadLetterOf(d)
	letter.DiedAt = w.Clock.Now().Add(-ago)
	for range n {
		if err := w.DeadLetters.Send(w.T.Context(), letter); err != nil {
			w.T.Fatal(err)
		}
	}
}

func (w *bundle) reconcile() {
	w.T.Helper()

	if err := w.Breaker().ReconcileDeadLetters(w.Context()); err != nil {
		w.T.Errorf("ReconcileDeadLetters() = %v; want nil", err)
	}
}

// reconciled returns the counts of the newest wide line: seen, removed, kept, failed.
func (w *bundle) reconciled() [4]int {
	w.T.Helper()

	var counts [4]int
	for line := range bytes.Lines([]byte(w.Log.String())) {
		var attrs map[string]any
		if err := json.Unmarshal(line, &attrs); err != nil {
			w.T.Fatal(err)
		}
		if attrs["msg"] != "dead_letters.reconciled" {
			continue
		}
		for i, key := range []string{names.LogSeen, names.LogRemoved, names.LogKept, names.LogFailed} {
			n, ok := attrs[key].(float64)
			if !ok {
				w.T.Fatalf("dead_letters.reconciled has %v for %s; want a number", attrs[key], key)
			}
			counts[i] = int(n)
		}
	}
	return counts
}

// letters returns the generations of the remaining letters, in order.
func (w *bundle) letters() []int {
	var list []int
	for _, letter := range w.DeadLetters.Letters() {
		list = append(list, letter.Delivery.Generation)
	}
	slices.Sort(list)
	return list
}

func TestReconcileDeadLetters_RemovesNeedlessLetters(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		generations string
		letters     []int         // of each generation
		again       int           // letters that the run sends again
		ago         time.Duration // age of the letters
		left        []int         // generations of the remaining letters
		want        string        // recorded generations at the end
	}{
		{name: "the letter of a dead delivery stays", generations: "dead", letters: []int{1}, ago: 0, left: []int{1}, want: "1 dead"},
		{name: "an old letter of a dead delivery stays", generations: "dead", letters: []int{1}, ago: 13 * 24 * time.Hour, left: []int{1}, want: "1 dead"},
		{name: "a second letter goes", generations: "dead", letters: []int{2}, ago: 0, left: []int{1}, want: "1 dead"},
		{name: "more letters than one receive returns", generations: "dead", letters: []int{35}, ago: 0, left: []int{1}, want: "1 dead"},
		{name: "discarded", generations: "discarded", letters: []int{1}, ago: 0, left: nil, want: "1 discarded"},
		{name: "delivered", generations: "delivered", letters: []int{2}, ago: 0, left: nil, want: "1 delivered"},
		{name: "cancelled", generations: "cancelled", letters: []int{1}, ago: 0, left: nil, want: "1 cancelled"},
		{name: "the record is gone", generations: "-", letters: []int{2}, ago: 0, left: nil, want: ""},
		{name: "the dead delivery may follow the letter", generations: "parked", letters: []int{1}, ago: 15 * time.Minute, left: []int{1}, want: "1 parked"},
		{name: "two letters before the dead delivery", generations: "parked", letters: []int{2}, ago: 0, left: []int{1, 1}, want: "1 parked"},
		{name: "the delivery did not die", generations: "parked", letters: []int{1}, ago: 15*time.Minute + time.Millisecond, left: nil, want: "1 parked"},
		{name: "the delivery did not die, and retries", generations: "retrying", letters: []int{1}, ago: time.Hour, left: nil, want: "1 retrying"},
		{name: "the task of the replay is on the queue", generations: "dead > -", letters: []int{1}, ago: 0, left: []int{1}, want: "1 dead"},
		{name: "the replay is in progress", generations: "dead > retrying", letters: []int{2}, ago: 0, left: []int{1}, want: "1 dead, 1 retrying"},
		{name: "the replay was delivered, and the process died", generations: "dead > delivered", letters: []int{1}, ago: 0, left: nil, want: "1 delivered, 1 discarded replayed"},
		{name: "the replay died, and the process died", generations: "dead > dead", letters: []int{1, 1}, again: 1, ago: 0, left: []int{2}, want: "1 dead, 1 discarded replayed"},
		{name: "the replay died, was replayed and retired", generations: "dead > discarded > delivered", letters: []int{1, 1}, ago: 0, left: nil, want: "1 delivered, 1 discarded, 1 discarded replayed"},
		{name: "the task of a forced replay is on the queue", generations: "dead > replaced > -", letters: []int{1}, ago: 0, left: []int{1}, want: "1 cancelled replayed, 1 dead"},
		{name: "a forced replay is in progress", generations: "dead > replaced > parked", letters: []int{1}, ago: 0, left: []int{1}, want: "1 cancelled replayed, 1 dead, 1 parked"},
		{name: "a forced replay was delivered", generations: "dead > replaced > replaced > delivered", letters: []int{1}, ago: 0, left: nil, want: "2 cancelled replayed, 1 delivered, 1 discarded replayed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			all := w.generations(strings.Split(tt.generations, " > ")...)
			sent := 0
			for i, n := range tt.letters {
				w.sendLetters(all[i], n, tt.ago)
				sent += n
			}
			var recorded []hook.DeliveryRef
			for _, d := range all {
				if d.State != hook.StateQueued {
					recorded = append(recorded, d.Ref())
				}
			}
			w.reconcile()
			first := [4]int{sent + tt.again, sent + tt.again - len(tt.left), len(tt.left), 0}
			if got := w.reconciled(); got != first {
				t.Errorf("seen, removed, kept, failed = %v; want %v", got, first)
			}
			for range 2 { // a second run changes nothing
				if diff := cmp.Diff(tt.left, w.letters()); diff != "" {
					t.Errorf("generations with a letter differ (-want +got):\n%s", diff)
				}
				if got := w.States(recorded); got != tt.want {
					t.Errorf("generations are %s; want %s", got, tt.want)
				}
				w.reconcile() // sees none of the remaining letters, because they are still hidden
				if got := w.reconciled(); got != [4]int{} {
					t.Errorf("seen, removed, kept, failed in the second run = %v; want zeros", got)
				}
			}
		})
	}
}

// TestReconcileDeadLetters_DepthFollowsTheRecords checks that after concurrent runs over many
// letters, one letter remains for each open dead letter.
func TestReconcileDeadLetters_DepthFollowsTheRecords(t *testing.T) {
	t.Parallel()

	w := setup(t)
	dead := map[hook.DeliveryRef]bool{}
	for i := range 600 {
		what := []string{"dead", "discarded", "dead > delivered", "-", "dead > -", "delivered"}[i%6]
		d := w.generations(strings.Split(what, " > ")...)[0]
		w.sendLetters(d, 1+i%4, time.Minute)
		if what == "dead" || what == "dead > -" {
			dead[d.Ref()] = true
		}
	}
	for range 2 {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(w.reconcile)
		}
		wg.Wait()
		w.Clock.Pass(time.Minute)
	}
	w.reconcile()
	if got, want := w.reconciled(), [4]int{len(dead), 0, len(dead), 0}; got != want {
		t.Errorf("seen, removed, kept, failed at last = %v; want %v", got, want)
	}
	for _, letter := range w.DeadLetters.Letters() {
		if !dead[letter.Delivery] {
			t.Errorf("needless letter of %s; want one letter of each dead delivery", letter.Delivery)
		}
		delete(dead, letter.Delivery)
	}
	if len(dead) > 0 {
		t.Errorf("%d dead deliveries without a letter; want none", len(dead))
	}
}

// TestReconcileDeadLetters_SurvivesACrash kills the process before and after each effect. The
// next run completes the work.
func TestReconcileDeadLetters_SurvivesACrash(t *testing.T) {
	t.Parallel()

	run := func(t *testing.T, at int, after bool) (effects int) {
		t.Helper()

		inTurn(t, func(w *bundle) {
			t := w.T
			all := w.generations("dead", "replaced", "delivered")
			other := w.generations("dead")[0]
			w.sendLetters(all[0], 2, time.Minute)
			w.sendLetters(other, 3, time.Minute)
			w.Crash.Arm(at, after)
			if err := w.Breaker().ReconcileDeadLetters(w.Context()); err != nil && !errors.Is(err, world.ErrDead) {
				t.Errorf("ReconcileDeadLetters() = %v; want nil, or the crash", err)
			}
			effects = w.Crash.Effects()
			w.Crash.Restart()
			w.Crash.Disarm() // no crash in the next run
			w.Clock.Pass(time.Minute)
			w.reconcile()
			if got, want := w.States([]hook.DeliveryRef{all[0].Ref(), other.Ref()}), "1 dead, 1 discarded replayed"; got != want {
				t.Errorf("deliveries are %s; want %s", got, want)
			}
			if letters := w.DeadLetters.Letters(); len(letters) != 1 || letters[0].Delivery != other.Ref() {
				t.Errorf("letters = %+v; want one of %s", letters, other.ID)
			}
			if outcomes, err := w.Store.JobOutcomes(t.Context(), someJob); err != nil || outcomes.Delivered != 1 || outcomes.Cancelled != 1 {
				t.Errorf("the job counted %+v, %v; want one delivered and one cancelled", outcomes, err)
			}
		})
		return effects
	}
	effects := run(t, 0, false)
	if effects < 10 {
		t.Fatalf("the undisturbed runs have %d effects; want some", effects)
	}
	for at := 1; at <= effects; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("effect %d, after it: %t", at, after), func(t *testing.T) {
				t.Parallel()

				run(t, at, after)
			})
		}
	}
}

func TestReconcileDeadLetters_KeepsUndecodableLetters(t *testing.T) {
	t.Parallel()

	w := setup(t)
	if err := w.DeadLetters.Send(t.Context(), hook.DeadLetter{Delivery: w.generations("dead")[0].Ref()}); err != nil { // without DiedAt
		t.Fatal(err)
	}
	w.sendLetters(w.generations("delivered")[0], 1, 0)
	w.reconcile()
	if got, want := w.reconciled(), [4]int{2, 1, 0, 1}; got != want || len(w.DeadLetters.Letters()) != 1 {
		t.Errorf("seen, removed, kept, failed = %v, %d letters are left; want %v, 1", got, len(w.DeadLetters.Letters()), want)
	}
	if !strings.Contains(w.Log.String(), "dead_letter.decode_failed") {
		t.Errorf("log = %s; want dead_letter.decode_failed", w.Log.String())
	}
}

// TestReconcileDeadLetters_ContinuesAfterABadLetter checks that a letter that causes an error
// stays, and that the others are reconciled.
func TestReconcileDeadLetters_ContinuesAfterABadLetter(t *testing.T) {
	t.Parallel()

	for _, verb := range []string{"write delivery", "write outcomes", "read delivery"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			bad := w.generations("dead", "delivered")[0]
			w.sendLetters(bad, 1, 0)
			w.sendLetters(w.generations("dead", "delivered")[0], 1, 0)
			w.sendLetters(w.generations("discarded")[0], 1, 0)
			var failed atomic.Bool
			outcomes := verb == "write outcomes" // of the job of any letter
			w.Calls.Fail = func(call string, id hook.EndpointID) error {
				if call == verb && (id == bad.ID.Endpoint || outcomes && !failed.Swap(true)) {
					return world.ErrDead
				}
				return nil
			}
			w.reconcile()
			if got, want := w.reconciled(), [4]int{3, 2, 0, 1}; got != want || !outcomes && w.DeadLetters.Letters()[0].Delivery != bad.Ref() {
				t.Errorf("seen, removed, kept, failed = %v; want %v, the letter of %s left", got, want, bad.ID)
			}
		})
	}
}

func TestReconcileDeadLetters_ReturnsErrorsOfABatch(t *testing.T) {
	t.Parallel()

	tests := []struct {
		verb string
		want [4]int
	}{
		{verb: "receive dead letters", want: [4]int{}},
		{verb: "read batch of delivery", want: [4]int{2, 0, 0, 2}},
		{verb: "remove dead letters", want: [4]int{2, 0, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.verb, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.sendLetters(w.generations("dead")[0], 2, 0)
			w.Calls.Fail = func(call string, _ hook.EndpointID) error {
				if call == tt.verb {
					return world.ErrDead
				}
				return nil
			}
			if err := w.Breaker().ReconcileDeadLetters(w.Context()); !errors.Is(err, world.ErrDead) {
				t.Errorf("ReconcileDeadLetters() with a failed %q = %v; want the error", tt.verb, err)
			}
			if got := w.reconciled(); got != tt.want || len(w.DeadLetters.Letters()) != 2 {
				t.Errorf("seen, removed, kept, failed = %v and %d letters are left; want %v and both", got, len(w.DeadLetters.Letters()), tt.want)
			}
		})
	}
}

func TestReconcileDeadLetters_StopsInTime(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		left time.Duration
		want [4]int
	}{
		{name: "enough time", left: 15 * time.Second, want: [4]int{3, 3, 0, 0}},
		{name: "too little", left: 15*time.Second - 1, want: [4]int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.sendLetters(w.generations("delivered")[0], 3, 0)
			ctx, cancel := context.WithDeadline(w.Context(), time.Now().Add(time.Hour))
			defer cancel()
			deadline, _ := ctx.Deadline()
			b := w.Breaker()
			b.Now = func() time.Time { return deadline.Add(-tt.left) }
			if err := b.ReconcileDeadLetters(ctx); err != nil || w.reconciled() != tt.want {
				t.Errorf("ReconcileDeadLetters() = %v; seen, removed, kept, failed = %v; want nil, %v", err, w.reconciled(), tt.want)
			}
		})
	}
}
