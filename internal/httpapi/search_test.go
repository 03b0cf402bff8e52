package httpapi_test

import (
	"net/url"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

type foundList struct {
	Data []object `json:"data"`
}

const (
	searchTenant = "/v1/tenants/acme/search?q="
	searchAll    = "/v1/search?q="
)

func TestSearch(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	delivery, event, endpoint := e.dead.String(), string(e.dead.Event), string(e.dead.Endpoint)
	support := hook.Principal{Key: "key_support", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeRead}}
	tests := []struct {
		name   string
		by     hook.Principal
		target string
		want   string // kind and id; empty for nothing
	}{
		{name: "an event", by: reader, target: searchTenant + event, want: "event " + event},
		{name: "a delivery", by: reader, target: searchTenant + delivery, want: "delivery " + delivery},
		{name: "an address", by: reader, target: searchTenant + url.QueryEscape("https://example.com/console/t/acme/events/"+event+"?delivery="+delivery), want: "delivery " + delivery},
		{name: "an endpoint of any tenant", by: support, target: searchAll + endpoint, want: "endpoint " + endpoint},
		{name: "a uid", by: reader, target: searchTenant + "crm", want: "endpoint " + endpoint},
		{name: "a uid without a tenant", by: support, target: searchAll + "crm"},
		{name: "a tenant", by: support, target: searchAll + "acme", want: "tenant acme"},
		{name: "a job", by: owner, target: searchTenant + string(e.job), want: "replay " + string(e.job)},
		{name: "a job without the scope", by: reader, target: searchTenant + string(e.job)},
		{name: "another tenant's event", by: rival, target: "/v1/tenants/globex/search?q=" + event},
		{name: "an unknown event", by: rival, target: "/v1/tenants/globex/search?q=evt_00000000000000000000000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := get[foundList](t, e.bundle, tt.by, 200, "GET", tt.target, "")
			if tt.want == "" {
				if got.Data == nil || len(got.Data) > 0 {
					t.Errorf("GET %s = %v; want an empty list", tt.target, got.Data)
				}
				return
			}
			kind, id, _ := strings.Cut(tt.want, " ")
			if len(got.Data) != 1 || got.Data[0]["kind"] != kind || got.Data[0]["id"] != id || got.Data[0]["tenant"] != "acme" {
				t.Errorf("GET %s = %v; want %s", tt.target, got.Data, tt.want)
			}
		})
	}
}

func TestSearch_fields(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	w := e.do(t, reader, "GET", searchTenant+e.dead.String(), "")
	want := `{"data":[{"kind":"delivery","id":"` + e.dead.String() + `","tenant":"acme","name":"a","state":"dead","at":"2026-11-21T09:30:00.000Z"}]}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("GET search = %s; want %s", got, want)
	}
}

func TestSearch_refuses(t *testing.T) {
	t.Parallel()

	b := setup(t)
	tests := []struct{ name, query, field string }{
		{name: "no text", query: "", field: "q"},
		{name: "an empty text", query: "q=", field: "q"},
		{name: "white space", query: "q=%20%0a", field: "q"},
		{name: "a long text", query: "q=" + strings.Repeat("x", 257), field: "q"},
		{name: "two texts", query: "q=a&q=b", field: "q"},
		{name: "another parameter", query: "q=a&limit=5", field: "limit"},
	}
	for _, tt := range tests {
		for _, path := range []string{"/v1/search", "/v1/tenants/acme/search"} {
			t.Run(tt.name+" at "+path, func(t *testing.T) {
				t.Parallel()

				got := get[struct{ Errors []hook.FieldError }](t, b, admin, 400, "GET", path+"?"+tt.query, "")
				if len(got.Errors) != 1 || got.Errors[0].Field != tt.field {
					t.Errorf("GET %s?%s = %v; want an error of %s", path, tt.query, got.Errors, tt.field)
				}
			})
		}
	}
}
