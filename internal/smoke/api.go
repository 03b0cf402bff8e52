package smoke

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// API is the deployment's API, called with one key.
type API struct {
	URL  string // without a slash at the end
	Key  string // "shk_..."
	HTTP *http.Client
}

// callTimeout bounds one call: 30 s is API Gateway's own limit.
const callTimeout = 30 * time.Second

// A call beyond a throttle is repeated: API Gateway refuses the call before the
// function, so the call had no effect.
const (
	throttledTries = 10
	throttledPause = time.Second
)

// maxAnswer bounds the answer of a call in bytes.
const maxAnswer = 4 << 20

// endpoint is an endpoint as the API shows it.
type endpoint struct {
	ID      string `json:"id"`
	Secret  string `json:"secret"` // at creation only
	Circuit struct {
		State string `json:"state"`
	} `json:"circuit_state"`
}

// delivery is a delivery as the API shows it.
type delivery struct {
	ID            string    `json:"id"`
	Event         string    `json:"event_id"`
	Generation    int       `json:"generation"`
	State         string    `json:"state"`
	Reason        string    `json:"reason"`
	Attempts      int       `json:"attempts"`
	NextAttemptAt time.Time `json:"next_attempt_at"`
	Last          struct {
		Class  string `json:"class"`
		Status int    `json:"status"`
		Error  string `json:"error"`
	} `json:"last"`
}

// call sends in as JSON (nil: no body), expects the status, and decodes the
// answer into out (nil: no decoding).
func (a *API) call(ctx context.Context, method, path string, in any, want int, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("call %s %s: %w", method, path, err)
		}
	}
	for try := 1; ; try++ {
		status, answer, err := a.send(ctx, method, path, body)
		if err != nil {
			return fmt.Errorf("call %s %s: %w", method, path, err)
		}
		if status == http.StatusTooManyRequests && try < throttledTries {
			if err := pause(ctx, throttledPause); err != nil {
				return fmt.Errorf("call %s %s: throttled: %w", method, path, err)
			}
			continue
		}
		if status != want {
			return fmt.Errorf("call %s %s: status %d instead of %d: %.300s", method, path, status, want, answer)
		}
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(answer, out); err != nil {
			return fmt.Errorf("call %s %s: read the answer: %w", method, path, err)
		}
		return nil
	}
}

func (a *API) send(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+a.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.HTTP.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("send: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	if answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return resp.StatusCode, answer, nil
}

// tenantAPI is the part of the API that belongs to one tenant.
type tenantAPI struct {
	*API
	tenant string
}

func (t tenantAPI) path(rest string) string { return "/v1/tenants/" + t.tenant + rest }

// createEndpoint creates an endpoint; in is the request's body. The end of ctx does
// not end the call: the removal must find what was made.
func (t tenantAPI) createEndpoint(ctx context.Context, in map[string]any) (e endpoint, err error) {
	err = t.call(context.WithoutCancel(ctx), http.MethodPost, t.path("/endpoints"), in, http.StatusCreated, &e)
	return e, err
}

// endpoint reads an endpoint.
func (t tenantAPI) endpoint(ctx context.Context, id string) (e endpoint, err error) {
	err = t.call(ctx, http.MethodGet, t.path("/endpoints/"+id), nil, http.StatusOK, &e)
	return e, err
}

// post posts n events of the type in one call and returns their ids. Event i has
// the payload {"n": i}.
func (t tenantAPI) post(ctx context.Context, eventType string, n int) (events []string, err error) {
	var all []map[string]any
	for i := range n {
		all = append(all, map[string]any{"event_type": eventType, "payload": map[string]int{"n": i}})
	}
	var out struct {
		Data []struct {
			ID         string `json:"id"`
			Deliveries int    `json:"deliveries"`
		} `json:"data"`
	}
	if err := t.call(ctx, http.MethodPost, t.path("/events/batch"), map[string]any{"events": all}, http.StatusAccepted, &out); err != nil {
		return nil, err
	}
	for _, e := range out.Data {
		if e.Deliveries != 1 {
			return nil, fmt.Errorf("event %s was accepted with %d deliveries instead of 1", e.ID, e.Deliveries)
		}
		events = append(events, e.ID)
	}
	return events, nil
}

// delivery reads a delivery.
func (t tenantAPI) delivery(ctx context.Context, id string) (d delivery, err error) {
	err = t.call(ctx, http.MethodGet, t.path("/deliveries/"+id), nil, http.StatusOK, &d)
	return d, err
}

// deliveryOf returns the only delivery of an event.
func (t tenantAPI) deliveryOf(ctx context.Context, event string) (delivery, error) {
	var out struct {
		Data []delivery `json:"data"`
	}
	if err := t.call(ctx, http.MethodGet, t.path("/events/"+event+"/deliveries"), nil, http.StatusOK, &out); err != nil {
		return delivery{}, err
	}
	if len(out.Data) != 1 {
		return delivery{}, fmt.Errorf("event %s has %d deliveries instead of 1", event, len(out.Data))
	}
	return out.Data[0], nil
}

// listed returns up to 100 deliveries of the endpoint in the state.
func (t tenantAPI) listed(ctx context.Context, endpoint, state string) ([]delivery, error) {
	var out struct {
		Data []delivery `json:"data"`
	}
	query := url.Values{"state": {state}, "limit": {"100"}}
	err := t.call(ctx, http.MethodGet, t.path("/endpoints/"+endpoint+"/deliveries?"+query.Encode()), nil, http.StatusOK, &out)
	return out.Data, err
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
