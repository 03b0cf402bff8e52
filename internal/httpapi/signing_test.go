package httpapi_test

import (
	"encoding/json"
	"os"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestEndpoints_signsNothingOfTheCallers checks that a key with endpoints:write alone, like that of a
// portal link, gets no signature of the endpoint's secret over an event of its own making.
func TestEndpoints_signsNothingOfTheCallers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	preset, err := os.ReadFile("../rule/shape/presets/slack.cel")
	if err != nil {
		t.Fatal(err)
	}
	expression := func(text string) string {
		body, err := json.Marshal(map[string]string{"transformation": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	const forged = `{"body": {"type": "payment.succeeded"}}`
	b.create(t, `{"url":"https://example.com/","uid":"crm","envelope":"standard"}`)
	b.create(t, `{"url":"https://example.com/raw","uid":"raw","envelope":"raw"}`)
	b.create(t, `{"url":"https://example.com/own","uid":"own","transformation":"{\"body\": event.data}"}`)
	crm, raw, own := endpoints+"/crm", endpoints+"/raw", endpoints+"/own"
	writer := func(scopes ...hook.Scope) hook.Principal {
		return hook.Principal{Key: "key_writer", Tenant: "acme", Scopes: append(scopes, hook.ScopeEndpointsWrite)}
	}
	tests := []struct {
		name, method, path, body string
		by                       hook.Principal
		want                     int
	}{
		{name: "an expression of one's own", method: "PATCH", path: crm, body: expression(forged), by: writer(), want: 403},
		{name: "an expression of one's own for a new endpoint", method: "POST", path: endpoints, body: `{"url":"https://example.com/new",` + expression(forged)[1:], by: writer(), want: 403},
		{name: "an expression of one's own, with the right", method: "PATCH", path: crm, body: expression(forged), by: writer(hook.ScopeTransformations), want: 200},
		{name: "the expression that is there", method: "PATCH", path: crm, body: expression(forged), by: writer(), want: 200},
		{name: "a preset", method: "PATCH", path: crm, body: expression(string(preset)), by: writer(), want: 200},
		{name: "a test of a preset", method: "POST", path: crm + "/test", body: `{"payload":{}}`, by: writer(), want: 202},
		{name: "none", method: "PATCH", path: crm, body: expression(""), by: writer(), want: 200},
		{name: "a test whose body names its type", method: "POST", path: crm + "/test", body: `{"event_type":"payment.succeeded","payload":{}}`, by: writer(), want: 202},
		{name: "a test of which nothing signed says that it is one", method: "POST", path: raw + "/test", body: `{"payload":{}}`, by: writer(), want: 403},
		{name: "the same of an expression", method: "POST", path: own + "/test", body: `{"payload":{}}`, by: writer(), want: 403},
		{name: "the same with the right", method: "POST", path: raw + "/test", body: `{"payload":{}}`, by: writer(hook.ScopeEventsWrite), want: 202},
		{name: "the same without a payload", method: "POST", path: raw + "/test", by: writer(), want: 202},
	}
	for _, tt := range tests {
		if w := b.do(t, tt.by, tt.method, tt.path, tt.body); w.Code != tt.want {
			t.Errorf("%s: %d %s; want %d", tt.name, w.Code, w.Body, tt.want)
		}
	}
}

// TestEndpoints_marksPayloadsOfTests checks that a test event remembers whether its author may post
// events: the endpoint can have another envelope when the request is made, and a replay sends the event
// to another endpoint.
func TestEndpoints_marksPayloadsOfTests(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm","envelope":"standard"}`)
	for _, tt := range []struct {
		name, body string
		scopes     []hook.Scope
		want       bool
	}{
		{name: "a payload of the caller's", body: `{"payload":{}}`, scopes: []hook.Scope{hook.ScopeEndpointsWrite, hook.ScopeReplay, hook.ScopeRead}, want: true},
		{name: "one of somebody who may post events", body: `{"payload":{}}`, scopes: []hook.Scope{hook.ScopeEndpointsWrite, hook.ScopeEventsWrite}},
		{name: "an example", body: `{"event_type":"order.paid"}`, scopes: []hook.Scope{hook.ScopeEndpointsWrite}},
	} {
		by := hook.Principal{Key: "key_writer", Tenant: "acme", Scopes: tt.scopes}
		accepted := get[struct{ ID hook.EventID }](t, b, by, 202, "POST", endpoints+"/crm/test", tt.body)
		if got := accepted.ID.MustBeNamed(); got != tt.want || !accepted.ID.IsTest() {
			t.Errorf("%s: %s must be named: %t; want %t", tt.name, accepted.ID, got, tt.want)
		}
	}
}
