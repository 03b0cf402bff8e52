package endpoint_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

// within is a bundle whose deployment lists a private network, for tenant acme alone.
func within(t *testing.T) *bundle {
	t.Helper()

	b := setup(t)
	list, err := private.Parse([]byte(`[{"cidrs": ["10.20.0.0/16"], "hosts": ["corp.internal", "example.com"], "ports": [443], "tenants": ["acme"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	b.Origins = endpoint.Origins{Regions: []string{"us-east-1"}, Private: list}
	return b
}

const erp = "https://erp.corp.internal/hooks"

func inside(f *endpoint.Fields) {
	f.URL, f.Egress = new(erp), new(hook.EgressPrivate)
}

// TestAdmin_Create_private checks what an endpoint with egress private may have, field by field.
func TestAdmin_Create_private(t *testing.T) {
	t.Parallel()

	oauth := func(url string) *hook.Auth {
		return &hook.Auth{Type: hook.AuthOAuth2, Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: url}}
	}
	tests := []struct {
		name   string
		tenant hook.TenantID
		edit   func(*endpoint.Fields)
		wrong  []string // empty: it is made
	}{
		{name: "a listed receiver", edit: inside},
		{name: "a listed token endpoint", edit: func(f *endpoint.Fields) { inside(f); f.Auth = oauth("https://login.corp.internal/token") }},
		{name: "a public token endpoint", edit: func(f *endpoint.Fields) { inside(f); f.Auth = oauth("https://login.example.org/token") }, wrong: []string{"auth.token_url"}},
		{name: "a token endpoint of AWS", edit: func(f *endpoint.Fields) {
			inside(f)
			f.Auth = oauth("https://cognito-idp.eu-west-1.amazonaws.com/token")
		}, wrong: []string{"auth.token_url"}},
		{name: "another host", edit: func(f *endpoint.Fields) { inside(f); f.URL = new("https://evilcorp.internal/hooks") }, wrong: []string{"url"}},
		{name: "another port", edit: func(f *endpoint.Fields) { inside(f); f.URL = new("https://erp.corp.internal:8443/hooks") }, wrong: []string{"url"}},
		{name: "with a region", edit: func(f *endpoint.Fields) { inside(f); f.Region = new("us-east-1") }, wrong: []string{"egress"}},
		{name: "the region's own word", edit: func(f *endpoint.Fields) { inside(f); f.Region = new(hook.PrivateRegion) }, wrong: []string{"region"}},
		{name: "the word alone", edit: func(f *endpoint.Fields) { f.Region = new(hook.PrivateRegion) }, wrong: []string{"region", "url"}},
		{name: "the word with fixed addresses", edit: func(f *endpoint.Fields) {
			f.URL, f.Region, f.Egress = new(erp), new(hook.PrivateRegion), new(hook.EgressFixed)
		}, wrong: []string{"region"}},
		{name: "a tenant without a list", tenant: "globex", edit: inside, wrong: []string{"egress"}},
		{name: "the private URL over the internet", edit: func(f *endpoint.Fields) { f.URL = new(erp) }, wrong: []string{"url"}},
		{name: "with a destination in AWS", edit: func(f *endpoint.Fields) {
			f.URL, f.Egress = new("https://sqs.eu-west-1.amazonaws.com/111122223333/orders"), new(hook.EgressPrivate)
			f.Destination = &hook.Destination{Type: "sqs", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/orders"}}
		}, wrong: []string{"egress"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := within(t)
			b.Destinations = hook.Destinations{RolePath: "/surehook/", Account: "444455556666"}
			of := tt.tenant
			if of == "" {
				of = tenant
			}
			var f endpoint.Fields
			tt.edit(&f)
			e, _, err := b.Create(t.Context(), of, f, "")
			if len(tt.wrong) > 0 {
				got := fieldsOf(t, err)
				slices.Sort(got)
				if got = slices.Compact(got); !slices.Equal(got, tt.wrong) {
					t.Errorf("Create refuses %v; want %v", got, tt.wrong)
				}
				return
			}
			if region, egress := e.Origin(); err != nil || region != "" || egress != hook.EgressPrivate || !e.Fixed || e.Region != hook.PrivateRegion {
				t.Errorf("Create = region %q, fixed %t, %v; want the private region, which older builds send nothing to", e.Region, e.Fixed, err)
			}
		})
	}
}

// TestAdmin_privateNeedsTheRight checks that a caller without the right makes no private endpoint, and
// changes, moves, pauses or deletes none.
func TestAdmin_privateNeedsTheRight(t *testing.T) {
	t.Parallel()

	b := within(t)
	e, _ := b.create(t, inside)
	open, _ := b.create(t, nil)
	ctx, ref := t.Context(), string(e.ID)
	limited := *b.Admin
	limited.PublicOnly = true
	limited.Prover = unasked{t}
	change := func(ref string, f endpoint.Fields) error {
		_, err := limited.Change(ctx, tenant, ref, 0, f)
		return err
	}
	for name, do := range map[string]func() error{
		"create": func() error {
			var f endpoint.Fields
			inside(&f)
			_, _, err := limited.Create(ctx, tenant, f, "")
			return err
		},
		"make private": func() error {
			return change(string(open.ID), endpoint.Fields{URL: new(erp), Egress: new(hook.EgressPrivate)})
		},
		"make public": func() error {
			return change(ref, endpoint.Fields{URL: new("https://example.com/x"), Egress: new(hook.EgressShared)})
		},
		"another path":           func() error { return change(ref, endpoint.Fields{URL: new(erp + "/x")}) },
		"another description":    func() error { return change(ref, endpoint.Fields{Description: new("x")}) },
		"nothing":                func() error { return change(ref, endpoint.Fields{}) },
		"the region of its form": func() error { return change(ref, endpoint.Fields{Region: new("")}) },
		"pause":                  func() error { _, err := limited.Pause(ctx, tenant, ref); return err },
		"delete":                 func() error { return limited.Delete(ctx, tenant, ref, 0) },
		"rotate":                 func() error { _, _, err := limited.Rotate(ctx, tenant, ref, "", 0); return err },
	} {
		if err := do(); hook.CodeOf(err) != hook.CodeForbidden {
			t.Errorf("%s = %v; want CodeForbidden", name, err)
		}
	}
	if got := b.stored(t, e.ID); got.Version != 1 || got.Status != hook.StatusActive {
		t.Errorf("the endpoint has version %d, %s; want it untouched", got.Version, got.Status)
	}
	if _, err := b.Change(ctx, tenant, ref, 0, endpoint.Fields{Region: new("")}); err != nil {
		t.Errorf("Change of the region to none = %v", err)
	}
	if got := b.stored(t, e.ID); !got.Private() {
		t.Errorf("an empty region made the endpoint region %q, fixed %t; want it private still", got.Region, got.Fixed)
	}
}

// unasked is a prover that nobody asks.
type unasked struct{ *testing.T }

func (u unasked) Prove(context.Context, hook.Endpoint, string) error {
	u.Error("the receiver is asked; want nobody asked")
	return nil
}

func (u unasked) ProveToken(ctx context.Context, e hook.Endpoint) error { return u.Prove(ctx, e, "") }

// TestAdmin_Change_network checks that one URL in two networks counts as two receivers: stored secrets
// must be given again, and the receiver is asked again.
func TestAdmin_Change_network(t *testing.T) {
	t.Parallel()

	b := within(t)
	e, _ := b.create(t, func(f *endpoint.Fields) {
		f.Headers = &map[string]string{"X-Key": "k"}
		f.Auth = &hook.Auth{Type: hook.AuthOAuth2, Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: "https://example.com/token"}}
	})
	asked := new(counting)
	b.Prover = asked
	_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Egress: new(hook.EgressPrivate)})
	if got := fieldsOf(t, err); !slices.Equal(got, []string{"auth.client_secret", "headers.X-Key"}) || asked.urls+asked.tokens != 0 {
		t.Errorf("Change refuses %v after %d questions; want both secrets, and nobody asked", got, asked.urls+asked.tokens)
	}
	auth := e.Auth
	auth.Secret, auth.Sealed = "secret", nil
	moved, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{
		Egress: new(hook.EgressPrivate), Headers: &map[string]string{"X-Key": "k"}, Auth: &auth,
	})
	if err != nil || !moved.Private() || asked.urls != 1 || asked.tokens != 1 {
		t.Errorf("Change = private %t, %v, asked %d and %d; want it private, receiver and token endpoint asked", moved.Private(), err, asked.urls, asked.tokens)
	}
}

type counting struct{ urls, tokens int }

func (c *counting) Prove(_ context.Context, e hook.Endpoint, _ string) error {
	if !e.Private() {
		return errors.New("asked over the internet")
	}
	c.urls++
	return nil
}

func (c *counting) ProveToken(_ context.Context, e hook.Endpoint) error {
	if !e.Private() {
		return errors.New("asked over the internet")
	}
	c.tokens++
	return nil
}
