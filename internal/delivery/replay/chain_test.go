package replay_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// TestWork_CopiesDoNotMultiply hands out every message twice. Found by package sim,
// seed 2026472300.
func TestWork_CopiesDoNotMultiply(t *testing.T) {
	t.Parallel()

	const pages = 40
	w := setup(t)
	ids := w.past(w.Endpoint(nil), hook.StateDead, pages)
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: replay.MinRate}}) // pages of one
	for received := 0; ; {
		next, ok := w.Jobs.Next()
		if !ok {
			break
		}
		w.Clock.Until(next)
		for _, m := range w.Jobs.Receive(10) {
			if received++; received > 4*pages {
				t.Fatalf("%d messages for %d of %d pages; want at most 4 a page", received, w.job(j.ID).Enqueued, pages)
			}
			for range 2 {
				if err := w.Replayer().Work(w.Context(), m.Job); err != nil {
					t.Fatal(err)
				}
			}
			w.Jobs.Delete(m.ID)
		}
	}
	w.Run()
	w.exactly(j, ids)
}

// TestWork_CopiesOfAMissingJobStayFew hands out every message twice, of a job that was never
// saved.
func TestWork_CopiesOfAMissingJobStayFew(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := hook.NewJobID()
	first := replay.Message{Tenant: "acme", Job: id, Nonce: hook.NewNonce(), Until: start.Add(time.Minute)}
	if err := w.Jobs.Continue(t.Context(), first, 0); err != nil {
		t.Fatal(err)
	}
	for received := 0; ; {
		next, ok := w.Jobs.Next()
		if !ok {
			break
		}
		w.Clock.Until(next)
		for _, m := range w.Jobs.Receive(10) {
			if received++; received > 1<<9 {
				t.Fatalf("more than %d messages; want no more", received-1)
			}
			for range 2 {
				if err := w.Replayer().Work(w.Context(), m.Job); err != nil {
					t.Fatal(err)
				}
			}
			w.Jobs.Delete(m.ID)
		}
	}
}

// TestWork_CopyAcknowledgedBeforeADeath gives one message to two workers, as a queue may. The
// second one runs before an effect of the first, and acknowledges the message. Then the first one
// dies at one of its next effects. The job must still continue.
func TestWork_CopyAcknowledgedBeforeADeath(t *testing.T) {
	t.Parallel()

	for _, effect := range []string{"list dead", "write replay", "send", "write delivery", "continue"} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("second worker before %s, death after %t", effect, after), func(t *testing.T) {
				t.Parallel()

				for n := 1; ; n++ {
					died := false
					inTurn(t, func(w *bundle) { died = copyAcknowledged(w, effect, n, after) })
					if !died {
						return
					}
				}
			})
		}
	}
}

// copyAcknowledged reports whether the first worker died at its n-th effect after the second one.
func copyAcknowledged(w *bundle, effect string, n int, after bool) (died bool) {
	w.T.Helper()

	ids := w.past(w.Endpoint(nil), hook.StateDead, 7)
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: 0.3}}) // pages of 3
	m := w.Jobs.Receive(1)
	for ; len(m) == 0; m = w.Jobs.Receive(1) {
		next, _ := w.Jobs.Next()
		w.Clock.Until(next)
	}
	w.Calls.Before(effect, func() {
		w.Clock.Pass(time.Millisecond) // otherwise both writes are equal
		if err := w.Replayer().Work(w.Context(), m[0].Job); err != nil {
			w.T.Errorf("second Work() = %v", err)
		}
		w.Jobs.Delete(m[0].ID)
		w.Clock.Pass(time.Millisecond)
		w.Crash.Arm(n, after)
	})
	err := w.Replayer().Work(w.Context(), m[0].Job)
	w.Crash.Disarm()
	died = w.Crash.Restart()
	if !died && err != nil {
		w.T.Errorf("first Work() = %v", err)
	}
	w.Run()
	w.exactly(j, ids)
	return died
}
