package person_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"surehook.example/surehook/internal/admin/person"
	"surehook.example/surehook/internal/hook"
)

// by returns a token signed with the RSA key n, which it names by the id.
func (i *issuer) by(t *testing.T, n int, id string) string {
	t.Helper()

	return sign(t, jose.RS256, rsaKeys()[n], map[string]any{"kid": id}, i.claims(nil))
}

func TestKeySet_rotation(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	expect := func(token string, known bool, fetches int) {
		t.Helper()
		if p, err := i.identify(token); (err == nil) != known || i.count() != fetches {
			t.Errorf("Identify = %+v, %v after %d fetches; want known: %t after %d", p, err, i.count(), known, fetches)
		}
	}
	expect(i.by(t, 0, "a"), true, 1)
	expect(i.by(t, 0, "a"), true, 1) // from the cache

	i.publish(rsaKeys()[1], "b")
	i.wait(59 * time.Second)
	expect(i.by(t, 1, "b"), false, 1) // an unknown id, within the minute
	i.wait(time.Second)
	expect(i.by(t, 1, "b"), true, 2)
	expect(i.by(t, 0, "a"), false, 2) // the old key is gone
	for range 20 {
		expect(i.by(t, 2, "made up"), false, 2) // no request for each made-up id
	}

	i.publish(rsaKeys()[2], "b") // another key under a known id takes effect when the keys are fetched again
	i.wait(15*time.Minute - time.Second)
	expect(i.by(t, 1, "b"), true, 2)
	i.wait(time.Second)
	expect(i.by(t, 1, "b"), false, 3)
	expect(i.by(t, 2, "b"), true, 3)
}

func TestKeySet_issuerDown(t *testing.T) {
	t.Parallel()

	i := newIssuer(t)
	i.set(true)
	for range 3 { // without keys, nobody can tell whether a token is valid
		if _, err := i.identify(i.by(t, 0, "a")); hook.CodeOf(err) != hook.CodeUnavailable || i.count() != 1 {
			t.Fatalf("Identify without keys = %v after %d fetches; want CodeUnavailable after one", err, i.count())
		}
	}
	i.set(false)
	i.wait(30 * time.Second)
	if _, err := i.identify(i.by(t, 0, "a")); err != nil {
		t.Fatalf("Identify = %v; want Ann after the issuer is back", err)
	}

	i.set(true)
	i.wait(24*time.Hour - time.Second)
	if _, err := i.identify(i.by(t, 0, "a")); err != nil {
		t.Errorf("Identify with cached keys = %v; want Ann", err)
	}
	if _, err := i.identify(i.by(t, 1, "b")); hook.CodeOf(err) != hook.CodeUnauthorized {
		t.Errorf("Identify with an unknown key = %v; want CodeUnauthorized", err)
	}
	i.wait(time.Second)
	if _, err := i.identify(i.by(t, 0, "a")); hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Identify with keys that are a day old = %v; want CodeUnavailable", err)
	}
}

// Without a valid configuration and a valid key, the keys of the issuer are not known.
func TestKeySet_documents(t *testing.T) {
	t.Parallel()

	const key = `{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	tests := []struct {
		name, configuration, keys string
		known                     bool
	}{
		{name: "good documents", configuration: `{"issuer":"$","jwks_uri":"$/keys?p=a"}`, keys: `{"keys":[` + key + `]}`, known: true},
		{name: "another issuer", configuration: `{"issuer":"$/","jwks_uri":"$/keys"}`, keys: `{"keys":[` + key + `]}`},
		{name: "keys of another scheme", configuration: `{"issuer":"$","jwks_uri":"file:///keys"}`, keys: `{"keys":[` + key + `]}`},
		{name: "no address of keys", configuration: `{"issuer":"$"}`, keys: `{"keys":[` + key + `]}`},
		{name: "a redirect", configuration: `{"issuer":"$","jwks_uri":"$/away"}`, keys: `{"keys":[` + key + `]}`},
		{name: "not JSON", configuration: `<html>`, keys: `{"keys":[` + key + `]}`},
		{name: "no keys", configuration: `{"issuer":"$","jwks_uri":"$/keys"}`, keys: `{"keys":[]}`},
		{name: "a key without an id", configuration: `{"issuer":"$","jwks_uri":"$/keys"}`, keys: `{"keys":[` + strings.Replace(key, `"kid":"a",`, "", 1) + `]}`},
		{name: "a document that is too large", configuration: `{"issuer":"$","jwks_uri":"$/keys"}`, keys: `{"keys":[` + key + `]}` + strings.Repeat(" ", 256<<10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var s *httptest.Server
			s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/keys":
					_, _ = w.Write([]byte(tt.keys))
				case "/away":
					http.Redirect(w, r, s.URL+"/keys", http.StatusFound)
				default:
					_, _ = w.Write([]byte(strings.ReplaceAll(tt.configuration, "$", s.URL)))
				}
			}))
			t.Cleanup(s.Close)
			set := &person.KeySet{Issuer: s.URL, Client: person.NewClient(), Log: slog.New(slog.DiscardHandler), Now: time.Now}
			keys, err := set.Key(t.Context(), "a")
			if tt.known && (err != nil || len(keys) != 1) || !tt.known && hook.CodeOf(err) != hook.CodeUnavailable {
				t.Errorf("Key = %v, %v; want known: %t", keys, err, tt.known)
			}
		})
	}
}
