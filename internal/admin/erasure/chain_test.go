package erasure_test

import (
	"context"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// eachTwice processes every message twice until none is left. It fails the test after more than most
// messages.
func (w *world) eachTwice(ctx context.Context, most int) {
	w.Helper()

	for received := 0; ; {
		at, ok := w.queue.Next()
		if !ok {
			return
		}
		if at.After(w.now) {
			w.now = at
		}
		for _, m := range w.queue.Receive(10) {
			if received++; received > most {
				w.Fatalf("more than %d messages; want the copies to end", most)
			}
			for range 2 {
				check(w, w.eraser().Work(ctx, m.Job))
			}
			w.queue.Delete(m.ID)
		}
	}
}

// short is the context of an invocation with time for one step.
type short struct {
	context.Context
	w *world
}

func (c short) Deadline() (time.Time, bool) { return c.w.now.Add(time.Second), true }

// TestEraser_copiesDoNotMultiply processes every message of a long job twice, in invocations with
// time for one step or for several.
func TestEraser_copiesDoNotMultiply(t *testing.T) {
	t.Parallel()

	const late = 20
	for _, hurry := range []bool{false, true} {
		w := setup(t)
		left := late
		w.found = func(stage erasure.Stage) {
			if stage == erasure.StageScan && left > 0 {
				left--
				w.putEvent()
			}
		}
		id := w.start()
		ctx := t.Context()
		if hurry {
			ctx = short{ctx, w}
		}
		w.eachTwice(ctx, 4*(late+10))
		w.wantErased(id)
		if left > 0 {
			t.Errorf("%d late events were not written", left)
		}
	}
}

// TestEraser_copiesOfAMissingJobStayFew processes every message of a job twice that was never stored.
func TestEraser_copiesOfAMissingJobStayFew(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first := replay.Message{Tenant: "acme", Erasure: hook.NewErasureID(), Nonce: hook.NewNonce(), Until: w.now.Add(time.Minute)}
	check(w, w.queue.Continue(t.Context(), first, 0))
	w.eachTwice(t.Context(), 1<<9)
}

// TestEraser_copyAcknowledgedBeforeADeath gives one message to two workers, as a queue may. The
// second worker ends before an effect of the first one, and acknowledges the message. Then the
// first worker dies at that effect or at a later one. The job must still continue.
func TestEraser_copyAcknowledgedBeforeADeath(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for second := 1; ; second++ { // the effect of the first worker before which the second one works
			deaths := 0
			for died := 0; ; died++ {
				w := setup(t)
				id := w.start()
				if !w.twoWorkers(second, died, after) {
					break
				}
				deaths++
				w.run(false)
				w.wantErased(id)
				if t.Failed() {
					t.Fatalf("second worker before effect %d, death %d effects later, after: %t", second, died, after)
				}
			}
			if deaths == 0 {
				if second < 6 {
					t.Fatalf("the first message has %d effects; want more", second-1)
				}
				break
			}
		}
	}
}

// twoWorkers gives the first message to two workers, and reports whether the first one died. The
// second one works before the effect with the number second, and the first one dies so many effects
// later, before or after the effect.
func (w *world) twoWorkers(second, died int, after bool) bool {
	w.Helper()

	at, _ := w.queue.Next()
	w.now = at
	m := w.queue.Receive(1)[0]
	n, begun := w.effects, false
	w.before = func() {
		if begun || w.effects != n+second-1 {
			return
		}
		begun = true
		w.now = w.now.Add(time.Millisecond) // otherwise both writes would be equal
		if err := w.eraser().Work(w.Context(), m.Job); err != nil {
			w.Errorf("second Work() = %v", err)
		}
		w.queue.Delete(m.ID)
		w.dieAt, w.after = w.effects+1+died, after
	}
	_ = w.eraser().Work(w.Context(), m.Job)
	w.before = nil
	fatal := w.dead
	w.dead, w.dieAt = false, 0
	return begun && fatal
}
