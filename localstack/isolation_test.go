//go:build e2e

package localstack_test

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// The events of TestTroubleIsItsOwn.
const (
	slowEvents    = 24
	limitedEvents = 20
	goodEvents    = 10
	healthyEvents = 20
)

// TestTroubleIsItsOwn posts events to a slow, a poisoned, a limited and a healthy endpoint,
// all new, at once. The order of the arrivals is asserted, and no duration: the events of
// the healthy endpoint arrive before a slow one is answered, the good events
// of the poisoned endpoint while the poison still fails, and the limit holds.
func TestTroubleIsItsOwn(t *testing.T) { //nolint:paralleltest // other tests must not use the functions
	b := setup(t)
	arrived := make(chan struct{})
	slow := b.endpoint("slow", map[string]any{"event_types": []string{"slow"}, "timeout": "30s"}, receiver.Until(arrived))
	limited := b.endpoint("limited", map[string]any{"event_types": []string{"limited"}, "max_in_flight": 2}, receiver.Hang(300*time.Millisecond))
	healthy := b.endpoint("healthy", map[string]any{"event_types": []string{"healthy"}})
	poisoned := b.endpoint("poisoned", map[string]any{
		"event_types": []string{"order.*"}, "retry": schedule(slices.Repeat([]string{"1s"}, 20)...),
		"circuit": map[string]any{"failures": 3, "cooldown": "5s", "max_cooldown": "60s"},
	})
	poison := []byte(`"poison"`)
	world.receiver.Decide(b.path("poisoned"), func(r receiver.Request) receiver.Reply {
		if bytes.Equal(r.Body, poison) {
			return receiver.Status(http.StatusInternalServerError)
		}
		return receiver.Status(http.StatusOK)
	})

	bad := b.one(b.post("order.poison", string(poison)))
	b.postMixed(map[string]int{"slow": slowEvents, "limited": limitedEvents})
	b.awaitCircuit(poisoned.ID, "open")
	b.arrivals("slow", 5)
	b.postMixed(map[string]int{"order.paid": goodEvents, "healthy": healthyEvents})

	b.arrivals("healthy", healthyEvents)
	b.renew()
	b.awaitListed(poisoned.ID, "delivered", goodEvents)
	var d stack.Delivery
	if b.call(http.MethodGet, "/deliveries/"+bad, nil, http.StatusOK, &d); d.State == "delivered" || d.State == "dead" {
		t.Errorf("the poison is %s after the good events; want it to fail still", d.State)
	}
	close(arrived)
	b.renew()
	b.arrivals("limited", limitedEvents)
	b.renew()
	b.awaitListed(slow.ID, "delivered", slowEvents)
	b.awaitListed(limited.ID, "delivered", limitedEvents)
	b.awaitListed(healthy.ID, "delivered", healthyEvents)
	const most = 2
	if got := world.receiver.AtOnce(b.path("limited")); got > most {
		t.Errorf("limited had %d requests at once; want at most %d", got, most)
	}
}

// postMixed posts so many events of each type in one batch, in turn.
func (b *bench) postMixed(types map[string]int) {
	b.Helper()
	var events []map[string]any
	for i := range slices.Max(slices.Collect(maps.Values(types))) {
		for eventType, n := range types {
			if i < n {
				events = append(events, map[string]any{"event_type": eventType, "payload": i})
			}
		}
	}
	b.call(http.MethodPost, "/events/batch", map[string]any{"events": events}, http.StatusAccepted, nil)
}
