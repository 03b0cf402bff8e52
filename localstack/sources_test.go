//go:build e2e

package localstack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// send sends a message to the events queue.
func (b *bench) send(body string, attributes map[string]string) (messageID string) {
	b.Helper()

	in := sqs.SendMessageInput{QueueUrl: &world.stack.EventsQueueURL, MessageBody: &body, MessageGroupId: &b.tenant, MessageAttributes: map[string]types.MessageAttributeValue{}}
	for name, value := range attributes {
		in.MessageAttributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	out, err := sqs.NewFromConfig(world.stack.AWS).SendMessage(b.ctx, &in)
	if err != nil {
		b.Fatal(err)
	}
	return *out.MessageId
}

// reject is a reject in the answer of the API.
type reject struct {
	ID, Reason, Tenant, Body string
}

// rejects waits until the test's tenant has n rejects. Other tests may have others.
func (b *bench) rejects(n int) []reject {
	b.Helper()

	for {
		var list struct{ Data []reject }
		if err := world.api.Call(b.ctx, http.MethodGet, "/v1/rejects?limit=100", nil, http.StatusOK, &list); err != nil {
			b.Fatal(err)
		}
		var own []reject
		for _, r := range list.Data {
			if r.Tenant == b.tenant || strings.Contains(r.Body, b.tenant) {
				own = append(own, r)
			}
		}
		if len(own) == n {
			return own
		}
		if b.ctx.Err() != nil {
			b.Fatalf("the rejects are %+v; want %d", list.Data, n)
		}
	}
}

// Events come by the queue in both forms. A wrong message is a reject with a reason; after the
// correction of the tenant's limits it is redriven and accepted.
func TestEventsComeByTheQueue(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	b.endpoint("b", map[string]any{"event_types": []string{"both"}})
	b.call(http.MethodPut, "/limits", map[string]any{"deliveries_per_event": 1}, http.StatusOK, nil)

	b.send(fmt.Sprintf(`{"tenant":%q,"event_type":"order.paid","payload":{"n": 1.0},"idempotency_key":"k1"}`, b.tenant), nil)
	b.send(` {"n": 2e0} `, map[string]string{"tenant": b.tenant, "event_type": "order.paid", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	bodies := map[string]string{}
	for _, r := range b.arrivals("a", 2) {
		bodies[string(r.Body)] = r.Header.Get("Traceparent")
		if !r.Genuine() || r.Header.Get("X-Webhook-Event") != "order.paid" {
			t.Errorf("request %+v; want a signed one of order.paid", r)
		}
	}
	if _, posted := bodies[`{"n": 1.0}`]; !posted || !strings.HasPrefix(bodies[` {"n": 2e0} `], "00-4bf92f3577b34da6a3ce929d0e0e4736-") {
		t.Errorf("the endpoint got %v; want both payloads byte for byte, and the trace of the second", bodies)
	}

	wrong := b.send(`{"n":3}`, map[string]string{"tenant": b.tenant, "event_type": "both"})
	if got := b.rejects(1)[0]; got.ID != wrong || !strings.Contains(got.Reason, "2 deliveries") && !strings.Contains(got.Reason, "deliver") {
		t.Errorf("reject = %+v; want message %s, with the limit of deliveries", got, wrong)
	}
	b.call(http.MethodDelete, "/limits", nil, http.StatusNoContent, nil)
	var redriven struct{ Redriven int }
	if err := world.api.Call(b.ctx, http.MethodPost, "/v1/rejects/redrive", nil, http.StatusOK, &redriven); err != nil || redriven.Redriven < 1 {
		t.Errorf("redrive = %+v, %v; want one or more", redriven, err)
	}
	b.arrivals("b", 1)
	b.rejects(0)
	// The event has the id of its first message: a repetition of the message is a duplicate.
	var accepted struct{ Duplicate bool }
	b.call(http.MethodPost, "/events", map[string]any{"event_type": "both", "payload": map[string]any{"n": 3}, "idempotency_key": wrong}, http.StatusAccepted, &accepted)
	if !accepted.Duplicate {
		t.Error("the event of the redriven message has another key than the first message")
	}
}

// Events past the tenant's limit wait in the queue, and are accepted later.
func TestEventsOfTheQueueWaitForTheLimit(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	b.call(http.MethodPut, "/limits", map[string]any{"events_per_second": 1}, http.StatusOK, nil)
	bodies := map[string]bool{}
	for n := range 8 {
		b.send(fmt.Sprint(n), map[string]string{"tenant": b.tenant, "event_type": "order.paid"})
		if n == 3 { // whatever comes now is past the limit
			b.arrivals("a", 4)
		}
	}
	for _, r := range b.arrivals("a", 8) {
		bodies[string(r.Body)] = true
	}
	if len(bodies) != 8 {
		t.Errorf("the endpoint got %v; want each event", bodies)
	}
}

// Events come from a bus of EventBridge by the rule of the stack. An event without a tenant is
// a reject.
func TestEventsComeFromABus(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	put := func(detail string) {
		t.Helper()
		var out struct{ FailedEntryCount int }
		entry := map[string]any{"Source": "com.example.shop", "DetailType": "order.paid", "Detail": detail}
		if err := world.stack.Action(b.ctx, "events", "AWSEvents.PutEvents", map[string]any{"Entries": []any{entry}}, &out); err != nil || out.FailedEntryCount != 0 {
			t.Fatalf("PutEvents(%s) = %+v, %v", detail, out, err)
		}
	}
	put(fmt.Sprintf(`{"customer":{"id":%q},"total":12345678901234567890}`, b.tenant))
	got := b.arrivals("a", 1)[0]
	var payload struct {
		Customer struct {
			ID string `json:"id"`
		} `json:"customer"`
		Total json.Number `json:"total"`
	}
	if err := json.Unmarshal(got.Body, &payload); err != nil || payload.Customer.ID != b.tenant || payload.Total != "12345678901234567890" || got.Header.Get("X-Webhook-Event") != "order.paid" {
		t.Errorf("the endpoint got %s of %s; want the detail", got.Body, got.Header.Get("X-Webhook-Event"))
	}
	put(fmt.Sprintf(`{"of":%q}`, b.tenant))
	if got := b.rejects(1)[0]; !strings.Contains(got.Reason, "detail.customer.id: must be a string") {
		t.Errorf("reject = %+v; want the path of the missing tenant", got)
	}
}
