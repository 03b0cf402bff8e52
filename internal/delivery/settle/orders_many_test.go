package settle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/world"
)

// TestOrders_NoInversion posts one by one, in a batch, and by two producers with many keys, while 30 % of the
// attempts fail: the first requests and the successes of each key come in the order of its posts.
func TestOrders_NoInversion(t *testing.T) {
	t.Parallel()

	keys := 100
	if testing.Short() {
		keys = 20
	}
	tests := []struct {
		name      string
		producers int
		keys      int
		each      int // events of a key
		batch     int // of a post
	}{
		{name: "50 one by one", producers: 1, keys: 1, each: 50, batch: 1},
		{name: "100 in a batch", producers: 1, keys: 1, each: 100, batch: 100},
		{name: "two producers", producers: 2, keys: keys, each: 100, batch: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := newOrdered(t, world.Deliver, func(e *hook.Endpoint) {
				e.Retry = hook.RetryPolicy{Schedule: slices.Repeat([]time.Duration{time.Second}, 20)}
			})
			var mu sync.Mutex // of all below
			luck := rand.New(rand.NewPCG(52, 1))
			tried, succeeded := make(map[string][]string), make(map[string][]string)
			w.Answer = world.Status(func(r send.Request) int {
				mu.Lock()
				defer mu.Unlock()
				key, payload := r.Event.Ordering.Key, string(r.Event.Payload)
				if !slices.Contains(tried[key], payload) {
					tried[key] = append(tried[key], payload)
				}
				if luck.Float64() < 0.3 {
					return 503
				}
				succeeded[key] = append(succeeded[key], payload)
				return 200
			})
			producers := make([]*ingest.Acceptor, tt.producers)
			for i := range producers {
				producers[i] = w.Acceptor()
			}
			for n := 0; n < tt.each; n += tt.batch {
				for key := range tt.keys {
					requests := make([]ingest.Request, tt.batch)
					for i := range requests {
						requests[i] = ingest.Request{Type: "order.paid", Payload: fmt.Appendf(nil, "%d", n+i), OrderingKey: fmt.Sprintf("cart-%d", key)}
					}
					for _, got := range producers[luck.IntN(len(producers))].AcceptBatch(w.Context(), world.Tenant, requests) {
						if got.Err != nil {
							t.Fatal(got.Err)
						}
					}
				}
				w.RunFor(time.Duration(luck.IntN(1500)) * time.Millisecond)
			}
			w.RunFor(30 * time.Minute)
			for key := range tt.keys {
				for what, got := range map[string][]string{"first requests": tried[fmt.Sprintf("cart-%d", key)], "successes": succeeded[fmt.Sprintf("cart-%d", key)]} {
					for n := range tt.each {
						if n >= len(got) || got[n] != fmt.Sprint(n) {
							t.Fatalf("%s of key %d: %v; want 0 to %d in order", what, key, got, tt.each-1)
						}
					}
				}
			}
		})
	}
}
