package dev_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/localstack/receiver"
)

// Surehook points at itself through a proxy, as through a second name of the API,
// with an API key among the endpoint's headers. Each payload is a batch of events,
// so an accepted delivery would become three events.
func TestServer_PointedAtItselfMultipliesNothing(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	api, err := url.Parse(w.Address)
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(api)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(proxy.Close)

	const path = "/v1/tenants/acme/events/batch"
	w.call(http.MethodPost, "/v1/tenants/acme/endpoints", fmt.Sprintf(
		`{"url": %q, "headers": {"Authorization": "Bearer %s"}, "retry": {"schedule": ["1s"], "jitter": "none"}}`, proxy.URL+path, w.Key),
		http.StatusCreated, nil)
	one := `{"event_type": "order.paid", "payload": 1}`
	var accepted struct{ ID string }
	w.call(http.MethodPost, "/v1/tenants/acme/events", fmt.Sprintf(`{"event_type": "order.paid", "payload": {"events": [%s]}}`,
		strings.Join([]string{one, one, one}, ",")), http.StatusAccepted, &accepted)
	delivery := w.await(accepted.ID, "dead")

	var read struct {
		Last struct {
			Status int
			Body   string
		}
	}
	w.call(http.MethodGet, "/v1/tenants/acme/deliveries/"+delivery, "", http.StatusOK, &read)
	if read.Last.Status != http.StatusForbidden || !strings.Contains(read.Last.Body, `"code":"loop"`) {
		t.Errorf("the attempt ended with %+v; want 403 loop", read.Last)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("Surehook sent itself %d requests; want 1", n)
	}
}

// The API's own addresses are no URLs of endpoints, neither at once nor by a redirect.
func TestServer_RefusesItsOwnAddress(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	local := strings.Replace(w.Address, "127.0.0.1", "localhost", 1)
	for _, own := range []string{w.Address, local, w.Address + "/v1/tenants/acme/events"} {
		var p struct {
			Errors []struct{ Field, Message string }
		}
		w.call(http.MethodPost, "/v1/tenants/acme/endpoints", fmt.Sprintf(`{"url": %q}`, own), http.StatusBadRequest, &p)
		if len(p.Errors) != 1 || p.Errors[0].Field != "url" || !strings.Contains(p.Errors[0].Message, "API of Surehook") {
			t.Errorf("an endpoint at %s is refused with %+v; want an error of url", own, p.Errors)
		}
	}

	w.call(http.MethodPost, "/v1/tenants/acme/endpoints", fmt.Sprintf(
		`{"url": %q, "retry": {"schedule": ["1s"], "jitter": "none"}}`, w.receiver.URL+"/elsewhere"), http.StatusCreated, nil)
	w.receiver.Script("/elsewhere", receiver.Redirect(http.StatusTemporaryRedirect, w.Address+"/v1/tenants/acme/events"))
	var accepted struct{ ID string }
	w.call(http.MethodPost, "/v1/tenants/acme/events", `{"event_type": "order.paid", "payload": 1}`, http.StatusAccepted, &accepted)
	delivery := w.await(accepted.ID, "dead")
	var read struct {
		Last struct{ Class, Error string }
	}
	w.call(http.MethodGet, "/v1/tenants/acme/deliveries/"+delivery, "", http.StatusOK, &read)
	if read.Last.Class != "blocked" || !strings.Contains(read.Last.Error, "API of Surehook") {
		t.Errorf("the attempt with a redirect to the API ended with %+v; want blocked", read.Last)
	}
}
