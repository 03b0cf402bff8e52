package memory_test

import (
	"strconv"
	"testing"
	"time"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
	"surehook/internal/memory"
)

const waiting = 100_000

// BenchmarkQueue sends, receives and deletes a message on a queue of 100,000 other
// messages: half are visible, half are delayed.
func BenchmarkQueue(b *testing.B) {
	for _, fair := range []bool{false, true} {
		b.Run("fair="+strconv.FormatBool(fair), func(b *testing.B) {
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			q := memory.NewQueue(func() time.Time { return now })
			q.Fair = fair
			for i := range waiting / 100 {
				tokens := tokensOf(hook.EndpointID("ep_"+strconv.Itoa(i%100)), 100)
				q.Send(b.Context(), hook.LaneLive, tokens, time.Duration(i%2*(i%900))*time.Second)
			}
			token := tokensOf("ep_0", 1)
			for b.Loop() {
				q.Send(b.Context(), hook.LaneLive, token, 0)
				q.Delete(q.Receive(hook.LaneLive, 1)[0].ID)
			}
		})
	}
}

// BenchmarkStore uses an endpoint with 100,000 parked deliveries.
func BenchmarkStore(b *testing.B) {
	s := memory.NewStore()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	number := 0
	target := hook.Target{Endpoint: "ep_1", Shards: 1}
	create := func() hook.Delivery {
		e := hook.Event{ID: hook.EventID("evt_" + strconv.Itoa(number)), Tenant: "acme", AcceptedAt: start.Add(time.Duration(number) * time.Millisecond)}
		number++
		d := hook.QueuedDelivery(e, target)
		d.State = hook.StateParked
		if err := s.SaveDelivery(b.Context(), d, nil); err != nil {
			b.Fatal(err)
		}
		d.Version++
		return d
	}
	for range waiting {
		create()
	}
	b.Run("SaveDelivery", func(b *testing.B) { // parked, then delivered
		for b.Loop() {
			d := create()
			d.State = hook.StateDelivered
			if err := s.SaveDelivery(b.Context(), d, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Parked", func(b *testing.B) {
		for b.Loop() {
			if parked, err := s.Parked(b.Context(), target, time.Time{}, 100); err != nil || len(parked) != 100 {
				b.Fatal(len(parked), err)
			}
		}
	})
	selection := replay.Selection{Target: target, State: hook.StateParked, From: start.Add(50 * time.Second), To: start.Add(90 * time.Second), Limit: 100}
	b.Run("Select", func(b *testing.B) {
		for b.Loop() {
			if page, _, err := s.Select(b.Context(), selection); err != nil || len(page) != 100 {
				b.Fatal(len(page), err)
			}
		}
	})
	b.Run("CountSelected", func(b *testing.B) {
		for b.Loop() {
			if n, err := s.CountSelected(b.Context(), selection); err != nil || n != 40_000 {
				b.Fatal(n, err)
			}
		}
	})
}
