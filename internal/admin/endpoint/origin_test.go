package endpoint_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/certificate"
)

// kind says who gets to see a field of an endpoint.
type kind int

const (
	public  kind = iota + 1 // in responses, or of no interest to anybody: not a secret
	inClear                 // a secret in plain text, only in API requests and never stored
	signing                 // a stored secret that no request to the receiver contains
	sent                    // a stored secret that requests contain, or prove: bound to the origin
)

// kinds has every field of an endpoint and of its TLS material that can hold a secret: texts, bytes
// and maps. Numbers, words and times are public. A missing field fails TestFields_kinds: first
// decide who may see it, and where it may be sent. A field of the kind sent also needs a line in
// boundSecrets.
func kinds() map[string]kind {
	all := map[string]kind{
		"Headers": inClear, "Auth.Secret": inClear, "TLS.Material.Key": inClear,
		"Secrets.Sealed": signing,
		"SealedHeaders":  sent, "Auth.Sealed": sent, "TLS.Material.Sealed": sent,
	}
	for _, field := range []string{
		"ID", "Tenant", "UID", "URL", "Description", "EventTypes", "Filter", "Metadata", "Retry.Preset", "Auth.Username",
		"Auth.OAuth.TokenURL", "Auth.OAuth.ClientID", "Auth.OAuth.Scope", "Auth.OAuth.Audience",
		"TLS.ID", "TLS.Subject", "TLS.Material.ID", "TLS.Material.CA", "TLS.Material.Certificate", "Region", "Reason", "Transformation",
		"Destination.Type", "Destination.Settings", "Destination.ExternalID", // the id is an answer to the confused deputy, and no secret
		"Profiles.Name", "Profiles.Signed", "Profiles.Algorithm", "Profiles.Encoding", "Profiles.Key", "Profiles.Prefix", "Profiles.Separator", "Profiles.Headers",
		"Secrets.Public",
	} {
		all[field] = public
	}
	return all
}

// plain reports whether the type holds no text.
func plain(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t.Kind() <= reflect.Float64
}

// fieldsIn returns the fields in a type by their paths, with the types of their elements.
func fieldsIn(t reflect.Type, path string) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 || t == reflect.TypeFor[[]hook.Scheme]() {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return map[string]reflect.Type{strings.TrimPrefix(path, "."): t}
	}
	all := make(map[string]reflect.Type)
	for i := range t.NumField() {
		maps.Copy(all, fieldsIn(t.Field(i).Type, path+"."+t.Field(i).Name))
	}
	return all
}

func TestFields_kinds(t *testing.T) {
	t.Parallel()

	known := kinds()
	for field, of := range fieldsIn(reflect.TypeFor[hook.Endpoint](), "") {
		if plain(of) {
			continue
		}
		if known[field] == 0 {
			t.Errorf("Endpoint.%s has no kind: is the field a secret, and where may the field be sent?", field)
		}
		if known[field] == sent && !slices.ContainsFunc(boundSecrets(t), func(s boundSecret) bool { return s.of == field }) {
			t.Errorf("Endpoint.%s is sent to the receiver, and boundSecrets does not try to lead the field elsewhere", field)
		}
		delete(known, field)
	}
	for field := range known {
		t.Errorf("Endpoint has no field %s", field)
	}
}

// boundSecret is a secret of the owner of an endpoint.
type boundSecret struct {
	name    string
	of      string          // the stored field
	field   string          // named by the refusal of another origin
	given   endpoint.Fields // sets the secret
	shown   endpoint.Fields // sends back what a response shows
	another endpoint.Fields // sets a secret of somebody else
	removed endpoint.Fields // removes the secret
	value   string          // given, as stored
}

// boundSecrets returns every secret of the kind sent, in each of its forms.
func boundSecrets(t *testing.T) []boundSecret {
	t.Helper()

	certificate1, key1 := certificate.Authority(t, "client")
	certificate2, key2 := certificate.Authority(t, "client")
	headers := func(name, value string) endpoint.Fields {
		return endpoint.Fields{Headers: &map[string]string{name: value}}
	}
	auth := func(a hook.Auth, secret string) endpoint.Fields {
		a.Secret = secret
		return endpoint.Fields{Auth: &a}
	}
	none := endpoint.Fields{Auth: new(hook.Auth)}
	tls := func(certificate, key string) endpoint.Fields {
		return endpoint.Fields{TLS: &hook.Material{Certificate: certificate, Key: key}}
	}
	basic, bearer := hook.Auth{Type: hook.AuthBasic, Username: "u"}, hook.Auth{Type: hook.AuthBearer}
	client := hook.Auth{Type: hook.AuthOAuth2, OAuth: hook.OAuth{TokenURL: "https://id.example.com/token", ClientID: "c", Scope: "s", Audience: "a"}}
	return []boundSecret{
		{"a header", "SealedHeaders", "headers.X-Api-Key", headers("X-Api-Key", "theirs"), headers("X-Api-Key", "***"), headers("X-Api-Key", "mine"), headers("x-api-key", ""), "theirs"},
		{"basic", "Auth.Sealed", "auth.password", auth(basic, "theirs"), auth(basic, "***"), auth(basic, "mine"), none, "theirs"},
		{"bearer", "Auth.Sealed", "auth.token", auth(bearer, "theirs"), auth(bearer, "***"), auth(bearer, "mine"), none, "theirs"},
		{"oauth2", "Auth.Sealed", "auth.client_secret", auth(client, "theirs"), auth(client, "***"), auth(client, "mine"), none, "theirs"},
		{"a client key", "TLS.Material.Sealed", "tls.key", tls(certificate1, key1), tls("***", "***"), tls(certificate2, key2), tls("", ""), key1},
	}
}

// secretsOf returns the stored secrets of the kind sent, in clear.
func (b *bundle) secretsOf(t *testing.T, e hook.Endpoint) []string {
	t.Helper()

	stored := b.stored(t, e.ID)
	all := slices.Collect(maps.Values(headersOf(t, stored)))
	if stored.Auth.Type != hook.AuthNone {
		text, err := memory.Vault{}.Open(t.Context(), stored.Auth.Sealed, e.Tenant, e.ID)
		if err != nil {
			t.Fatalf("Open = %v", err)
		}
		secret, _ := hook.AuthSecret(stored.Auth.Type, text)
		all = append(all, secret)
	}
	if stored.TLS.Client {
		m, err := b.store.TLSMaterial(t.Context(), e.Tenant, e.ID)
		if err != nil {
			t.Fatalf("TLSMaterial = %v", err)
		}
		text, err := memory.Vault{}.Open(t.Context(), m.Sealed, e.Tenant, e.ID)
		if err != nil {
			t.Fatalf("Open = %v", err)
		}
		key, _ := hook.KeyOf(text)
		all = append(all, key)
	}
	return all
}

// with returns the fields with the given ones of more.
func with(f endpoint.Fields, more endpoint.Fields) endpoint.Fields {
	to, from := reflect.ValueOf(&f).Elem(), reflect.ValueOf(more)
	for i := range to.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return f
}

// TestAdmin_Change_origin changes the URL of an endpoint that has a secret of each form. The
// secret must not move to another origin.
func TestAdmin_Change_origin(t *testing.T) {
	t.Parallel()

	urls := []struct {
		url  string
		same bool
	}{
		{url: "https://example.com/other?path=1", same: true},
		{url: "https://example.com", same: true},
		{url: "https://EXAMPLE.com:443/hooks", same: true},
		{url: "https://example.com:8443/hooks"},
		{url: "https://example.com:80/hooks"},
		{url: "https://www.example.com/hooks"},
		{url: "https://example.com.evil.example/hooks"},
		{url: "https://xn--exmple-cua.com/hooks"},
		{url: "https://203.0.114.9/hooks"},
	}
	for _, secret := range boundSecrets(t) {
		for _, to := range urls {
			t.Run(secret.name+" to "+to.url, func(t *testing.T) {
				t.Parallel()

				b := setup(t)
				e, _ := b.create(t, func(f *endpoint.Fields) { *f = with(*f, secret.given) })
				change := func(more endpoint.Fields) error {
					more.URL = &to.url
					_, err := b.Change(t.Context(), tenant, string(e.ID), 0, more)
					return err
				}
				for name, kept := range map[string]endpoint.Fields{"the url alone": {}, "the url and what is shown": secret.shown} {
					err := change(kept)
					if to.same {
						if got := b.secretsOf(t, e); err != nil || !slices.Equal(got, []string{secret.value}) {
							t.Errorf("%s: Change = %v with %q; want the same secret", name, err, got)
						}
						continue
					}
					if got := fieldsOf(t, err); !slices.Equal(got, []string{secret.field}) {
						t.Errorf("%s: Change names %v; want %s", name, got, secret.field)
					}
					if got := b.stored(t, e.ID).URL; got != "https://example.com/hooks" {
						t.Errorf("%s: the URL is %s after a refusal", name, got)
					}
				}
				if err := change(secret.another); err != nil {
					t.Errorf("Change with another secret = %v", err)
				}
				if got := b.secretsOf(t, e); len(got) != 1 || got[0] == secret.value {
					t.Errorf("the secrets are %q; want the other one", got)
				}
				to.url = "https://third.example.com/"
				if err := change(secret.removed); err != nil {
					t.Errorf("Change without the secret = %v", err)
				}
				if got := b.secretsOf(t, e); len(got) != 0 {
					t.Errorf("the secrets are %q; want none", got)
				}
			})
		}
	}
}

// All secrets are named at once. If the URL itself is refused, only the URL is named.
func TestAdmin_Change_originNamesAll(t *testing.T) {
	t.Parallel()

	b := setup(t)
	all := boundSecrets(t)
	e, _ := b.create(t, func(f *endpoint.Fields) {
		*f = with(with(*f, all[1].given), all[4].given)
		f.Headers = &map[string]string{"X-B": "theirs", "X-A": "theirs"}
	})
	for url, want := range map[string][]string{
		"https://other.example.com/": {"auth.password", "headers.X-A", "headers.X-B", "tls.key"},
		"https://10.0.0.1/":          {"url"},
	} {
		_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: &url})
		if got := fieldsOf(t, err); !slices.Equal(got, want) {
			t.Errorf("Change to %s names %v; want %v", url, got, want)
		}
	}
}

// The receiver's authorities are not secret, so they stay.
func TestAdmin_Change_originKeepsAuthorities(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ca, _ := certificate.Authority(t, "receiver")
	e, _ := b.create(t, func(f *endpoint.Fields) { f.TLS = &hook.Material{CA: ca} })
	changed, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: new("https://other.example.com/")})
	if err != nil || !changed.TLS.CA {
		t.Errorf("Change = %+v, %v; want the authorities", changed.TLS, err)
	}
}

// TestAdmin_Change_client changes one setting of an OAuth client after the other. The stored
// client secret can only be used for the same token endpoint, scope and audience.
func TestAdmin_Change_client(t *testing.T) {
	t.Parallel()

	settings := hook.OAuth{TokenURL: "https://id.example.com/token", ClientID: "c", Scope: "s", Audience: "a"}
	for i := range reflect.TypeFor[hook.OAuth]().NumField() {
		field := reflect.TypeFor[hook.OAuth]().Field(i)
		t.Run(field.Name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e, _ := b.create(t, func(f *endpoint.Fields) {
				f.Auth = &hook.Auth{Type: hook.AuthOAuth2, OAuth: settings, Secret: "theirs"}
			})
			other := settings
			if v := reflect.ValueOf(&other).Elem().Field(i); v.Kind() == reflect.Bool {
				v.SetBool(!v.Bool())
			} else {
				v.SetString(v.String() + "x")
			}
			for _, secret := range []string{hook.Masked, ""} {
				_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Auth: &hook.Auth{Type: hook.AuthOAuth2, OAuth: other, Secret: secret}})
				if got := fieldsOf(t, err); !slices.Equal(got, []string{"auth.client_secret"}) {
					t.Errorf("Change with the secret %q names %v; want the client secret", secret, got)
				}
			}
		})
	}
}

// TestAdmin_Change_attacker is a caller with the scope endpoints:write who knows no secret, and
// changes whatever the API allows, in random order. After every accepted change the owner's
// secrets must only be sent to the owner's receiver.
func TestAdmin_Change_attacker(t *testing.T) {
	t.Parallel()

	const origin = "https://example.com/hooks"
	client := hook.OAuth{TokenURL: "https://id.example.com/token", ClientID: "c", Scope: "s"}
	auth := func(a hook.Auth) endpoint.Fields { return endpoint.Fields{Auth: &a} }
	headers := func(pairs ...string) endpoint.Fields {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return endpoint.Fields{Headers: &m}
	}
	certificate1, key1 := certificate.Authority(t, "client")
	moves := []endpoint.Fields{
		{URL: new("https://evil.example/")},
		{URL: new("https://example.com:8443/")},
		{URL: new("https://example.com/elsewhere")},
		headers("X-Api-Key", "***"),
		headers("x-api-key", "***", "X-Mine", "mine"),
		headers("X-Other", "***"),
		headers("X-Api-Key", ""),
		headers("X-Api-Key", "mine"),
		auth(hook.Auth{Type: hook.AuthOAuth2, OAuth: client, Secret: "***"}),
		auth(hook.Auth{Type: hook.AuthOAuth2, OAuth: hook.OAuth{TokenURL: "https://evil.example/token", ClientID: "c", Scope: "s"}, Secret: "***"}),
		auth(hook.Auth{Type: hook.AuthOAuth2, OAuth: hook.OAuth{TokenURL: client.TokenURL, ClientID: "c", Scope: "admin"}, Secret: "***"}),
		auth(hook.Auth{Type: hook.AuthOAuth2, OAuth: client, Secret: "mine"}),
		auth(hook.Auth{Type: hook.AuthBearer, Secret: "***"}),
		auth(hook.Auth{Type: hook.AuthBasic, Username: "u", Secret: "***"}),
		auth(hook.Auth{}),
		{TLS: &hook.Material{Certificate: "***", Key: "***"}},
		{TLS: &hook.Material{CA: certificate1, Certificate: "***", Key: "***"}},
		{TLS: &hook.Material{Certificate: certificate1, Key: key1}},
		{TLS: new(hook.Material)},
	}
	owned, ownKey := certificate.Authority(t, "client")
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		b := setup(t)
		e, _ := b.create(t, func(f *endpoint.Fields) {
			f.URL, f.Headers = new(origin), headers("X-Api-Key", "theirs").Headers
			f.Auth = &hook.Auth{Type: hook.AuthOAuth2, OAuth: client, Secret: "theirs"}
			f.TLS = &hook.Material{Certificate: owned, Key: ownKey}
		})
		var accepted int
		for range 20 {
			var f endpoint.Fields
			for range 1 + random.IntN(4) {
				f = with(f, moves[random.IntN(len(moves))])
			}
			if _, err := b.Change(t.Context(), tenant, string(e.ID), 0, f); err != nil {
				continue
			}
			accepted++
			now := b.stored(t, e.ID)
			for _, secret := range b.secretsOf(t, e) {
				if (secret == "theirs" || secret == ownKey) && hook.Origin(now.URL) != hook.Origin(origin) {
					t.Fatalf("seed %d: a stored secret is for %s", seed, now.URL)
				}
			}
			if strings.HasSuffix(authorizationOf(t, now), "theirs") && now.Auth.OAuth != client {
				t.Fatalf("seed %d: the client secret is for %+v", seed, now.Auth.OAuth)
			}
		}
		if accepted == 0 {
			t.Errorf("seed %d: no change was accepted", seed)
		}
	}
}

// conflicting is a store in which another caller gives the endpoint a header just before
// the first write.
type conflicting struct {
	*memory.Store

	before func()
}

func (s *conflicting) MoveEndpoint(ctx context.Context, e hook.Endpoint, from string) error {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return s.Store.MoveEndpoint(ctx, e, from)
}

// A secret that is added between the check and the write does not move either.
func TestAdmin_Change_originRace(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e, _ := b.create(t, nil)
	owner := *b.Admin
	b.Store = &conflicting{Store: b.store, before: func() {
		if _, err := owner.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Headers: &map[string]string{"X-Api-Key": "theirs"}}); err != nil {
			t.Errorf("Change = %v", err)
		}
	}}
	_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{URL: new("https://evil.example/")})
	if got := fieldsOf(t, err); !slices.Equal(got, []string{"headers.X-Api-Key"}) {
		t.Errorf("Change names %v; want the header that came meanwhile", got)
	}
}
