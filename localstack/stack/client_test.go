package stack_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/localstack/stack"
)

func TestClient_sendsTheHostOfTheAPIAndTheKey(t *testing.T) {
	t.Parallel()

	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "id.execute-api.localhost:4566" || r.Header.Get("Authorization") != "Bearer shk_1" {
			t.Errorf("Host, Authorization = %q, %q; want the API's and the key", r.Host, r.Header.Get("Authorization"))
		}
		body, err := io.ReadAll(r.Body)
		if want := `{"event_type": "order.created", "payload": { "n" :1.0}}`; err != nil || string(body) != want {
			t.Errorf("body = %s, %v; want %s", body, err, want)
		}
		w.WriteHeader(http.StatusAccepted)
		write(t, w, map[string]any{"id": "evt_1", "deliveries": 2})
	})
	got, err := c.PostEvent(t.Context(), "t", "order.created", `{ "n" :1.0}`)
	if want := (stack.Accepted{ID: "evt_1", Deliveries: 2}); err != nil || got != want {
		t.Errorf("PostEvent = %+v, %v; want %+v", got, err, want)
	}
}

func TestClient_AwaitDelivery_readsUntilTheState(t *testing.T) {
	t.Parallel()

	var calls atomic.Int32
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		state := "retrying"
		if calls.Add(1) > 2 {
			state = "delivered"
		}
		write(t, w, map[string]any{"id": "dlv_1", "state": state, "attempts": 1})
	})
	if d, err := c.AwaitDelivery(t.Context(), "t", "dlv_1", "delivered"); err != nil || d.State != "delivered" {
		t.Errorf("AwaitDelivery = %+v, %v; want it delivered", d, err)
	}
}

func TestClient_AwaitDelivery_returnsTheLastResultWhenItsContextEnds(t *testing.T) {
	t.Parallel()

	cause := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var calls atomic.Int32
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 2 { // the first answer has arrived
			cancel(cause)
		}
		write(t, w, map[string]any{"id": "dlv_1", "state": "retrying", "attempts": 1})
	})
	if d, err := c.AwaitDelivery(ctx, "t", "dlv_1", "dead"); !errors.Is(err, cause) || d.State != "retrying" {
		t.Errorf("AwaitDelivery of a state that never comes = %+v, %v; want the last result and the cause", d, err)
	}
}

func TestClient_anotherStatusIsAnError(t *testing.T) {
	t.Parallel()

	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if _, err := c.CreateEndpoint(t.Context(), "t", nil); err == nil {
		t.Error("CreateEndpoint with the answer 403 = nil; want an error")
	}
}

// serve returns a client of a server that takes the place of the emulator.
func serve(t *testing.T, h http.HandlerFunc) *stack.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return &stack.Client{Address: server.URL, Host: "id.execute-api.localhost:4566", Key: "shk_1", HTTP: server.Client()}
}

func write(t *testing.T, w io.Writer, v any) {
	t.Helper()
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Error(err)
	}
}
