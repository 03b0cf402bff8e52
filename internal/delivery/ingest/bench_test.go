package ingest_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"surehook/internal/delivery/ingest"
	"surehook/internal/hook"
	"surehook/internal/memory"
)

// BenchmarkAcceptor accepts events of 500 bytes in memory, for one of a tenant's ten
// endpoints. A batch of 100 events counts as 100 iterations.
func BenchmarkAcceptor(b *testing.B) {
	payload := append(append([]byte(`"`), bytes.Repeat([]byte("x"), 498)...), '"')
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			store, queue := memory.NewStore(), memory.NewQueue(time.Now)
			for n := range 10 {
				err := store.CreateEndpoint(b.Context(), hook.Endpoint{
					ID: hook.NewEndpointID(), Tenant: "acme", EventTypes: []string{fmt.Sprintf("order.%d", n)}, Status: hook.StatusActive,
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			directory, err := ingest.NewDirectory(store)
			if err != nil {
				b.Fatal(err)
			}
			a := ingest.Acceptor{Store: store, Queue: queue, Directory: directory, Retention: time.Hour, Now: time.Now, NewID: hook.NewEventID}
			requests := make([]ingest.Request, size)
			for i := range requests {
				requests[i] = ingest.Request{Type: "order.0", Payload: payload}
			}
			events := 0
			for b.Loop() {
				for _, result := range a.AcceptBatch(b.Context(), "acme", requests) {
					if result.Err != nil || result.Deliveries != 1 {
						b.Fatalf("AcceptBatch() = %+v; want one delivery each", result)
					}
				}
				for _, m := range queue.Receive(hook.LaneLive, size) {
					queue.Delete(m.ID)
				}
				events += size
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
