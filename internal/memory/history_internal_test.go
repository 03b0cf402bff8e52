package memory

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"surehook/internal/hook"
)

// An erased or removed payload, and an erased body, are gone from the process, whatever
// the room of the event's records held before.
func TestHistory_forgets(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		forget func(s *Store, e hook.Event) error
	}{
		{"erased", func(s *Store, e hook.Event) error {
			e.ErasedAt = now
			return s.EraseEvent(t.Context(), e)
		}},
		{"removed", func(s *Store, e hook.Event) error {
			s.RemoveEvent(e.ID)
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := NewStore()
			e := hook.Event{
				ID: "evt_1", Tenant: "a", Payload: make([]byte, 200), AcceptedAt: now, ExpiresAt: now.Add(time.Hour),
				Targets: []hook.Target{{Endpoint: "ep_1", Shards: 1}},
			}
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			check(s.PutEvent(t.Context(), e))
			d := hook.QueuedDelivery(e, e.Targets[0])
			d.State, d.Last.Body = hook.StateDead, make([]byte, 200)
			check(s.SaveDelivery(t.Context(), d, nil))
			again := d
			again.ID.Generation++
			check(s.SaveDelivery(t.Context(), again, nil))
			payload, body := weak.Make(&s.events[e.ID].event.Payload[0]), weak.Make(&s.events[e.ID].deliveries[0].Last.Body[0])

			check(tt.forget(s, e))
			d.Version = 1
			check(s.SaveDelivery(t.Context(), d.Erase(now), nil))
			runtime.GC()
			if payload.Value() != nil {
				t.Error("the store keeps the payload")
			}
			if body.Value() != nil {
				t.Error("the store keeps the body of the answer")
			}
			runtime.KeepAlive(s)
		})
	}
}
