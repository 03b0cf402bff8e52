package dev_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// world is a Surehook and a receiver.
type world struct {
	*stack.Client

	t        *testing.T
	receiver *receiver.Receiver
}

func newWorld(t *testing.T) *world {
	t.Helper()

	return newWorldWith(t, dev.Options{})
}

func newWorldWith(t *testing.T, o dev.Options) *world {
	t.Helper()

	s, err := dev.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := receiver.Start(t.Context(), "127.0.0.1", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &world{t: t, receiver: r, Client: &stack.Client{Address: s.URL, Key: s.Key, HTTP: &http.Client{Transport: &http.Transport{}}}}
}

// call calls the API, expects the status and decodes the answer.
func (w *world) call(method, path, body string, status int, answer any) {
	w.t.Helper()

	var sent []byte
	if body != "" {
		sent = []byte(body)
	}
	got, err := w.Do(w.t.Context(), method, path, sent)
	if err != nil {
		w.t.Fatal(err)
	}
	if got.Status != status {
		w.t.Fatalf("%s %s = %d %s; want %d", method, path, got.Status, got.Body, status)
	}
	if answer != nil {
		if err := json.Unmarshal(got.Body, answer); err != nil {
			w.t.Fatalf("%s %s = %s: %v", method, path, got.Body, err)
		}
	}
}

func (w *world) endpoint(path, eventType string, schedule string) (id, secret string) {
	w.t.Helper()

	var created struct{ ID, Secret string }
	w.call(http.MethodPost, "/v1/tenants/acme/endpoints", fmt.Sprintf(
		`{"url": %q, "event_types": [%q], "retry": {"schedule": [%s], "jitter": "none"}}`, w.receiver.URL+path, eventType, schedule),
		http.StatusCreated, &created)
	return created.ID, created.Secret
}

func (w *world) post() (event string) {
	w.t.Helper()

	var accepted struct{ ID string }
	w.call(http.MethodPost, "/v1/tenants/acme/events", `{"event_type": "order.paid", "payload": {"order": 4711}}`,
		http.StatusAccepted, &accepted)
	return accepted.ID
}

// await returns the event's one delivery as soon as the delivery is in the
// state.
func (w *world) await(event, state string) string {
	w.t.Helper()

	var list struct {
		Data []struct{ ID, State string }
	}
	for w.t.Context().Err() == nil {
		w.call(http.MethodGet, "/v1/tenants/acme/events/"+event+"/deliveries", "", http.StatusOK, &list)
		if len(list.Data) == 1 && list.Data[0].State == state {
			return list.Data[0].ID
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.t.Fatalf("the deliveries of %s are %v; want one that is %s", event, list.Data, state)
	return ""
}

func TestServer_DeliversAndRetries(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, secret := w.endpoint("/hooks", "order.*", `"1s"`)
	w.receiver.Trust("/hooks", secret)
	w.receiver.Script("/hooks", receiver.Status(503), receiver.Status(200))
	event := w.post()
	requests, err := w.receiver.Await(t.Context(), "/hooks", 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range requests {
		if !r.Genuine() || !strings.HasSuffix(string(r.Body), `,"data":{"order": 4711}}`) {
			t.Errorf("attempt %d brought %s, verified: %v; want the payload in its envelope, signed", i+1, r.Body, r.Verified)
		}
	}
	w.await(event, "delivered")
}

func TestServer_ReplaysADeadLetter(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.endpoint("/hooks", "*", `"1s"`)
	w.receiver.Script("/hooks", receiver.Status(400), receiver.Status(200))
	event := w.post()
	dead := w.await(event, "dead")
	w.call(http.MethodPost, "/v1/tenants/acme/replays", `{"filter": {"state": "dead"}}`, http.StatusAccepted, nil)
	if _, err := w.receiver.Await(t.Context(), "/hooks", 2); err != nil {
		t.Fatal(err)
	}
	var old struct{ State string }
	for old.State != "discarded" && t.Context().Err() == nil {
		w.call(http.MethodGet, "/v1/tenants/acme/deliveries/"+dead, "", http.StatusOK, &old)
		time.Sleep(5 * time.Millisecond)
	}
}

func TestServer_ReleasesWhatWaitedForAPausedEndpoint(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	id, _ := w.endpoint("/hooks", "*", `"1s"`)
	w.call(http.MethodPost, "/v1/tenants/acme/endpoints/"+id+"/pause", "", http.StatusOK, nil)
	event := w.post()
	w.await(event, "parked")
	w.call(http.MethodPost, "/v1/tenants/acme/endpoints/"+id+"/resume", "", http.StatusOK, nil)
	w.await(event, "delivered")
}

// The process serves the routes of all functions.
func TestServer_HasTheWholeAPI(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	for _, route := range httpapi.Routes() {
		path := strings.NewReplacer("{", "", "}", "").Replace(route.Path)
		got, err := w.Do(t.Context(), route.Method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status == http.StatusMethodNotAllowed || strings.Contains(string(got.Body), "route") {
			t.Errorf("%s %s = %d %s; want the route", route.Method, path, got.Status, got.Body)
		}
	}
}

func TestServer_WantsItsKey(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	for _, key := range []string{"", "shk_" + strings.Repeat("a", 43)} {
		w.Key = key
		w.call(http.MethodGet, "/v1/tenants/acme/endpoints", "", http.StatusUnauthorized, nil)
	}
}

func TestStart_RefusesAKeyThatWouldOpenNothing(t *testing.T) {
	t.Parallel()

	if s, err := dev.Start(t.Context(), dev.Options{Key: "secret"}); err == nil {
		t.Errorf("Start(key %q) = %v; want an error", "secret", s)
	}
}
