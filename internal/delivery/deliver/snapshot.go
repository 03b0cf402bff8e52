package deliver

import (
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/order"
)

// Snapshot holds the records for a batch of tasks. Missing records are absent from the maps.
// Tasks share the records, so the payloads, lists and maps in them must not be changed.
type Snapshot struct {
	Events     map[hook.EventID]*hook.Event
	Endpoints  map[hook.EndpointID]*hook.Endpoint
	Circuits   map[hook.EndpointID]admission.Record
	Deliveries map[hook.DeliveryRef]*hook.Delivery
	Sequences  map[order.ID]order.Sequence          // of the deliveries with a number
	Limits     map[hook.EndpointID]admission.Limits // of the endpoints of tasks with a claimed slot; zero without a record

	// Faults has the tasks with a record that could not be read, because its partition is
	// throttled or because a later build wrote it. The snapshot may lack records of these
	// tasks.
	Faults map[hook.Task]error
}

// capTimeouts applies the shorter timeouts that a review has set for slow endpoints.
func (s Snapshot) capTimeouts() {
	for id, e := range s.Endpoints {
		if most := s.Circuits[id].Review.Timeout; most > 0 {
			e.Timeout = min(e.Timeout, most)
		}
	}
}

func (s Snapshot) circuit(tenant hook.TenantID, endpoint hook.EndpointID) admission.Record {
	if record, ok := s.Circuits[endpoint]; ok {
		return record
	}
	return admission.NewRecord(tenant, endpoint)
}

// limits returns the endpoint's limits; nil if they were not read.
func (s Snapshot) limits(endpoint hook.EndpointID) *admission.Limits {
	if l, ok := s.Limits[endpoint]; ok {
		return &l
	}
	return nil
}
