package deliver

import (
	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
)

// Snapshot is what a batch of tokens is about, read at one moment. What does
// not exist is absent from its map.
type Snapshot struct {
	Events     map[hook.EventID]hook.Event
	Endpoints  map[hook.EndpointID]hook.Endpoint
	Circuits   map[hook.EndpointID]gate.Record
	Deliveries map[hook.DeliveryID]hook.Delivery
}
