package httpapi_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
)

const toQueue = `"url":"https://sqs.eu-west-1.amazonaws.com/111122223333/orders","destination":{"type":"sqs","role_arn":"arn:aws:iam::111122223333:role/surehook/orders"}`

func destinations() hook.Destinations {
	return hook.Destinations{RolePath: "/surehook/", Account: "999988887777", Principal: "arn:aws:iam::999988887777:role/deliver"}
}

// typeNames returns the names of all types, http first, with commas between them.
func typeNames() string {
	var names []string
	for _, name := range destination.Names() {
		names = append(names, name.String())
	}
	return strings.Join(names, ", ")
}

func TestEgress_destinations(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.admin.Destinations = destinations()
	types := strings.Join(strings.Split(typeNames(), ", ")[1:], `","`)
	want := `"destinations":{"types":["` + types + `"],"role_path":"/surehook/","principal":"arn:aws:iam::999988887777:role/deliver"},`
	if w := b.do(t, reader, "GET", "/v1/tenants/acme/egress", ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
		t.Errorf("GET = %d %s; want %s", w.Code, w.Body, want)
	}
}

// An endpoint gets its external id with its first AWS destination, and keeps it.
func TestEndpoints_destination(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.admin.Destinations = destinations()
	destination := func(e object) object { d, _ := e["destination"].(object); return d }

	first := destination(b.create(t, `{`+toQueue+`,"uid":"a"}`))
	if first["type"] != "sqs" || first["role_arn"] != "arn:aws:iam::111122223333:role/surehook/orders" || first["external_id"] == "" {
		t.Errorf("destination = %v; want the queue with an external id", first)
	}
	if other := destination(b.create(t, `{`+toQueue+`,"uid":"b"}`)); other["external_id"] == first["external_id"] {
		t.Errorf("two endpoints have the external id %v", other["external_id"])
	}
	if e := b.create(t, `{"url":"https://example.com/","uid":"c"}`); e["destination"] != nil {
		t.Errorf("destination of http = %v; want none", e["destination"])
	}
	if e := get[object](t, b, owner, 200, "PATCH", endpoints+"/c", `{`+toQueue+`}`); destination(e)["external_id"] == nil {
		t.Errorf("destination after http = %v; want an external id", e["destination"])
	}
	for _, body := range []string{
		`{"url":"https://example.com/","destination":{"type":"http"}}`,
		`{"url":"arn:aws:events:eu-west-1:111122223333:event-bus/o","destination":{"type":"eventbridge","source":"shop","role_arn":"arn:aws:iam::111122223333:role/surehook/o"}}`,
		`{"url":"https://sqs.eu-west-1.amazonaws.com/111122223333/o.fifo","destination":{"type":"sqs_fifo","group_by":"","role_arn":"arn:aws:iam::111122223333:role/surehook/o"}}`,
		`{"description":"x"}`,
	} {
		if e := get[object](t, b, owner, 200, "PATCH", endpoints+"/a", body); destination(e)["external_id"] != first["external_id"] {
			t.Errorf("PATCH %s: destination = %v; want the external id %v", body, e["destination"], first["external_id"])
		} else if _, has := destination(e)["group_by"]; has {
			t.Errorf("PATCH %s: destination = %v; want no empty setting", body, e["destination"])
		}
	}
}

func TestEndpoints_wrongDestination(t *testing.T) {
	t.Parallel()

	const role = `"role_arn":"arn:aws:iam::111122223333:role/surehook/orders"`
	tests := []struct {
		name, body string
		off        bool
		want       string
	}{
		{name: "no type", body: `{"url":"https://example.com/","destination":{}}`, want: invalid("destination.type", "must be one of "+typeNames())},
		{name: "an unknown type", body: `{"url":"https://example.com/","destination":{"type":"smtp"}}`, want: invalid("destination.type", "must be one of "+typeNames())},
		{name: "an external id of the caller", body: `{"url":"https://example.com/","destination":{"type":"http","external_id":"mine"}}`, want: invalid("destination.external_id", "must be removed: http has no such setting")},
		{name: "a deployment with HTTP only", body: `{` + toQueue + `}`, off: true, want: invalid("destination.type", "must be http: this deployment has no destinations in AWS")},
		{name: "the own account", body: `{"url":"https://sqs.eu-west-1.amazonaws.com/999988887777/live","destination":{"type":"sqs",` + role + `}}`, want: invalid("url", "must not be in the account of Surehook")},
		{name: "an ARN for http", body: `{"url":"arn:aws:events:eu-west-1:111122223333:event-bus/o"}`, want: `"field":"url"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			if !tt.off {
				b.admin.Destinations = destinations()
			}
			if w := b.do(t, owner, "POST", endpoints, tt.body); w.Code != 400 || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("POST = %d %s; want 400 %s", w.Code, w.Body, tt.want)
			}
			b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
			if w := b.do(t, owner, "PATCH", endpoints+"/crm", tt.body); w.Code != 400 || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("PATCH = %d %s; want 400 %s", w.Code, w.Body, tt.want)
			}
		})
	}
}
