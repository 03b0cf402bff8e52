package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Endpoint has the fields of an endpoint that the demonstration and the tests use.
type Endpoint struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Secret string `json:"secret"` // at creation and rotation only
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// Accepted is the answer to a posted event.
type Accepted struct {
	ID         string `json:"id"`
	Deliveries int    `json:"deliveries"`
	Duplicate  bool   `json:"duplicate"`
}

// Delivery has the fields of a delivery that the demonstration and the tests use.
type Delivery struct {
	ID            string    `json:"id"`
	Event         string    `json:"event_id"`
	Endpoint      string    `json:"endpoint_id"`
	Generation    int       `json:"generation"`
	State         string    `json:"state"`
	Reason        string    `json:"reason"`
	Attempts      int       `json:"attempts"`
	NextAttemptAt time.Time `json:"next_attempt_at"`
	Last          *Outcome  `json:"last"`
	ReplayedAs    string    `json:"replayed_as"`
	Replay        string    `json:"replay_id"` // the job that replayed the delivery
	Note          string    `json:"note"`
}

// Outcome is the result of an attempt.
type Outcome struct {
	Class  string `json:"class"`
	Status int    `json:"status"`
	URL    string `json:"url"`
	Error  string `json:"error"`
}

// CreateEndpoint creates an endpoint; in is the request's body.
func (c *Client) CreateEndpoint(ctx context.Context, tenant string, in map[string]any) (Endpoint, error) {
	var out Endpoint
	err := c.Call(ctx, http.MethodPost, "/v1/tenants/"+tenant+"/endpoints", in, http.StatusCreated, &out)
	return out, err
}

// PostEvent posts an event. The payload is a JSON value, and the API gets its exact
// bytes.
func (c *Client) PostEvent(ctx context.Context, tenant, eventType, payload string) (Accepted, error) {
	var out Accepted
	body := fmt.Appendf(nil, `{"event_type": %q, "payload": %s}`, eventType, payload) // json.Marshal would remove white space from the payload
	err := c.call(ctx, http.MethodPost, "/v1/tenants/"+tenant+"/events", body, http.StatusAccepted, &out)
	return out, err
}

// Deliveries reads the deliveries of an event.
func (c *Client) Deliveries(ctx context.Context, tenant, event string) ([]Delivery, error) {
	var out struct {
		Data []Delivery `json:"data"`
	}
	err := c.Call(ctx, http.MethodGet, "/v1/tenants/"+tenant+"/events/"+event+"/deliveries", nil, http.StatusOK, &out)
	return out.Data, err
}

// Delivery reads a delivery.
func (c *Client) Delivery(ctx context.Context, tenant, id string) (Delivery, error) {
	var out Delivery
	err := c.Call(ctx, http.MethodGet, "/v1/tenants/"+tenant+"/deliveries/"+id, nil, http.StatusOK, &out)
	return out, err
}

// AwaitDelivery reads the delivery until it is in the state. If ctx ends first, it
// returns the delivery as last read, with an error.
func (c *Client) AwaitDelivery(ctx context.Context, tenant, id, state string) (Delivery, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var last Delivery
	for {
		d, err := c.Delivery(ctx, tenant, id)
		if err == nil {
			last = d
			if d.State == state {
				return d, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if last.ID == "" {
				return last, fmt.Errorf("await delivery %s: %w", id, err)
			}
			return last, fmt.Errorf("await delivery %s to be %s: it is %s after %d attempts: %w", id, state, last.State, last.Attempts, context.Cause(ctx))
		}
	}
}

// Call sends in as JSON (nil: no body), expects the status and decodes the
// answer into out (nil: no decoding).
func (c *Client) Call(ctx context.Context, method, path string, in any, want int, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("call %s %s: %w", method, path, err)
		}
	}
	return c.call(ctx, method, path, body, want, out)
}

func (c *Client) call(ctx context.Context, method, path string, body []byte, want int, out any) error {
	resp, err := c.Do(ctx, method, path, body)
	if err != nil {
		return err
	}
	if resp.Status != want {
		return fmt.Errorf("call %s %s: status %d instead of %d: %s", method, path, resp.Status, want, resp.Body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Body, out); err != nil {
		return fmt.Errorf("call %s %s: read the answer: %w", method, path, err)
	}
	return nil
}
