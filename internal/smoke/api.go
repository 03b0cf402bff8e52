package smoke

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// callTimeout bounds one call: 30 s is API Gateway's own limit.
const callTimeout = 30 * time.Second

// callAttempts bounds the attempts of a call. API Gateway refuses a call beyond a throttle before
// the function, so the client repeats it.
const callAttempts = 8

// maxAnswer bounds the answer of the receiver in bytes.
const maxAnswer = 4 << 20

// NewClient returns a client of the deployment's API at the URL, with the key.
func NewClient(url, key string, over *http.Client) (*client.Client, error) {
	bounded := *over
	bounded.Timeout = callTimeout
	return client.New(url, key, client.Options{HTTP: &bounded, Attempts: callAttempts})
}

// tenantAPI is the part of the API that belongs to one tenant.
type tenantAPI struct {
	*client.Client

	tenant string
}

// createEndpoint creates an endpoint. The end of ctx does not end the call: the removal must find
// what was made.
func (t tenantAPI) createEndpoint(ctx context.Context, in openapi.EndpointCreate) (id, secret string, err error) {
	made, err := t.Endpoints.Create(context.WithoutCancel(ctx), t.tenant, in)
	if err != nil {
		return "", "", fmt.Errorf("create an endpoint: %w", err)
	}
	return made.Id, made.Secret, nil
}

// post posts n events of the type in one call and returns their ids. Event i has
// the payload {"n": i}.
func (t tenantAPI) post(ctx context.Context, eventType string, n int) (events []string, err error) {
	all := make([]openapi.BatchEvent, n)
	for i := range all {
		all[i] = openapi.BatchEvent{EventType: eventType, Payload: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	posted, err := t.Events.CreateBatch(ctx, t.tenant, openapi.BatchRequest{Events: all})
	if err != nil {
		return nil, fmt.Errorf("post events: %w", err)
	}
	for _, one := range posted.Data {
		e, err := one.AsAccepted()
		if err != nil {
			return nil, fmt.Errorf("read an accepted event: %w", err)
		}
		if e.Deliveries != 1 {
			return nil, fmt.Errorf("event %s was accepted with %d deliveries instead of 1", e.Id, e.Deliveries)
		}
		events = append(events, e.Id)
	}
	return events, nil
}

// delivery reads a delivery.
func (t tenantAPI) delivery(ctx context.Context, id string) (*openapi.DeliveryDetail, error) {
	d, err := t.Deliveries.Get(ctx, t.tenant, id)
	if err != nil {
		return nil, fmt.Errorf("read the delivery %s: %w", id, err)
	}
	return d, nil
}

// deliveryOf returns the id of the only delivery of an event.
func (t tenantAPI) deliveryOf(ctx context.Context, event string) (id string, err error) {
	n := 0
	for d, err := range t.Events.Deliveries(ctx, t.tenant, event) {
		if err != nil {
			return "", fmt.Errorf("list the deliveries of %s: %w", event, err)
		}
		id, n = d.Id, n+1
	}
	if n != 1 {
		return "", fmt.Errorf("event %s has %d deliveries instead of 1", event, n)
	}
	return id, nil
}

// listed returns the ids of the deliveries of the endpoint in the state.
func (t tenantAPI) listed(ctx context.Context, endpoint string, state openapi.ListEndpointDeliveriesParamsState) (ids []string, err error) {
	for d, err := range t.Endpoints.Deliveries(ctx, t.tenant, endpoint, openapi.ListEndpointDeliveriesParams{State: &state}) {
		if err != nil {
			return nil, fmt.Errorf("list the %s deliveries: %w", state, err)
		}
		ids = append(ids, d.Id)
	}
	return ids, nil
}

// pause waits, or returns the cause of the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
