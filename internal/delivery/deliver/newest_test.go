package deliver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"surehook/internal/delivery/deliver"
	"surehook/internal/hook"
	"surehook/internal/proof/world"
)

// blindStore cannot read the newest events of keys.
type blindStore struct{ deliver.Store }

func (blindStore) Newest(context.Context, []hook.NewestKey) ([]hook.Newest, error) {
	return nil, errors.New("the read of the newest events fails")
}

// Without the newest events of the keys, only the tokens with a key return.
func TestNewest_AFailedReadFailsTheTokensWithAKeyOnly(t *testing.T) {
	t.Parallel()

	w := world.New(t, world.Options{Function: world.Deliver})
	keyed := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Coalesce.Key = "/k" }))
	windows := w.Endpoint(windowed(nil))
	plain := w.Endpoint(nil)
	w.Fast(plain.ID)
	payloads := []string{`{"k":1}`, `{}`} // each for all endpoints
	var with, without []hook.DeliveryRef
	for i, ref := range accept(w, keyed, payloads...) {
		event, err := w.Store.Event(t.Context(), ref.Event)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []hook.Endpoint{keyed, windows, plain} {
			other, _ := event.Ref(e.ID, 1)
			if e.ID == keyed.ID && i == 0 {
				with = append(with, other)
			} else {
				without = append(without, other)
			}
		}
	}
	w.Clock.Pass(10 * time.Second)
	var batch []deliver.Message
	var failing []string
	for _, lane := range []hook.Lane{hook.LaneLive, hook.LaneCoalesce} {
		for _, m := range w.Queue.Receive(lane, 10) {
			batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Lane: lane})
			if slices.Contains(with, m.Token.Delivery) {
				failing = append(failing, m.ID)
			}
		}
	}
	d := w.Deliverer()
	d.Store = blindStore{w.Store}
	failed := d.ProcessBatch(t.Context(), batch)

	if len(batch) != 6 || len(failing) != 1 || !slices.Equal(failed, failing) {
		t.Errorf("of %d messages %v fail; want %v", len(batch), failed, failing)
	}
	if got := w.States(without); got != "5 delivered" {
		t.Errorf("the others are %s; want 5 delivered", got)
	}
}
