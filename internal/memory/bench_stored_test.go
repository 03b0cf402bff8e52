package memory_test

import (
	"bytes"
	"runtime"
	"strconv"
	"testing"
	"time"

	"surehook/internal/hook"
	"surehook/internal/memory"
)

// BenchmarkStored reports the heap that a settled delivery takes in the store, with its
// event of 500 bytes, and as one of ten deliveries of an event.
func BenchmarkStored(b *testing.B) {
	for _, each := range []int{1, 10} {
		b.Run("deliveries_of_the_event="+strconv.Itoa(each), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(heapPerDelivery(b, each), "B/stored")
			}
		})
	}
}

// heapPerDelivery stores 20,000 deliveries, each number of an event.
func heapPerDelivery(b *testing.B, each int) float64 {
	b.Helper()

	const deliveries = 20_000
	before := liveHeap()
	s := memory.NewStore()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range deliveries / each {
		id, err := hook.NewEventID()
		if err != nil {
			b.Fatal(err)
		}
		e := hook.Event{ID: id, Tenant: "acme", Type: "order.paid", Payload: bytes.Repeat([]byte("1"), 500), AcceptedAt: now, ExpiresAt: now.Add(time.Hour)}
		for n := range each {
			e.Targets = append(e.Targets, hook.Target{Endpoint: hook.EndpointID("ep_" + strconv.Itoa(n)), Shards: 1})
		}
		if err := s.PutEvent(b.Context(), e); err != nil {
			b.Fatal(err)
		}
		for _, target := range e.Targets {
			d := hook.QueuedDelivery(e, target)
			d.State, d.Attempts, d.Token = hook.StateDelivered, 1, hook.NewNonce()
			d.Last = hook.Outcome{Class: hook.ClassDelivered, Status: 200, URL: "https://example.com/hooks"}
			if err := s.SaveDelivery(b.Context(), d, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	held := liveHeap() - before
	runtime.KeepAlive(s)
	return float64(held) / deliveries
}

// liveHeap returns the bytes of the heap after a garbage collection.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
