package memory

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"surehook/internal/hook"
)

// An erased or removed payload, and an erased body, are gone from the process, whether the
// records were packed or not.
func TestHistory_forgets(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	erase := func(s *Store, e hook.Event) error {
		e.ErasedAt = now
		return s.EraseEvent(t.Context(), e)
	}
	remove := func(s *Store, e hook.Event) error {
		s.RemoveEvent(e.ID)
		return nil
	}
	for _, tt := range []struct {
		name   string
		state  hook.State
		forget func(s *Store, e hook.Event) error
	}{
		{"erased, open", hook.StateParked, erase},
		{"erased, packed", hook.StateDead, erase},
		{"removed, open", hook.StateParked, remove},
		{"removed, packed", hook.StateDead, remove},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			s := NewStore()
			e := hook.Event{
				ID: "evt_1", Tenant: "a", Payload: bytes.Repeat([]byte("payload"), 50), AcceptedAt: now, ExpiresAt: now.Add(time.Hour),
				Targets: []hook.Target{{Endpoint: "ep_1", Shards: 1}},
			}
			check(s.PutEvent(t.Context(), e))
			d := hook.QueuedDelivery(e, e.Targets[0])
			d.State, d.Last.Body = tt.state, bytes.Repeat([]byte("body"), 50)
			check(s.SaveDelivery(t.Context(), d, nil))
			if packed := s.events[e.ID].packed != ""; packed != (tt.state == hook.StateDead) {
				t.Fatalf("the records are packed: %t", packed)
			}
			held := parts(s.events[e.ID])

			check(tt.forget(s, e))
			d.Version = 1
			check(s.SaveDelivery(t.Context(), d.Erase(now), nil))
			runtime.GC()
			for _, part := range held {
				if part.Value() != nil {
					t.Error("the store keeps a part of the event")
				}
			}
			for name, text := range map[string]string{
				"records": s.events[e.ID].packed, "fields": string(s.packing.buf[:cap(s.packing.buf)]), "data": string(s.packing.data[:cap(s.packing.data)]),
			} {
				if strings.Contains(text, "payload") || strings.Contains(text, "body") {
					t.Errorf("the %s have the payload or the body: %q", name, text)
				}
			}
			runtime.KeepAlive(s)
		})
	}
}

// parts returns the texts that hold the payload and the body.
func parts(s slot) []weak.Pointer[byte] {
	if s.packed != "" {
		return []weak.Pointer[byte]{weak.Make(unsafe.StringData(s.packed))}
	}
	return []weak.Pointer[byte]{weak.Make(&s.open.event.Payload[0]), weak.Make(&s.open.deliveries[0].Last.Body[0])}
}

// Map and lists share one text of the event's id: the id of a token is a part of the token.
func TestHistory_keepsOneID(t *testing.T) {
	t.Parallel()

	s := NewStore()
	e := hook.Event{ID: "evt_1", Tenant: "a", Targets: []hook.Target{{Endpoint: "ep_1", Shards: 1}}, ExpiresAt: time.Unix(1e9, 0)}
	put := func(state hook.State, version int64) {
		d := hook.QueuedDelivery(e, e.Targets[0])
		d.ID.Event = hook.EventID(strings.Clone("evt_1"))
		d.State, d.Version = state, version
		if err := s.SaveDelivery(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutEvent(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	put(hook.StateDead, 0)      // packs
	put(hook.StateCancelled, 1) // unpacks, and packs again
	ids := []hook.EventID{s.events[e.ID].id}
	for id := range s.events {
		ids = append(ids, id)
	}
	for p := range s.acceptedBy("ep_1").all() {
		ids = append(ids, p.event)
	}
	for p := range s.inState("ep_1", hook.StateCancelled).all() {
		ids = append(ids, p.event)
	}
	for p := range s.expiries.all() {
		ids = append(ids, p.event)
	}
	if len(ids) != 5 || slices.ContainsFunc(ids, func(id hook.EventID) bool { return unsafe.StringData(string(id)) != unsafe.StringData(string(ids[0])) }) {
		t.Errorf("the store holds the ids %q as several texts; want one text, 5 times", ids)
	}
}
