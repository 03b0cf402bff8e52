package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

func TestRepeat_TriesAgainAfterAConflict(t *testing.T) {
	t.Parallel()

	changed := hook.Conflict("another writer came first")
	unavailable := &hook.Error{Code: hook.CodeUnavailable, Message: "the store did not answer"}
	other := errors.New("no answer")
	tests := []struct {
		name      string
		answers   []error // of the calls, in order
		cancelled bool    // the context is done before the first call
		interrupt bool    // the context ends during the first wait
		persist   bool    // Persist instead of Repeat
		wantCalls int
		want      error
	}{
		{name: "the first write succeeds", answers: []error{nil}, wantCalls: 1},
		{name: "a conflict is tried again", answers: []error{changed, nil}, wantCalls: 2},
		{name: "the last try may succeed", answers: []error{changed, changed, nil}, wantCalls: 3},
		{name: "conflicts in all tries are returned", answers: []error{changed, changed, changed}, wantCalls: 3, want: changed},
		{name: "another error ends the tries", answers: []error{changed, other}, wantCalls: 2, want: other},
		{name: "an unavailable store ends the tries", answers: []error{unavailable}, wantCalls: 1, want: unavailable},
		{name: "a finished context ends the tries", answers: []error{changed}, cancelled: true, wantCalls: 1, want: changed},
		{name: "the end of the context during a wait ends the tries", answers: []error{changed}, interrupt: true, wantCalls: 1, want: changed},
		{name: "Persist tries again after a conflict", answers: []error{changed, nil}, persist: true, wantCalls: 2},
		{name: "Persist tries again after an unavailable store", answers: []error{unavailable, changed, nil}, persist: true, wantCalls: 3},
		{name: "Persist returns the last error", answers: []error{changed, changed, unavailable}, persist: true, wantCalls: 3, want: unavailable},
		{name: "another error ends Persist", answers: []error{other}, persist: true, wantCalls: 1, want: other},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancelled {
				cancel()
			}
			wait := func(ctx context.Context, _ time.Duration) error {
				if tt.interrupt {
					cancel()
				}
				return ctx.Err()
			}
			repeat := store.Repeat
			if tt.persist {
				repeat = store.Persist
			}
			calls := 0
			err := repeat(ctx, wait, 3, func() error {
				calls++
				return tt.answers[calls-1]
			})
			if calls != tt.wantCalls || !errors.Is(err, tt.want) {
				t.Errorf("made %d calls and returned %v; want %d and %v", calls, err, tt.wantCalls, tt.want)
			}
		})
	}
}

// TestRepeat_Waits checks that the waits are random, and double up to 320 ms.
func TestRepeat_Waits(t *testing.T) {
	t.Parallel()

	const tries, runs = 9, 200
	most := make([]time.Duration, 0, tries-1)
	for range runs {
		n := 0
		_ = store.Repeat(t.Context(), func(_ context.Context, d time.Duration) error {
			if n == len(most) {
				most = append(most, 0)
			}
			most[n] = max(most[n], d)
			n++
			return nil
		}, tries, func() error { return hook.Conflict("again") })
	}
	if len(most) != tries-1 {
		t.Fatalf("%d tries have %d waits; want %d", tries, len(most), tries-1)
	}
	for i, got := range most {
		// The largest of 200 values, uniform in [0, d), is below d/2 once in 2^200 runs.
		d := min(10*time.Millisecond<<i, 320*time.Millisecond)
		if got >= d || got < d/2 {
			t.Errorf("the longest wait after try %d is %s; want a value in [%s, %s)", i+1, got, d/2, d)
		}
	}
}

func TestRepeat_WaitsByTheRealClockWithoutAWait(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_ = store.Repeat(t.Context(), nil, 20, func() error { return hook.Conflict("again") })
		if took := time.Since(begin); took == 0 || took > 4790*time.Millisecond {
			t.Errorf("20 tries took %s; want more than nothing and at most 4.79 s", took)
		}
	})
}
