package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
)

// CircuitQueueBench is a queue of circuit checks under test.
type CircuitQueueBench struct {
	Queue admit.CircuitQueue
	// Receive receives and deletes visible messages. Receive may leave some messages
	// for the next call.
	Receive func(ctx context.Context) ([]Message, error)
	Clock   Clock
}

// CircuitQueue tests an implementation of the port admit.CircuitQueue. Each call of
// newBench returns an empty queue of its own.
func CircuitQueue(t *testing.T, newBench func(t *testing.T) CircuitQueueBench) {
	t.Helper()

	t.Run("each check arrives once, with its endpoint as group", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		var want []Message
		for wave := range 5 {
			want = append(want, b.enqueue(t, wave, 0))
		}
		got := await(t, b.Clock, len(want), b.Receive)
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("Receive() (-want +got):\n%s", diff)
		}
		if more, err := b.Receive(t.Context()); err != nil || len(more) > 0 {
			t.Errorf("Receive() of an empty queue = %v, %v; want nothing", more, err)
		}
	})

	t.Run("a delayed check is not visible before its time", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		start := b.Clock.Now()
		want := b.enqueue(t, 0, 1100*time.Millisecond)
		if got := await(t, b.Clock, 1, b.Receive); got[0] != want {
			t.Errorf("Receive() = %v; want %v", got[0], want)
		}
		if waited := b.Clock.Now().Sub(start); waited < 2*time.Second {
			t.Errorf("check received %s after Enqueue with a delay of 1.1 s; want at least 2 s", waited)
		}
	})

	t.Run("a delay below 0 is 0, and a delay above 15 minutes is accepted", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		want := b.enqueue(t, 1, -time.Hour)
		b.enqueue(t, 2, 24*time.Hour)
		got := await(t, b.Clock, 1, b.Receive)
		if diff := cmp.Diff([]Message{want}, got); diff != "" {
			t.Errorf("Receive() (-want +got):\n%s", diff)
		}
	})
}

// enqueue enqueues a check and returns the expected message.
func (b CircuitQueueBench) enqueue(t *testing.T, wave int, delay time.Duration) Message {
	t.Helper()

	check := hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID(), Wave: wave}
	if err := b.Queue.Enqueue(t.Context(), check, delay); err != nil {
		t.Fatalf("Enqueue(%+v, %s) = %v; want nil", check, delay, err)
	}
	text, err := hook.CircuitMessage{CircuitCheck: check}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return Message{Body: text, Group: string(check.Endpoint)}
}
