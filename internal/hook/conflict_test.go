package hook_test

import (
	"context"
	"errors"
	"testing"

	"surehook/internal/hook"
)

func TestOnConflict(t *testing.T) {
	t.Parallel()

	conflict := hook.Conflict("another writer came first")
	other := errors.New("no answer")
	tests := []struct {
		name      string
		answers   []error // of the calls, in order
		cancelled bool    // the context is done before the first call
		wantCalls int
		want      error
	}{
		{name: "the first write succeeds", answers: []error{nil}, wantCalls: 1},
		{name: "a conflict is tried again", answers: []error{conflict, nil}, wantCalls: 2},
		{name: "the last try may succeed", answers: []error{conflict, conflict, nil}, wantCalls: 3},
		{name: "conflicts in all tries are returned", answers: []error{conflict, conflict, conflict}, wantCalls: 3, want: conflict},
		{name: "another error ends the tries", answers: []error{conflict, other}, wantCalls: 2, want: other},
		{name: "a finished context ends the tries", answers: []error{conflict}, cancelled: true, wantCalls: 1, want: conflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancelled {
				cancel()
			}
			calls := 0
			err := hook.OnConflict(ctx, 3, func() error {
				calls++
				return tt.answers[calls-1]
			})
			if calls != tt.wantCalls || !errors.Is(err, tt.want) {
				t.Errorf("OnConflict made %d calls and returned %v; want %d and %v", calls, err, tt.wantCalls, tt.want)
			}
		})
	}
}
