package porttest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/delivery/source"
)

// EventQueueBench is a queue of events with its rejects under test, and its clock.
type EventQueueBench struct {
	Queue interface {
		source.Queue
		reject.Queue
	}
	// Take receives and deletes visible messages of the events queue.
	Take  func(ctx context.Context) ([]Message, error)
	Clock Clock
}

// EventQueue tests an implementation of the ports source.Queue and reject.Queue. Each call of
// newBench returns empty queues of its own.
func EventQueue(t *testing.T, newBench func(t *testing.T) EventQueueBench) {
	t.Helper()

	m := source.Message{Body: `{"a": "<é>"}`, Attributes: map[string]string{source.AttrTenant: "acme", source.AttrID: "m0"}}

	t.Run("a returned message arrives after its delay, in the group of its tenant", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		if err := b.Queue.Return(t.Context(), m, "acme", time.Second); err != nil {
			t.Fatalf("Return() = %v; want nil", err)
		}
		got := await(t, b.Clock, 1, b.Take)
		if diff := cmp.Diff([]Message{{Body: m.Body, Group: "acme"}}, got); diff != "" {
			t.Errorf("Take() (-want +got):\n%s", diff)
		}
	})

	t.Run("a reject keeps its attributes, is hidden, released and removed", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		for range 12 {
			if err := b.Queue.Reject(t.Context(), m); err != nil {
				t.Fatalf("Reject() = %v; want nil", err)
			}
		}
		for round := range 2 { // all are visible again after the release
			got := await(t, b.Clock, 12, b.Queue.Receive)
			ids := map[string]bool{}
			for _, r := range got {
				ids[r.ID] = true
				if diff := cmp.Diff(m.Attributes, r.Attributes); diff != "" || r.Body != m.Body || r.SentAt.IsZero() {
					t.Errorf("Receive() = %+v; attributes (-want +got):\n%s", r, diff)
				}
			}
			if len(ids) != 12 {
				t.Errorf("Receive() found %d messages; want 12", len(ids))
			}
			if more, err := b.Queue.Receive(t.Context()); err != nil || len(more) != 0 {
				t.Errorf("Receive() = %v, %v; want the others hidden", more, err)
			}
			if round == 0 {
				if err := b.Queue.Release(t.Context(), got); err != nil {
					t.Errorf("Release() = %v; want nil", err)
				}
				continue
			}
			for _, part := range [][]source.Message{got[:10], got[10:]} {
				if err := b.Queue.Remove(t.Context(), part); err != nil {
					t.Errorf("Remove() = %v; want nil", err)
				}
			}
		}
		if err := b.Queue.Release(t.Context(), nil); err != nil {
			t.Errorf("Release(none) = %v; want nil", err)
		}
		if err := b.Queue.Remove(t.Context(), nil); err != nil {
			t.Errorf("Remove(none) = %v; want nil", err)
		}
	})
}
