package person_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/person"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// rsaKeys are made once: they take long.
var rsaKeys = sync.OnceValue(func() [3]*rsa.PrivateKey {
	var all [3]*rsa.PrivateKey
	for i := range all {
		all[i], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return all
})

// issuer is an issuer on loopback with the keys of its document, and a clock.
type issuer struct {
	*httptest.Server

	mu      sync.Mutex
	now     time.Time
	keys    []any // of the document
	down    bool
	fetches int // of the keys
	named   string
	people  apikey.People
}

const client = "surehook-console"

func newIssuer(t *testing.T) *issuer {
	t.Helper()

	i := &issuer{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.named, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.fetches++
		if i.down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": i.keys})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	i.named = i.URL
	i.publish(rsaKeys()[0], "a")
	people, err := person.New(names.SignIn{Issuer: i.URL, ClientID: client, Roles: "operator=ops;support=desk;read-only=CN=all,OU=groups"},
		slog.New(slog.DiscardHandler), i.clock)
	if err != nil {
		t.Fatal(err)
	}
	i.people = people
	return i
}

func (i *issuer) clock() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now
}

func (i *issuer) wait(d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now = i.now.Add(d)
}

// publish replaces the keys of the document by the key.
func (i *issuer) publish(key crypto.Signer, id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = []any{jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"}}
}

func (i *issuer) set(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// claims returns good claims with the changes; a nil removes a claim.
func (i *issuer) claims(changes map[string]any) map[string]any {
	now := i.clock().Unix()
	all := map[string]any{
		"iss": i.URL, "aud": client, "sub": "248289761001", "exp": now + 3600, "iat": now, "email": "ann@example.com", "email_verified": true, "groups": []string{"ops"},
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header, claims map[string]any) string {
	t.Helper()

	options := new(jose.SignerOptions)
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (i *issuer) token(t *testing.T, changes map[string]any) string {
	t.Helper()

	return sign(t, jose.RS256, rsaKeys()[0], map[string]any{"kid": "a", "typ": "JWT"}, i.claims(changes))
}

func (i *issuer) identify(token string) (hook.Principal, error) {
	return i.people.Identify(context.Background(), token)
}

func TestIdentify(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	want := hook.Principal{
		Key: "user:ann@example.com", Name: "ann@example.com (248289761001)", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin},
		Restriction: hook.Restriction{ExpiresAt: i.now.Add(time.Hour + person.Leeway)},
	}
	if got, err := i.identify(i.token(t, nil)); err != nil || !cmp.Equal(got, want) {
		t.Errorf("Identify = %+v, %v; want %+v", got, err, want)
	}
}

func TestIdentify_claims(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	now := i.now.Unix()
	huge := strings.Repeat("g", person.MaxToken)
	tests := []struct {
		name    string
		changes map[string]any
		known   bool
	}{
		{name: "good claims", known: true},
		{name: "another issuer", changes: map[string]any{"iss": "https://evil.example"}},
		{name: "an issuer that begins alike", changes: map[string]any{"iss": i.URL + "/"}},
		{name: "no issuer", changes: map[string]any{"iss": nil}},
		{name: "another audience", changes: map[string]any{"aud": "other"}},
		{name: "no audience", changes: map[string]any{"aud": nil}},
		{name: "an audience that is a number", changes: map[string]any{"aud": 7}},
		{name: "two audiences, issued to this client", changes: map[string]any{"aud": []string{"other", client}, "azp": client}, known: true},
		{name: "two audiences, issued to another client", changes: map[string]any{"aud": []string{"other", client}, "azp": "other"}},
		{name: "two audiences, issued to nobody", changes: map[string]any{"aud": []string{"other", client}}},
		{name: "issued to another client", changes: map[string]any{"azp": "other"}},
		{name: "an access token of Keycloak", changes: map[string]any{"typ": "Bearer"}},
		{name: "a logout token of Keycloak", changes: map[string]any{"typ": "Logout"}},
		{name: "an ID token of Keycloak", changes: map[string]any{"typ": "ID"}, known: true},
		{name: "an access token of Cognito", changes: map[string]any{"token_use": "access"}},
		{name: "an ID token of Cognito", changes: map[string]any{"token_use": "id"}, known: true},
		{name: "a logout token", changes: map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}},
		{name: "a party that is a list", changes: map[string]any{"azp": []string{client}}},
		{name: "expired within the leeway", changes: map[string]any{"exp": now - 30}, known: true},
		{name: "expired", changes: map[string]any{"exp": now - 31}},
		{name: "no expiry", changes: map[string]any{"exp": nil}},
		{name: "an expiry that is a text", changes: map[string]any{"exp": "9999999999"}},
		{name: "not before a time within the leeway", changes: map[string]any{"nbf": now + 30}, known: true},
		{name: "not valid yet", changes: map[string]any{"nbf": now + 31}},
		{name: "issued in the future", changes: map[string]any{"iat": now + 31}},
		{name: "no subject", changes: map[string]any{"sub": nil}},
		{name: "a subject that is a number", changes: map[string]any{"sub": 7}},
		{name: "a huge token", changes: map[string]any{"groups": huge}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := i.identify(i.token(t, tt.changes))
			switch {
			case tt.known && (err != nil || got.Key != "user:ann@example.com"):
				t.Errorf("Identify = %+v, %v; want Ann", got, err)
			case !tt.known && (err == nil || hook.CodeOf(err) != hook.CodeUnauthorized || !cmp.Equal(got, hook.Principal{})):
				t.Errorf("Identify = %+v, %v; want CodeUnauthorized", got, err)
			}
		})
	}
}

func TestIdentify_signatures(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	key := rsaKeys()[0]
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte(strings.Repeat("s", 32))
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	i.keys = append(i.keys,
		jose.JSONWebKey{Key: elliptical.Public(), KeyID: "e"}, jose.JSONWebKey{Key: edwards.Public(), KeyID: "o"},
		jose.JSONWebKey{Key: secret, KeyID: "s"}, jose.JSONWebKey{Key: elliptical, KeyID: "private"},
		jose.JSONWebKey{Key: key.Public(), KeyID: "enc", Use: "enc"}, jose.JSONWebKey{Key: key.Public(), KeyID: "p", Algorithm: "PS256"},
		map[string]any{"kty": "new", "kid": "n"}, "no key",
	)
	claims := i.claims(nil)
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"a"}`)) + "." + strings.Split(i.token(t, nil), ".")[1] + "."
	good := i.token(t, nil)
	parts := strings.Split(good, ".")
	forged, err := json.Marshal(i.claims(map[string]any{"sub": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	kid := func(id string) map[string]any { return map[string]any{"kid": id} }
	tests := []struct {
		name, token string
		known       bool
	}{
		{name: "RS256", token: good, known: true},
		{name: "RS256 without a type", token: sign(t, jose.RS256, key, kid("a"), claims), known: true},
		{name: "PS256", token: sign(t, jose.PS256, key, kid("a"), claims), known: true},
		{name: "ES256", token: sign(t, jose.ES256, elliptical, kid("e"), claims), known: true},
		{name: "EdDSA", token: sign(t, jose.EdDSA, edwards, kid("o"), claims), known: true},
		{name: "RS512", token: sign(t, jose.RS512, key, kid("a"), claims)},
		{name: "RS256 with a key for PS256", token: sign(t, jose.RS256, key, kid("p"), claims)},
		{name: "no signature", token: none},
		{name: "HMAC with the public key as DER", token: sign(t, jose.HS256, der, kid("a"), claims)},
		{name: "HMAC with the public key as PEM", token: sign(t, jose.HS256, asPEM, kid("a"), claims)},
		{name: "HMAC with a secret of the document", token: sign(t, jose.HS256, secret, kid("s"), claims)},
		{name: "a private key of the document", token: sign(t, jose.ES256, elliptical, kid("private"), claims)},
		{name: "a key for encryption", token: sign(t, jose.RS256, key, kid("enc"), claims)},
		{name: "another key under the id", token: sign(t, jose.RS256, rsaKeys()[1], kid("a"), claims)},
		{name: "an unknown key", token: sign(t, jose.RS256, rsaKeys()[1], kid("b"), claims)},
		{name: "no key id", token: sign(t, jose.RS256, key, nil, claims)},
		{name: "the key in the token", token: sign(t, jose.RS256, rsaKeys()[1], map[string]any{"kid": "a", "jwk": jose.JSONWebKey{Key: rsaKeys()[1].Public()}}, claims)},
		{name: "a logout token", token: sign(t, jose.RS256, key, map[string]any{"kid": "a", "typ": "logout+jwt"}, claims)},
		{name: "an access token", token: sign(t, jose.RS256, key, map[string]any{"kid": "a", "typ": "at+jwt"}, claims)},
		{name: "other claims under a signature", token: parts[0] + "." + base64.RawURLEncoding.EncodeToString(forged) + "." + parts[2]},
		{name: "a cut signature", token: parts[0] + "." + parts[1] + "."},
		{name: "two dots", token: ".."},
		{name: "claims that are a list", token: sign(t, jose.RS256, key, kid("a"), nil)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := i.identify(tt.token)
			switch {
			case tt.known && (err != nil || got.Key != "user:ann@example.com"):
				t.Errorf("Identify = %+v, %v; want Ann", got, err)
			case !tt.known && (err == nil || hook.CodeOf(err) != hook.CodeUnauthorized || !cmp.Equal(got, hook.Principal{})):
				t.Errorf("Identify = %+v, %v; want CodeUnauthorized", got, err)
			}
		})
	}
}

func TestIdentify_roles(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	support := []hook.Scope{hook.ScopeRead, hook.ScopeReplay, hook.ScopeTenantsRead}
	tests := []struct {
		name   string
		groups any
		want   []hook.Scope
	}{
		{name: "an operator", groups: []string{"ops"}, want: []hook.Scope{hook.ScopeAdmin}},
		{name: "one group as a text", groups: "desk", want: support},
		{name: "the strongest of two", groups: []string{"desk", "x", "ops"}, want: []hook.Scope{hook.ScopeAdmin}},
		{name: "a group with separators", groups: []string{"CN=all,OU=groups"}, want: []hook.Scope{hook.ScopeRead, hook.ScopeTenantsRead}},
		{name: "values of other types beside", groups: []any{1, nil, map[string]any{"ops": true}, "desk"}, want: support},
		{name: "another group", groups: []string{"opsx", "OPS", "operator", "", "ops,desk"}},
		{name: "groups in one text", groups: "ops desk"},
		{name: "an object", groups: map[string]any{"ops": "ops"}},
		{name: "a number", groups: 1},
		{name: "a list in a list", groups: []any{[]string{"ops"}}},
		{name: "nothing", groups: nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := i.identify(i.token(t, map[string]any{"groups": tt.groups}))
			if err != nil || !slices.Equal(got.Scopes, tt.want) || got.Tenant != hook.AllTenants {
				t.Errorf("Identify with groups %v = %+v, %v; want %v", tt.groups, got, err, tt.want)
			}
		})
	}
}

func TestIdentify_names(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	const hash = "sha256-" // and 64 digits
	tests := []struct {
		name    string
		changes map[string]any
		id      hook.KeyID
		text    string
	}{
		{name: "an address", id: "user:ann@example.com", text: "ann@example.com (248289761001)"},
		{name: "an address that nobody verified", changes: map[string]any{"email_verified": nil}, id: "user:248289761001", text: "248289761001"},
		{name: "an unverified address", changes: map[string]any{"email_verified": false}, id: "user:248289761001", text: "248289761001"},
		{name: "a verification of another type", changes: map[string]any{"email_verified": 1}, id: "user:248289761001", text: "248289761001"},
		{name: "a verified address", changes: map[string]any{"email_verified": "true"}, id: "user:ann@example.com", text: "ann@example.com (248289761001)"},
		{name: "a user name", changes: map[string]any{"email": nil, "preferred_username": "ann"}, id: "user:ann", text: "ann (248289761001)"},
		{name: "an address of another type", changes: map[string]any{"email": []string{"ann@example.com"}, "preferred_username": 1}, id: "user:248289761001", text: "248289761001"},
		{name: "a name with a space", changes: map[string]any{"email": "ann smith", "preferred_username": "ann\nsmith"}, id: "user:248289761001", text: "248289761001"},
		{name: "a name with markup", changes: map[string]any{"email": "<b>", "preferred_username": `"`}, id: "user:248289761001", text: "248289761001"},
		{name: "a name beyond ASCII", changes: map[string]any{"email": "zoë@example.com"}, id: "user:248289761001", text: "248289761001"},
		{name: "the longest name", changes: map[string]any{"email": strings.Repeat("a", 128)}, id: hook.KeyID("user:" + strings.Repeat("a", 128)), text: strings.Repeat("a", 128) + " (248289761001)"},
		{name: "a longer name", changes: map[string]any{"email": strings.Repeat("a", 129)}, id: "user:248289761001", text: "248289761001"},
		{name: "a subject that no id can hold", changes: map[string]any{"email": nil, "sub": "a b"}, id: hash, text: hash},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := i.identify(i.token(t, tt.changes))
			id, text := string(got.Key), got.Name
			if tt.id == hash && len(text) == len(hash)+64 {
				id, text = text[:len(hash)], text[:len(hash)]
			}
			if err != nil || id != string(tt.id) || text != tt.text {
				t.Errorf("Identify = %q named %q, %v; want %q named %q", got.Key, got.Name, err, tt.id, tt.text)
			}
		})
	}
}
