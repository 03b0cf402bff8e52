package breaker_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

// One notification about one endpoint fails. The review sends the others, and the next
// review repeats the verdict.
func TestReview_GoesOnAfterAFailingNotification(t *testing.T) {
	t.Parallel()

	w := setup(t)
	var all []hook.Endpoint
	for range 5 {
		e := w.Endpoint(nil)
		w.count(e, 0, dying(6))
		for range 10 {
			w.count(e, 0, slowly())
		}
		all = append(all, e)
	}
	bad := all[2]
	var calls atomic.Int32
	w.Calls.Fail = func(call string, id hook.EndpointID) error {
		if call == "notify" && id == bad.ID && calls.Add(1) == 1 {
			return errBroken
		}
		return nil
	}
	if err := w.Breaker().Review(w.Context()); !errors.Is(err, errBroken) {
		t.Errorf("Review() = %v; want %v", err, errBroken)
	}
	want := w.notified(all[0])
	if len(want) != 2 {
		t.Fatalf("notifications about %s: %v; want two", all[0].ID, want)
	}
	for _, e := range all {
		left := want
		if e.ID == bad.ID {
			left = want[1:]
		}
		if diff := cmp.Diff(left, w.notified(e)); diff != "" {
			t.Errorf("notifications about %s differ (-want +got):\n%s", e.ID, diff)
		}
	}
	if got := w.Circuit(bad).Review; got.Slow {
		t.Errorf("flags = %+v; want none: the next review repeats the notification", got)
	}
	w.review()
	if got := w.notified(bad); len(got) != 2 || !w.Circuit(bad).Review.Slow {
		t.Errorf("after the next review: notifications %v, flags %+v; want both, slow", got, w.Circuit(bad).Review)
	}
}
