package ingest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// BenchmarkAcceptor accepts events of 500 bytes in memory, for one of a tenant's ten
// endpoints. A batch of 100 events counts as 100 iterations.
func BenchmarkAcceptor(b *testing.B) {
	payload := append(append([]byte(`"`), bytes.Repeat([]byte("x"), 498)...), '"')
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			store, queue := memory.NewStore(), memory.NewTaskQueues(time.Now)
			for n := range 10 {
				err := store.CreateEndpoint(b.Context(), hook.Endpoint{
					ID: hook.NewEndpointID(), Tenant: "acme", EventTypes: []string{fmt.Sprintf("order.%d", n)}, Status: hook.StatusActive,
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			directory := ingest.NewDirectory(store)
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
				for _, m := range queue.Receive(hook.QueueLive, size) {
					queue.Delete(m.ID)
				}
				events += size
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

// BenchmarkAcceptor_filters accepts events of 2 KB in memory for a tenant with 500 endpoints that
// all subscribe to the type, and whose filters all refuse the event. The ratio compares the time
// with that of 500 endpoints that subscribe to another type.
func BenchmarkAcceptor_filters(b *testing.B) {
	payload := []byte(`{"order":{"amount":120,"country":"DE","lines":[` + strings.Repeat(`{"sku":"a-1","count":3},`, 80) + `{"sku":"z"}]}}`)
	const filter = `{"payload":{"order":{"amount":[{"numeric":[">",100,"<",500]}],"country":[{"anything-but":"US"}],"lines":{"sku":["none-%d"]}}}}`
	accept := map[string]func(){}
	for name, eventType := range map[string]string{"filters": "order.paid", "types": "user.created"} {
		store, queue := memory.NewStore(), memory.NewTaskQueues(time.Now)
		for n := range hook.DefaultEndpoints {
			id := hook.NewEndpointID()
			e := hook.Endpoint{ID: id, Tenant: "acme", URL: string(id), EventTypes: []string{eventType}, Status: hook.StatusActive, Filter: fmt.Appendf(nil, filter, n)}
			if err := store.CreateEndpoint(b.Context(), e); err != nil {
				b.Fatal(err)
			}
		}
		directory := ingest.NewDirectory(store)
		a := ingest.Acceptor{Store: store, Queue: queue, Directory: directory, Retention: time.Hour, Now: time.Now, NewID: hook.NewEventID}
		accept[name] = func() {
			result, err := a.Accept(b.Context(), "acme", ingest.Request{Type: "order.paid", Payload: payload})
			if err != nil || result.Deliveries != 0 {
				b.Fatalf("Accept() = %+v, %v; want no delivery", result, err)
			}
		}
		accept[name]() // reads the endpoints
	}
	took := map[string]time.Duration{}
	rounds := 0
	for b.Loop() {
		for name, do := range accept {
			start := time.Now()
			do()
			took[name] += time.Since(start)
		}
		rounds++
	}
	b.ReportMetric(float64(took["filters"])/float64(took["types"]), "ratio")
	b.ReportMetric(float64((took["filters"]-took["types"]).Microseconds())/float64(rounds), "µs/event")
}
