package registry

import (
	"context"
	"encoding/json"
	"fmt"

	"surehook/internal/hook"
)

// SampleType is the type of test events, unless another is asked for.
const SampleType = hook.SystemPrefix + "test"

// Sample is a test event for an endpoint.
type Sample struct {
	Endpoint hook.Endpoint
	Type     string
	Payload  []byte
}

// Sample makes a test event for the endpoint, of SampleType if eventType is
// empty. CodeConflict unless the endpoint is active: it would be parked.
func (r *Registry) Sample(ctx context.Context, tenant hook.TenantID, ref, eventType string) (Sample, error) {
	e, err := r.Endpoint(ctx, tenant, ref)
	if err != nil {
		return Sample{}, err
	}
	if eventType == "" {
		eventType = SampleType
	}
	payload, err := json.Marshal(map[string]any{
		"message":     "This is a test event. Nothing happened.",
		"endpoint_id": e.ID,
		"sent_at":     r.now(),
	})
	if err != nil {
		return Sample{}, fmt.Errorf("make test event for endpoint %s: %w", e.ID, err)
	}
	if eventType != SampleType {
		if errs := hook.ValidateEvent(hook.Event{Type: eventType, Payload: payload}); len(errs) > 0 {
			return Sample{}, hook.Invalid(hook.FieldError{Field: "event_type", Message: errs[0].Message})
		}
	}
	if e.Status != hook.StatusActive {
		return Sample{}, hook.Conflict("the endpoint is " + e.Status.String())
	}
	return Sample{Endpoint: e, Type: eventType, Payload: payload}, nil
}
