package httpapi_test

import (
	"testing"

	"surehook/internal/admin/endpoint"
)

func TestEgress(t *testing.T) {
	t.Parallel()

	const path = "/v1/tenants/acme/egress"
	b := setup(t)
	if w := b.do(t, reader, "GET", path, ""); w.Code != 200 || w.Body.String() != `{"regions":["us-east-1","ap-southeast-2"],"addresses":["203.0.113.10"]}` {
		t.Errorf("GET = %d %s; want the regions and addresses of the deployment", w.Code, w.Body)
	}
	b.admin.Origins = endpoint.Origins{}
	if w := b.do(t, reader, "GET", path, ""); w.Code != 200 || w.Body.String() != `{"regions":[],"addresses":[]}` {
		t.Errorf("GET = %d %s; want empty lists", w.Code, w.Body)
	}
}

// An origin that the deployment does not have is refused by name, at the creation and at
// a change.
func TestEndpoints_places(t *testing.T) {
	t.Parallel()

	const fixedElsewhere = "must be shared with a region: the fixed addresses are in the deployment's own region"
	tests := []struct {
		name, fields string
		origins      endpoint.Origins
		want         string // of the refusal
	}{
		{name: "an unknown region", fields: `"region":"eu-north-1"`, origins: origins(), want: invalid("region", "must be empty, for the deployment's own region, or one of us-east-1, ap-southeast-2")},
		{name: "a region without senders", fields: `"region":"us-east-1"`, want: invalid("region", "must be empty: this deployment sends from its own region only")},
		{name: "an unknown egress", fields: `"egress":"nat"`, origins: origins(), want: invalid("egress", "must be one of shared, fixed")},
		{name: "no fixed addresses", fields: `"egress":"fixed"`, want: invalid("egress", "must be shared: this deployment has no fixed addresses")},
		{name: "fixed addresses in another region", fields: `"region":"us-east-1","egress":"fixed"`, origins: origins(), want: invalid("egress", fixedElsewhere)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.admin.Origins = tt.origins
			if w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/",`+tt.fields+`}`); w.Code != 400 || w.Body.String() != tt.want {
				t.Errorf("POST = %d %s; want 400 %s", w.Code, w.Body, tt.want)
			}
			b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
			if w := b.do(t, owner, "PATCH", endpoints+"/crm", `{`+tt.fields+`}`); w.Code != 400 || w.Body.String() != tt.want {
				t.Errorf("PATCH = %d %s; want 400 %s", w.Code, w.Body, tt.want)
			}
		})
	}
}

// An endpoint leaves its region with the empty text, also when the deployment no longer
// has the region.
func TestEndpoints_leaveARegion(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm","region":"us-east-1"}`)
	b.admin.Origins = endpoint.Origins{}
	e := get[object](t, b, owner, 200, "PATCH", endpoints+"/crm", `{"region":""}`)
	if e["region"] != "" || e["version"] != 2.0 {
		t.Errorf("PATCH = region %v, version %v; want the own region in version 2", e["region"], e["version"])
	}
}
