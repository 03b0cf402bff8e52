package breaker_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// A parked delivery ends before its records are removed, even if max_age would allow more time.
func TestReconcile_EndsBeforeTheRecordsExpire(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Endpoint(func(e *hook.Endpoint) { e.Status = hook.StatusPaused })
	ids := w.park(e, time.Minute)
	d := w.Delivery(ids[0])
	d.ExpiresAt = start.Add(time.Hour + 10*time.Minute)
	w.Save(d)
	w.record(e, closed(0, -time.Minute))
	w.RunFor(9 * time.Minute)
	if got, want := w.States(ids), "1 parked circuit_open"; got != want {
		t.Errorf("more than an hour before the deletion: %s; want %s", got, want)
	}
	w.RunFor(3 * time.Minute)
	if got, want := w.States(ids), "1 dead expired"; got != want {
		t.Errorf("within an hour of the deletion: %s; want %s", got, want)
	}
}
