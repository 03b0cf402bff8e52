package endpoint

import (
	"context"
	"encoding/json"
	"fmt"

	"surehook.example/surehook/internal/hook"
)

// SampleType is the type of test events. A test of another type would be signed as a genuine event.
// Your customers read it, so it does not name Surehook.
const SampleType = "webhook.test"

// Sample returns the endpoint and the payload of a test event for it. eventType is the type whose example
// the payload is, if any; a nil payload means a short text. CodeConflict unless the endpoint is
// active, because the delivery would be parked; CodeInvalid if the type is invalid.
func (a *Admin) Sample(ctx context.Context, tenant hook.TenantID, ref, eventType string, payload []byte) (hook.Endpoint, []byte, error) {
	e, err := a.Get(ctx, tenant, ref)
	if err != nil {
		return hook.Endpoint{}, nil, err
	}
	if payload == nil {
		payload, err = json.Marshal(map[string]any{
			"message":     "This is a test event. Nothing happened.",
			"endpoint_id": e.ID,
			"sent_at":     a.now(),
		})
		if err != nil {
			return hook.Endpoint{}, nil, fmt.Errorf("make test event for endpoint %s: %w", e.ID, err)
		}
	}
	if eventType != "" && eventType != SampleType {
		if errs := hook.ValidateEvent(hook.Event{Type: eventType, Payload: payload}); len(errs) > 0 {
			return hook.Endpoint{}, nil, hook.Invalid(hook.FieldError{Field: "event_type", Message: errs[0].Message})
		}
	}
	if e.Status != hook.StatusActive {
		return hook.Endpoint{}, nil, hook.Conflict("the endpoint is " + e.Status.String())
	}
	return e, payload, nil
}
