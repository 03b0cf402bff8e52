package endpoint_test

import (
	"bytes"
	"fmt"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// authorizationOf returns the header of the stored authentication.
func authorizationOf(t *testing.T, e hook.Endpoint) string {
	t.Helper()

	if e.Auth.Type == hook.AuthNone {
		return ""
	}
	text, err := memory.Vault{}.Open(t.Context(), e.Auth.Sealed, e.Tenant, e.ID)
	secret, ok := hook.AuthSecret(e.Auth.Type, text)
	if err != nil || !ok {
		t.Fatalf("Open() = %q, %v; want the text of the authentication", text, err)
	}
	return e.Auth.Authorization(secret)
}

// TestAdmin_auth changes the authentication step by step. The stored record holds no
// secret in clear.
func TestAdmin_auth(t *testing.T) {
	t.Parallel()

	b := setup(t)
	bearer := func(token string) *hook.Auth { return &hook.Auth{Type: hook.AuthBearer, Secret: token} }
	basic := func(username, password string) *hook.Auth {
		return &hook.Auth{Type: hook.AuthBasic, Username: username, Secret: password}
	}
	oauth := func(url, secret string) *hook.Auth {
		return &hook.Auth{Type: hook.AuthOAuth2, Secret: secret, OAuth: hook.OAuth{TokenURL: url, ClientID: "c"}}
	}
	e, _, err := b.Create(t.Context(), "acme", endpoint.Fields{URL: new("https://example.com/"), Auth: bearer("hush1")}, "")
	if err != nil {
		t.Fatal(err)
	}
	const pair = "Basic dTpodXNoMw==" // u:hush3
	for _, step := range []struct {
		name    string
		change  endpoint.Fields
		want    string
		version int64
		code    hook.Code
	}{
		{name: "created", change: endpoint.Fields{}, want: "Bearer hush1", version: 1},
		{name: "another token", change: endpoint.Fields{Auth: bearer("hush2")}, want: "Bearer hush2", version: 2},
		{name: "the same token", change: endpoint.Fields{Auth: bearer("hush2")}, want: "Bearer hush2", version: 3},
		{name: "as shown", change: endpoint.Fields{Auth: bearer("***")}, want: "Bearer hush2", version: 3},
		{name: "the mask of another type", change: endpoint.Fields{Auth: basic("u", "***")}, want: "Bearer hush2", version: 3, code: hook.CodeInvalid},
		{name: "a header beside", change: endpoint.Fields{Headers: &map[string]string{"authorization": "x"}}, want: "Bearer hush2", version: 3, code: hook.CodeInvalid},
		{name: "basic", change: endpoint.Fields{Auth: basic("u", "hush3")}, want: pair, version: 4},
		{name: "another user with the stored password", change: endpoint.Fields{Auth: basic("u2", "***")}, want: "Basic dTI6aHVzaDM=", version: 5},
		{name: "another field", change: endpoint.Fields{Description: new("d")}, want: "Basic dTI6aHVzaDM=", version: 6},
		{name: "none, and a header instead", change: endpoint.Fields{Auth: &hook.Auth{}, Headers: &map[string]string{"Authorization": "x"}}, want: "", version: 7},
		{name: "beside the header", change: endpoint.Fields{Auth: bearer("hush4")}, want: "", version: 7, code: hook.CodeInvalid},
		{name: "instead of the header", change: endpoint.Fields{Auth: bearer("hush4"), Headers: &map[string]string{"Authorization": ""}}, want: "Bearer hush4", version: 8},
		{name: "a client", change: endpoint.Fields{Auth: oauth("https://id.example.com/", "hush5")}, want: "Bearer hush5", version: 9},
		{name: "the client as shown", change: endpoint.Fields{Auth: oauth("https://id.example.com/", "***")}, want: "Bearer hush5", version: 9},
		{name: "the client as shown, with a pasted line break", change: endpoint.Fields{Auth: oauth("https://id.example.com/\n", "***")}, want: "Bearer hush5", version: 9},
		{name: "the client secret to another server", change: endpoint.Fields{Auth: oauth("https://evil.example.com/", "***")}, want: "Bearer hush5", version: 9, code: hook.CodeInvalid},
		{name: "a private token endpoint", change: endpoint.Fields{Auth: oauth("https://10.0.0.1/", "hush6")}, want: "Bearer hush5", version: 9, code: hook.CodeInvalid},
		{name: "another token endpoint", change: endpoint.Fields{Auth: oauth("https://id2.example.com/", "hush6")}, want: "Bearer hush6", version: 10},
	} {
		changed, err := b.Change(t.Context(), "acme", string(e.ID), 0, step.change)
		if (err == nil) != (step.code == 0) || err != nil && hook.CodeOf(err) != step.code || changed.Auth.Secret != "" {
			t.Fatalf("%s: Change = %+v, %v; want code %v, and no secret in clear", step.name, changed.Auth, err, step.code)
		}
		stored, err := b.store.Endpoint(t.Context(), "acme", e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := authorizationOf(t, stored); got != step.want || stored.Version != step.version {
			t.Errorf("after %s: %q in version %d; want %q in version %d", step.name, got, stored.Version, step.want, step.version)
		}
		if bytes.Contains(fmt.Append(nil, stored), []byte("hush")) {
			t.Errorf("after %s: the record %v holds the secret in clear", step.name, stored)
		}
	}
}
