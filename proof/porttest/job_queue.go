package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// JobQueueBench is a queue of replay jobs under test.
type JobQueueBench struct {
	Jobs replay.JobQueue
	// Receive receives and deletes visible messages. Receive may leave some messages
	// for the next call.
	Receive func(ctx context.Context) ([]Message, error)
	Clock   Clock
}

// JobQueue tests an implementation of the port replay.JobQueue. Each call of
// newBench returns an empty queue of its own.
func JobQueue(t *testing.T, newBench func(t *testing.T) JobQueueBench) {
	t.Helper()

	t.Run("each message arrives once, with its tenant as group", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		var want []Message
		for _, tenant := range []hook.TenantID{"acme", "acme", "globex"} {
			want = append(want, b.send(t, tenant, 0))
		}
		got := await(t, b.Clock, len(want), b.Receive)
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("Receive() (-want +got):\n%s", diff)
		}
		if more, err := b.Receive(t.Context()); err != nil || len(more) > 0 {
			t.Errorf("Receive() of an empty queue = %v, %v; want nothing", more, err)
		}
	})

	t.Run("a delayed message is not visible before its time", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		start := b.Clock.Now()
		want := b.send(t, "acme", 1100*time.Millisecond)
		if got := await(t, b.Clock, 1, b.Receive); got[0] != want {
			t.Errorf("Receive() = %v; want %v", got[0], want)
		}
		if waited := b.Clock.Now().Sub(start); waited < 2*time.Second {
			t.Errorf("message received %s after it was sent with a delay of 1.1 s; want at least 2 s", waited)
		}
	})

	t.Run("a delay below 0 is 0, and a delay above 15 minutes is accepted", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		want := b.send(t, "acme", -time.Hour)
		b.send(t, "acme", 24*time.Hour)
		got := await(t, b.Clock, 1, b.Receive)
		if diff := cmp.Diff([]Message{want}, got); diff != "" {
			t.Errorf("Receive() (-want +got):\n%s", diff)
		}
	})
}

// send continues a job and returns the expected message.
func (b JobQueueBench) send(t *testing.T, tenant hook.TenantID, delay time.Duration) Message {
	t.Helper()

	m := replay.Message{Tenant: tenant, Job: newJobID(t), Nonce: hook.NewNonce()}
	if err := b.Jobs.Continue(t.Context(), m, delay); err != nil {
		t.Fatalf("Continue(%+v, %s) = %v; want nil", m, delay, err)
	}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return Message{Body: text, Group: string(tenant)}
}
