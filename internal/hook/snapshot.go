package hook

// Snapshot is what a batch of tokens is about, read at one moment. What does
// not exist is absent from its map.
type Snapshot struct {
	Events     map[EventID]Event
	Endpoints  map[EndpointID]Endpoint
	Deliveries map[DeliveryID]Delivery
}
