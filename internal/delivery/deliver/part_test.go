package deliver_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// weighingStore adds up the bytes of the loaded payloads.
type weighingStore struct {
	deliver.Store

	loads, bytes int
	fail         int // the load that fails; 0: none
}

func (s *weighingStore) Load(ctx context.Context, tasks []hook.Task) (deliver.Snapshot, error) {
	s.loads++
	if s.loads == s.fail {
		return deliver.Snapshot{}, errors.New("throttled")
	}
	snapshot, err := s.Store.Load(ctx, tasks)
	for _, e := range snapshot.Events {
		s.bytes += len(e.Payload)
	}
	return snapshot, err
}

// window returns a deliverer with a batch of 100 events of the size in one window.
func window(t *testing.T, size int) (w *world.World, s *weighingStore, d *deliver.Deliverer, batch []deliver.Message, refs []hook.DeliveryRef) {
	t.Helper()

	w = world.New(t, world.Options{Function: world.Deliver})
	e := w.Endpoint(windowed(func(e *hook.Endpoint) { e.Coalesce.MaxBytes = hook.MaxCoalesceBytes }))
	payload := `"` + strings.Repeat("x", size-2) + `"`
	payloads := make([]string, hook.MaxCoalesceEvents)
	for i := range payloads {
		payloads[i] = payload
	}
	refs = accept(w, e, payloads...)
	w.Clock.Pass(10 * time.Second)
	for _, m := range w.Queue.Receive(hook.QueueCoalesce, hook.MaxCoalesceEvents) {
		batch = append(batch, deliver.Message{ID: m.ID, Body: m.Body, Queue: hook.QueueCoalesce})
	}
	d = w.Deliverer()
	s = &weighingStore{Store: d.Store}
	d.Store = s
	return w, s, d, batch, refs
}

// A batch of the queue coalesce may have 25 MB of payloads, which together with the requests would
// not fit into the memory of the function. So the events are loaded in parts, and each part is
// sent before the next one is loaded.
func TestProcessBatch_LargeEventsAreLoadedInParts(t *testing.T) {
	t.Parallel()

	const atOnce = 4<<20 + 25*hook.MaxPayload
	w, s, d, batch, refs := window(t, hook.MaxPayload)
	var mu sync.Mutex
	sent, most := 0, 0
	w.Answer = func(r send.Request) hook.Outcome {
		mu.Lock()
		defer mu.Unlock()

		most = max(most, s.bytes-sent)
		sent += len(parseDocument(t, r.Event).Events) * hook.MaxPayload
		return world.Always(200)(r)
	}
	if failed := d.ProcessBatch(w.Context(), batch); len(failed) > 0 {
		t.Errorf("%d of %d messages fail", len(failed), len(batch))
	}
	if got := w.States(refs); got != "100 delivered" {
		t.Errorf("states = %s", got)
	}
	if most > atOnce || s.bytes != 100*hook.MaxPayload {
		t.Errorf("%d bytes of payloads are loaded and not sent, of %d; want at most %d of %d", most, s.bytes, atOnce, 100*hook.MaxPayload)
	}
}

// Small events stay in one part, and so in one request.
func TestProcessBatch_SmallEventsShareARequest(t *testing.T) {
	t.Parallel()

	w, s, d, batch, refs := window(t, 1<<10)
	if failed := d.ProcessBatch(w.Context(), batch); len(failed) > 0 || len(w.Posts) != 1 || s.loads != 4 {
		t.Errorf("%d messages fail after %d requests and %d loads; want none, 1 and 4", len(failed), len(w.Posts), s.loads)
	}
	if got := w.States(refs); got != "100 delivered" {
		t.Errorf("states = %s", got)
	}
}

func TestProcessBatch_AFailedLoadFailsItsTasksAlone(t *testing.T) {
	t.Parallel()

	w, s, d, batch, refs := window(t, 1<<10)
	s.fail = 2
	if failed := d.ProcessBatch(w.Context(), batch); len(failed) != 25 || len(w.Posts) != 1 {
		t.Errorf("%d messages fail after %d requests; want 25 and 1", len(failed), len(w.Posts))
	}
	w.Run()
	if got := w.States(refs); got != "100 delivered" {
		t.Errorf("after the return of the tasks %s; want 100 delivered", got)
	}
}

// If there is no time for another part, its tasks come again.
func TestProcessBatch_APartWithoutTimeReturns(t *testing.T) {
	t.Parallel()

	w, s, d, batch, refs := window(t, hook.MaxPayload)
	ctx := invocation{w.Context(), w.Clock.Now().Add(60 * time.Second)}
	d.Now = func() time.Time { return w.Clock.Now().Add(time.Duration(min(s.loads, 1)) * 40 * time.Second) }
	if failed := d.ProcessBatch(ctx, batch); len(failed) != 75 || s.loads != 1 {
		t.Errorf("%d of %d messages fail after %d loads; want 75 after 1", len(failed), len(batch), s.loads)
	}
	if got := w.States(refs); !strings.HasPrefix(got, "25 delivered") {
		t.Errorf("states = %s; want 25 delivered", got)
	}
}

// A batch that is loaded in parts has the records of each part, whatever their kind.
func TestSnapshot_With(t *testing.T) {
	t.Parallel()

	var first, later deliver.Snapshot
	for _, s := range []*deliver.Snapshot{&first, &later} {
		for _, field := range reflect.ValueOf(s).Elem().Fields() {
			field.Set(reflect.MakeMap(field.Type()))
		}
	}
	for _, field := range reflect.ValueOf(&later).Elem().Fields() {
		field.SetMapIndex(reflect.Zero(field.Type().Key()), reflect.Zero(field.Type().Elem()))
	}
	for field, got := range reflect.ValueOf(first.With(later)).Fields() {
		if got.Len() != 1 {
			t.Errorf("%s has %d records; want that of the later part", field.Name, got.Len())
		}
	}
}
