//go:build e2e

package localstack_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"surehook.example/surehook/localstack/receiver"
)

// An event type with a schema refuses payloads that do not fit, within the age of the
// event types in a function. Its example is the payload of a test event.
func TestAnEventTypeRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil)
	const eventType = "e2e.order.paid"
	path := "/v1/event-types/" + eventType
	fields := map[string]any{
		"description": "An order was paid.", "validation": "reject", "example": map[string]any{"order": 1042},
		"schema": map[string]any{"type": "object", "required": []string{"order"}, "properties": map[string]any{"order": map[string]any{"type": "integer"}}},
	}
	if err := world.api.Call(b.ctx, http.MethodPut, path, fields, http.StatusCreated, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.api.Call(context.WithoutCancel(b.ctx), http.MethodDelete, path, nil, http.StatusNoContent, nil); err != nil {
			t.Error(err)
		}
	})

	events := "/v1/tenants/" + b.tenant + "/events"
	b.until("a payload that does not fit is refused", func() bool {
		resp, err := world.api.Do(b.ctx, http.MethodPost, events, []byte(`{"event_type":"`+eventType+`","payload":{"order":"x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Status == http.StatusAccepted { // a function with the event types of before
			return false
		}
		wantProblem(t, resp, http.StatusUnprocessableEntity, "event_type_mismatch", "payload/order")
		return true
	})
	accepted := b.post(eventType, `{"order":7}`)
	b.await(b.one(accepted), "delivered")

	b.call(http.MethodPost, "/endpoints/"+e.ID+"/test", map[string]any{"event_type": eventType}, http.StatusAccepted, &accepted)
	b.await(b.one(accepted), "delivered")
	example := func(r receiver.Request) bool { return string(r.Body) == `{"order":1042}` }
	if got := world.receiver.Requests(b.path("a")); !slices.ContainsFunc(got, example) {
		t.Errorf("no request of %d has the example of the event type", len(got))
	}
}
