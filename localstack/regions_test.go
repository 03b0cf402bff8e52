//go:build e2e

package localstack_test

import (
	"net/http"
	"testing"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// The emulator keeps regions apart: the function in the other region makes the request.
func TestAnEndpointOfAnotherRegionGetsItsEventsFromThere(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var choices struct {
		Regions   []string `json:"regions"`
		Addresses []string `json:"addresses"`
	}
	b.call(http.MethodGet, "/egress", nil, http.StatusOK, &choices)
	if len(choices.Regions) != 1 || choices.Regions[0] != stack.SenderRegion || len(choices.Addresses) != 0 {
		t.Fatalf("egress = %+v; want %s, without fixed addresses", choices, stack.SenderRegion)
	}
	b.endpoint("a", map[string]any{"region": stack.SenderRegion}, receiver.Status(503), receiver.Status(200))
	id := b.postOne()
	b.arrivals("a", 2)
	b.await(id, "delivered")
	var delivery struct {
		History []struct {
			Class  string `json:"class"`
			Region string `json:"region"`
		} `json:"history"`
	}
	b.call(http.MethodGet, "/deliveries/"+id, nil, http.StatusOK, &delivery)
	for _, a := range delivery.History {
		if a.Region != stack.SenderRegion {
			t.Errorf("attempt %s came from %q; want %s", a.Class, a.Region, stack.SenderRegion)
		}
	}
	if len(delivery.History) != 2 {
		t.Errorf("%d attempts; want 2", len(delivery.History))
	}
}
