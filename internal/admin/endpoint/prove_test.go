package endpoint_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/certificate"
)

// receivers is a Prover: the receivers at some URLs do not confirm.
type receivers struct {
	asked   []hook.Endpoint
	secrets []string // given with them
	tokens  []string // token endpoints that were asked
	refuse  []string
}

func (r *receivers) Prove(_ context.Context, e hook.Endpoint, secret string) error {
	e.Headers = maps.Clone(e.Headers)
	r.asked, r.secrets = append(r.asked, e), append(r.secrets, secret)
	if slices.Contains(r.refuse, e.URL) {
		return &hook.Error{Code: hook.CodeUnverified, Message: "no"}
	}
	return nil
}

// ProveToken notes the token endpoint as asked.
func (r *receivers) ProveToken(_ context.Context, e hook.Endpoint) error {
	if e.Auth.Secret == "" {
		return errors.New("no secret of the client")
	}
	r.tokens = append(r.tokens, e.Auth.OAuth.TokenURL)
	if slices.Contains(r.refuse, e.Auth.OAuth.TokenURL) {
		return &hook.Error{Code: hook.CodeUnverified, Message: "no"}
	}
	return nil
}

func (r *receivers) urls() (all []string) {
	for _, e := range r.asked {
		all = append(all, e.URL)
	}
	return all
}

func TestAdmin_Create_asksTheReceiver(t *testing.T) {
	t.Parallel()

	b, r := setup(t), &receivers{refuse: []string{"https://example.com/theirs"}}
	b.Prover = r
	if _, _, err := b.Create(t.Context(), tenant, endpoint.Fields{URL: new("https://example.com/theirs")}, ""); hook.CodeOf(err) != hook.CodeUnverified {
		t.Errorf("Create = %v; want url_not_verified", err)
	}
	if all, err := b.store.Endpoints(t.Context(), tenant); err != nil || len(all) != 0 {
		t.Errorf("Endpoints = %v, %v; want none", all, err)
	}
	if _, _, err := b.Create(t.Context(), tenant, endpoint.Fields{URL: new("https://10.0.0.1/")}, ""); hook.CodeOf(err) != hook.CodeInvalid {
		t.Errorf("Create = %v; want invalid", err)
	}
	e, secret := b.create(t, func(f *endpoint.Fields) {
		f.Headers = &map[string]string{"X-Team": "crm"}
		f.Auth = &hook.Auth{Type: hook.AuthBearer, Secret: "token"}
	})
	if diff := cmp.Diff([]string{"https://example.com/theirs", "https://example.com/hooks"}, r.urls()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if r.secrets[1] != secret {
		t.Errorf("asked with the secret %q; want that of the answer, %q", r.secrets[1], secret)
	}
	if last := r.asked[1]; last.ID != e.ID || last.Headers["X-Team"] != "crm" || last.Auth.Secret != "token" {
		t.Errorf("asked as %+v; want the endpoint with its values in clear", last)
	}
}

// A change asks the receiver of another URL, once: also when other changes come in between.
func TestAdmin_Change_asksTheReceiver(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	r := &receivers{refuse: []string{"https://example.com/theirs"}}
	b.Prover = r
	b.Store = &rival{Store: b.store, writes: 1}
	for _, f := range []endpoint.Fields{
		{Description: new("same url")},
		{URL: new("https://example.com/hooks"), Description: new("the same, given again")},
		{URL: new("http://example.com/")},
	} {
		_, _ = b.Change(t.Context(), tenant, string(e.ID), 0, f)
	}
	if len(r.asked) != 0 {
		t.Errorf("asked %q; want nobody", r.urls())
	}
	if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: new("https://example.com/theirs")}); hook.CodeOf(err) != hook.CodeUnverified {
		t.Errorf("Change = %v; want url_not_verified", err)
	}
	if got := b.stored(t, e.ID).URL; got != e.URL {
		t.Errorf("stored URL = %s; want %s", got, e.URL)
	}
	b.Store = &moving{rival{Store: b.store, writes: 2}}
	if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: new("https://example.com/mine")}); err != nil {
		t.Errorf("Change = %v", err)
	}
	if diff := cmp.Diff([]string{"https://example.com/theirs", "https://example.com/mine"}, r.urls()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if r.secrets[1] != "" {
		t.Error("asked with a secret; want none, for nobody here can read a stored one")
	}
}

// moving is rival for moves.
type moving struct{ rival }

func (m *moving) MoveEndpoint(ctx context.Context, e hook.Endpoint, from string) error {
	if m.writes > 0 {
		m.writes--
		other, err := m.Endpoint(ctx, e.Tenant, e.ID)
		if err != nil {
			return err
		}
		other.Description += "x"
		if err := m.Store.UpdateEndpoint(ctx, other); err != nil {
			return err
		}
	}
	return m.Store.MoveEndpoint(ctx, e, from)
}

// The receiver at another path is asked with the stored authorities: they are no secret.
func TestAdmin_Change_asksWithTheStoredAuthorities(t *testing.T) {
	t.Parallel()

	b, r := setup(t), new(receivers)
	ca, _ := certificate.Authority(t, "receiver")
	e, _ := b.create(t, func(f *endpoint.Fields) { f.TLS = &hook.Material{CA: ca} })
	b.Prover = r
	if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: new("https://example.com/other")}); err != nil {
		t.Fatalf("Change = %v", err)
	}
	if len(r.asked) != 1 || r.asked[0].TLS.Material == nil || r.asked[0].TLS.Material.CA != ca {
		t.Errorf("asked %+v; want the stored authorities", r.asked)
	}
	if stored, err := b.store.TLSMaterial(t.Context(), tenant, e.ID); err != nil || stored.CA != ca {
		t.Errorf("TLSMaterial = %+v, %v; want it unchanged", stored, err)
	}
}

// A destination in AWS has its role as a proof. Its URL needs another one as a receiver of HTTP.
func TestAdmin_asksNobodyForADestination(t *testing.T) {
	t.Parallel()

	b, r := setup(t), new(receivers)
	b.Prover = r
	b.Destinations = hook.Destinations{RolePath: "/surehook/", Account: "999988887777"}
	f := endpoint.Fields{
		URL:         new("https://sqs.eu-west-1.amazonaws.com/111122223333/orders"),
		Destination: &hook.Destination{Type: "sqs", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/orders"}},
	}
	e, _, err := b.Create(t.Context(), tenant, f, "")
	if err != nil || len(r.asked) != 0 {
		t.Fatalf("Create = %v, asked %q; want nobody asked", err, r.urls())
	}
	if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Destination: new(hook.Destination)}); err != nil {
		t.Errorf("Change = %v", err)
	}
	if diff := cmp.Diff([]string{e.URL}, r.urls()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// The token endpoint gets a request with each new token, so it is asked when an endpoint first names
// its origin.
func TestAdmin_asksTheTokenEndpoint(t *testing.T) {
	t.Parallel()

	oauth := func(url string) *hook.Auth {
		return &hook.Auth{Type: hook.AuthOAuth2, Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: url}}
	}
	b, r := setup(t), &receivers{refuse: []string{"https://theirs.example.com/token"}}
	b.Prover = r
	_, _, err := b.Create(t.Context(), tenant, endpoint.Fields{URL: new("https://example.com/hooks"), Auth: oauth("https://theirs.example.com/token")}, "")
	if all, listed := b.store.Endpoints(t.Context(), tenant); hook.CodeOf(err) != hook.CodeUnverified || listed != nil || len(all) != 0 {
		t.Errorf("Create = %v, with %d endpoints; want url_not_verified, and none", err, len(all))
	}
	e, _ := b.create(t, nil)
	for _, tt := range []struct {
		auth  *hook.Auth
		asked bool
		code  hook.Code
	}{
		{auth: oauth("https://id.example.com/token"), asked: true},
		{auth: oauth("https://id.example.com/token")},
		{auth: oauth("https://id.example.com/v2/token")},
		{auth: oauth("https://theirs.example.com/token"), asked: true, code: hook.CodeUnverified},
		{auth: oauth("https://id.example.com:8443/token"), asked: true},
		{auth: &hook.Auth{Type: hook.AuthBearer, Secret: "token"}},
		{auth: oauth("https://id.example.com:8443/token"), asked: true},
	} {
		r.tokens = nil
		_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Auth: tt.auth})
		if tt.code == 0 && err != nil || tt.code != 0 && hook.CodeOf(err) != tt.code || (len(r.tokens) == 1) != tt.asked {
			t.Errorf("Change to %s = %v, and asked %q; want code %v, and asked: %t", tt.auth.OAuth.TokenURL, err, r.tokens, tt.code, tt.asked)
		}
	}
}
