package httpapi_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

func TestEgress(t *testing.T) {
	t.Parallel()

	const path = "/v1/tenants/acme/egress"
	b := setup(t)
	if w := b.do(t, reader, "GET", path, ""); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `{"regions":["us-east-1","ap-southeast-2"],"addresses":["203.0.113.10"],"private":false,"signature_profiles":[`) {
		t.Errorf("GET = %d %s; want the regions and addresses of the deployment", w.Code, w.Body)
	}
	b.admin.Origins = endpoint.Origins{}
	if w := b.do(t, reader, "GET", path, ""); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `{"regions":[],"addresses":[],"private":false,`) {
		t.Errorf("GET = %d %s; want empty lists", w.Code, w.Body)
	}
}

// confirming is a prover: only the receivers at example.com confirm.
type confirming struct{}

func (confirming) Prove(_ context.Context, e hook.Endpoint, _ string) error {
	if strings.HasPrefix(e.URL, "https://example.com/") {
		return nil
	}
	return &hook.Error{Code: hook.CodeUnverified, Message: "not its own", Fields: []hook.FieldError{{Field: "url", Message: "could not be verified"}}}
}

func (confirming) ProveToken(context.Context, hook.Endpoint) error { return nil }

// A deployment may ask receivers: whoever does not confirm gets no endpoint, and the record of the
// change says so.
func TestEndpoints_verification(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"before"}`)
	b.admin.Prover = confirming{}
	if w := b.do(t, reader, "GET", "/v1/tenants/acme/egress", ""); !strings.Contains(w.Body.String(), `"url_verification":true`) {
		t.Errorf("GET egress = %s; want url_verification", w.Body)
	}
	const refusal = `{"type":"about:blank","title":"Unprocessable Entity","status":422,"code":"url_not_verified","detail":"not its own","errors":[{"field":"url","message":"could not be verified"}]}`
	if w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.org/","uid":"theirs"}`); w.Code != 422 || w.Body.String() != refusal {
		t.Errorf("POST = %d %s; want 422 %s", w.Code, w.Body, refusal)
	}
	if w := b.do(t, owner, "PATCH", endpoints+"/before", `{"url":"https://example.org/"}`); w.Code != 422 || w.Body.String() != refusal {
		t.Errorf("PATCH = %d %s; want 422 %s", w.Code, w.Body, refusal)
	}
	if w := b.do(t, reader, "GET", endpoints, ""); strings.Contains(w.Body.String(), "example.org") {
		t.Errorf("GET = %s; want no endpoint at the refused URL", w.Body)
	}
	if w := b.do(t, admin, "GET", "/v1/tenants/acme/audit", ""); strings.Count(w.Body.String(), `"outcome":"refused","code":"url_not_verified"`) != 2 {
		t.Errorf("GET audit = %s; want two refusals", w.Body)
	}
	b.create(t, `{"url":"https://example.com/new","uid":"after"}`)
}

// An origin that the deployment does not have is refused, and the error names it, when an
// endpoint is created and when it is changed.
func TestEndpoints_places(t *testing.T) {
	t.Parallel()

	const fixedElsewhere = "must be shared with a region: fixed addresses and the private network are in the deployment's own region"
	noNetwork := invalid("egress", "must not be private: this deployment lists no private receivers of the tenant")
	tests := []struct {
		name, fields string
		origins      endpoint.Origins
		want         string // of the refusal
	}{
		{name: "an unknown region", fields: `"region":"eu-north-1"`, origins: origins(), want: invalid("region", "must be empty, for the deployment's own region, or one of us-east-1, ap-southeast-2")},
		{name: "a region without senders", fields: `"region":"us-east-1"`, want: invalid("region", "must be empty: this deployment sends from its own region only")},
		{name: "an unknown egress", fields: `"egress":"nat"`, origins: origins(), want: invalid("egress", "must be one of shared, fixed, private")},
		{name: "no private network", fields: `"egress":"private"`, want: noNetwork},
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

// An endpoint can leave its region with an empty text, even if the deployment no longer has the
// region.
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

// TestEgress_profiles checks that endpoints can name the profiles of Surehook and of the
// deployment, and that weak ones have warnings.
func TestEgress_profiles(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.admin.Profiles = map[string]hook.SignatureProfile{"acme": {
		Name: "acme", Signed: "{body}", Algorithm: "sha1", Encoding: "hex", Key: "text", Headers: map[string]string{"X-Acme": "{signature}"},
	}}
	var got struct {
		Profiles []struct {
			Name     string   `json:"name"`
			Warnings []string `json:"warnings"`
		} `json:"signature_profiles"`
	}
	if err := json.Unmarshal(b.do(t, reader, "GET", "/v1/tenants/acme/egress", "").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	weak := map[string]int{"acme": 2, "classic": 1, "github": 1, "shopify": 1}
	for _, p := range got.Profiles {
		if len(p.Warnings) != weak[p.Name] {
			t.Errorf("%s has the warnings %q; want %d", p.Name, p.Warnings, weak[p.Name])
		}
		b.create(t, `{"url":"https://example.com/`+p.Name+`","signature_profiles":["`+p.Name+`"]}`)
	}
	if len(got.Profiles) != 8 {
		t.Errorf("profiles = %v; want 7 of Surehook, and acme", got.Profiles)
	}
	w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/","signature_profiles":["none"]}`)
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"signature_profiles[0]","message":"must be one of acme, classic, github, shopify, slack, standard, stripe, svix"`) {
		t.Errorf("an unknown profile = %d %s", w.Code, w.Body)
	}
}

// TestEndpoints_profileStays checks that an endpoint keeps the profile with which it was saved,
// because receivers rely on it.
func TestEndpoints_profileStays(t *testing.T) {
	t.Parallel()

	b := setup(t)
	acme := hook.SignatureProfile{Signed: "{timestamp}.{body}", Algorithm: "sha256", Encoding: "hex", Key: "text", Headers: map[string]string{"X-Acme": "{timestamp} {signature}"}}
	b.admin.Profiles, b.admin.NewProfiles = map[string]hook.SignatureProfile{"acme": acme}, []string{"acme"}
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	b.admin.Profiles = nil
	for _, body := range []string{`{"signature_profiles":["acme","standard"]}`, `{"description":"d"}`} {
		get[object](t, b, owner, 200, "PATCH", endpoints+"/crm", body)
	}
	e, err := b.admin.Get(t.Context(), "acme", "crm")
	if err != nil || len(e.Profiles) != 2 || e.Profiles[0].Signed != acme.Signed || e.Profiles[1].Own() {
		t.Errorf("profiles = %+v, %v; want the one of the creation, and standard", e.Profiles, err)
	}
	got := get[shown](t, b, reader, 200, "POST", endpoints+"/crm/preview", `{"event_type":"a","payload":{}}`)
	if !strings.HasPrefix(got.Request.Headers["X-Acme"], "1795253400 ") || got.Request.Headers["Webhook-Signature"] == "" {
		t.Errorf("headers = %v; want those of both profiles", got.Request.Headers)
	}
}
