package reject_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/delivery/source"
	"surehook.example/surehook/internal/memory"
)

// bundle is an Admin over a queue in memory. Return counts the messages and ends with after.
type bundle struct {
	*memory.EventQueue

	admin *reject.Admin
	now   time.Time
	after func(sent int) error
	sent  int
}

func (b *bundle) Return(ctx context.Context, m source.Message, group string, delay time.Duration) error {
	if err := b.EventQueue.Return(ctx, m, group, delay); err != nil {
		return err
	}
	b.sent++
	return b.after(b.sent)
}

// setup returns a bundle with so many rejects.
func setup(t *testing.T, rejects int) *bundle {
	t.Helper()

	b := &bundle{now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC), after: func(int) error { return nil }}
	clock := func() time.Time { return b.now }
	b.EventQueue = memory.NewEventQueue(clock)
	b.admin = &reject.Admin{Queue: b, Now: clock}
	for i := range rejects {
		b.reject(t, fmt.Sprint(i))
	}
	return b
}

func (b *bundle) reject(t *testing.T, id string) {
	t.Helper()

	m := source.Message{Body: "{", Attributes: map[string]string{source.AttrID: id, source.AttrReason: "wrong"}}
	if err := b.Reject(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// TestList checks that a list hides nothing from the next call.
func TestList(t *testing.T) {
	t.Parallel()

	b := setup(t, 25)
	for _, tt := range []struct{ limit, want int }{{1, 1}, {10, 10}, {24, 24}, {25, 25}, {100, 25}} {
		got, err := b.admin.List(t.Context(), tt.limit)
		if err != nil || len(got) != tt.want || got[0].Reason() != "wrong" {
			t.Errorf("List(%d) = %d rejects, %v; want %d", tt.limit, len(got), err, tt.want)
		}
	}
}

// TestRedrive checks that each reject is sent once, with the id of its first message and
// without the reason.
func TestRedrive(t *testing.T) {
	t.Parallel()

	b := setup(t, 25)
	done, err := b.admin.Redrive(t.Context())
	if err != nil || done != (reject.Redriven{Sent: 25}) || len(b.AllRejects()) != 0 {
		t.Errorf("Redrive() = %+v, %v, and %d are left; want all 25 sent", done, err, len(b.AllRejects()))
	}
	ids := map[string]bool{}
	for _, m := range b.Events(100) {
		id, _ := m.First()
		ids[id] = true
		if m.Reason() != "" || m.Body != "{" {
			t.Errorf("message %+v; want the body alone", m)
		}
	}
	if len(ids) != 25 {
		t.Errorf("%d events; want 25", len(ids))
	}
	if done, err := b.admin.Redrive(t.Context()); err != nil || done != (reject.Redriven{}) {
		t.Errorf("Redrive() = %+v, %v; want nothing to do", done, err)
	}
}

// TestRedrive_stillWrong checks that a redrive ends even if its messages become rejects again.
func TestRedrive_stillWrong(t *testing.T) {
	t.Parallel()

	b := setup(t, 5)
	b.after = func(n int) error {
		b.now = b.now.Add(time.Millisecond)
		b.reject(t, fmt.Sprint("again", n))
		return nil
	}
	done, err := b.admin.Redrive(t.Context())
	if err != nil || done != (reject.Redriven{Sent: 5}) {
		t.Errorf("Redrive() = %+v, %v; want the 5 from before the call", done, err)
	}
	if got, err := b.admin.List(t.Context(), 100); err != nil || len(got) != 5 {
		t.Errorf("List() = %d rejects, %v; want the 5 that came back, all visible", len(got), err)
	}
}

// TestRedrive_bounds checks that a call ends at its bounds, and says so.
func TestRedrive_bounds(t *testing.T) {
	t.Parallel()

	b := setup(t, reject.MaxRedrive+20)
	b.after = func(n int) error { // so that the last ten rejects received are more than the bound leaves
		if n == 3 {
			return errors.New("too large")
		}
		return nil
	}
	if done, err := b.admin.Redrive(t.Context()); err != nil || done != (reject.Redriven{Sent: reject.MaxRedrive, Failed: 1, More: true}) {
		t.Errorf("Redrive() = %+v, %v; want %d, and more", done, err, reject.MaxRedrive)
	}
	if got, err := b.admin.List(t.Context(), 100); err != nil || len(got) != 19 {
		t.Errorf("List() = %d rejects, %v; want the 19 that were not sent, all but the refused one", len(got), err)
	}
	b = setup(t, 100)
	b.after = func(int) error { b.now = b.now.Add(time.Second); return nil }
	if done, err := b.admin.Redrive(t.Context()); err != nil || done.Sent >= 100 || !done.More {
		t.Errorf("Redrive() = %+v, %v; want a part, and more", done, err)
	}
}

// TestRedrive_refused checks that a reject that the queue refuses does not stop the others.
func TestRedrive_refused(t *testing.T) {
	t.Parallel()

	b := setup(t, 25)
	b.after = func(n int) error {
		if n == 3 {
			return errors.New("too large")
		}
		return nil
	}
	if done, err := b.admin.Redrive(t.Context()); err != nil || done != (reject.Redriven{Sent: 24, Failed: 1}) || len(b.AllRejects()) != 1 {
		t.Errorf("Redrive() = %+v, %v, and %d are left; want all but one", done, err, len(b.AllRejects()))
	}
}

// TestRedrive_unavailable checks that a failure leaves the rejects in place.
func TestRedrive_unavailable(t *testing.T) {
	t.Parallel()

	b, failure := setup(t, 5), errors.New("no")
	b.admin.Queue = broken{b, failure}
	if _, err := b.admin.Redrive(t.Context()); !errors.Is(err, failure) || len(b.AllRejects()) != 5 {
		t.Errorf("Redrive() = %v, and %d are left; want the failure and 5", err, len(b.AllRejects()))
	}
	if _, err := b.admin.List(t.Context(), 10); !errors.Is(err, failure) {
		t.Errorf("List() = %v; want the failure", err)
	}
}

// broken fails to receive.
type broken struct {
	reject.Queue

	err error
}

func (b broken) Receive(context.Context) ([]source.Message, error) { return nil, b.err }
