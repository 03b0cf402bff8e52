package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// AttentionBench is a queue of looks under test and what is needed to look into it.
type AttentionBench struct {
	Attention gate.CircuitQueue
	// Receive takes looks that are visible now and deletes them. It may leave some
	// for the next call.
	Receive func(ctx context.Context) ([]Message, error)
	Clock   Clock
}

// Attention tests an implementation of the port gate.Attention. Each call of
// newBench returns one with a queue that is empty and its own.
func Attention(t *testing.T, newBench func(t *testing.T) AttentionBench) {
	t.Helper()

	t.Run("each look arrives once, with its endpoint as group", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		var want []Message
		for wave := range 5 {
			want = append(want, b.ask(t, wave, 0))
		}
		got := await(t, b.Clock, len(want), b.Receive)
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("Receive() (-want +got):\n%s", diff)
		}
		if more, err := b.Receive(t.Context()); err != nil || len(more) > 0 {
			t.Errorf("Receive() after all were taken = %v, %v; want nothing", more, err)
		}
	})

	t.Run("a delayed look is not seen before its time", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		start := b.Clock.Now()
		want := b.ask(t, 0, 1100*time.Millisecond)
		if got := await(t, b.Clock, 1, b.Receive); got[0] != want {
			t.Errorf("Receive() = %v; want %v", got[0], want)
		}
		if waited := b.Clock.Now().Sub(start); waited < 2*time.Second {
			t.Errorf("look received %s after it was asked for with a delay of 1.1 s; want at least 2 s", waited)
		}
	})

	t.Run("a time that is over is now, and one that is too far is taken", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		want := b.ask(t, 1, -time.Hour)
		b.ask(t, 2, 24*time.Hour)
		got := await(t, b.Clock, 1, b.Receive)
		if diff := cmp.Diff([]Message{want}, got); diff != "" {
			t.Errorf("Receive() (-want +got):\n%s", diff)
		}
	})
}

// ask asks for a look and returns the message that it should become.
func (b AttentionBench) ask(t *testing.T, wave int, delay time.Duration) Message {
	t.Helper()

	look := hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID(), Wave: wave}
	if err := b.Attention.Enqueue(t.Context(), look, delay); err != nil {
		t.Fatalf("Ask(%+v, %s) = %v; want nil", look, delay, err)
	}
	text, err := look.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return Message{Body: text, Group: string(look.Endpoint)}
}
