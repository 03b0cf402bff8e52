package dev_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"

	"surehook.example/surehook/localstack/stack"
)

// recorder is a server that keeps its requests as texts.
type recorder struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string
}

// record starts a recorder. Under /token it gives an access token, and under /away it
// redirects to the URL in away.
func record(t *testing.T, token string, away *string) *recorder {
	t.Helper()

	r := new(recorder)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, _ := httputil.DumpRequest(q, true)
		r.mu.Lock()
		r.requests = append(r.requests, string(text))
		r.mu.Unlock()
		switch q.URL.Path {
		case "/token":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"`+token+`","token_type":"Bearer","expires_in":3600}`)
		case "/away":
			http.Redirect(w, q, *away, http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.requests, "\n")
}

// TestServer_AWriterOfEndpointsReadsNoCredential takes a key with the scope endpoints:write
// alone, tries to have the credentials of an endpoint sent to a server of its own, and asks
// for a test event after each try. The owner's server gets them, the thief's never.
func TestServer_AWriterOfEndpointsReadsNoCredential(t *testing.T) {
	t.Parallel()

	basic, client := base64.StdEncoding.EncodeToString([]byte("u:theirs")), base64.StdEncoding.EncodeToString([]byte("c:theirs"))
	for name, credential := range map[string]struct {
		field  func(owner string) string
		secret string // as the owner's server gets it
	}{
		"a header": {func(string) string { return `"headers":{"X-Api-Key":"theirs"}` }, "X-Api-Key: theirs"},
		"basic":    {func(string) string { return `"auth":{"type":"basic","username":"u","password":"theirs"}` }, basic},
		"bearer":   {func(string) string { return `"auth":{"type":"bearer","token":"theirs"}` }, "Bearer theirs"},
		"oauth2": {func(owner string) string {
			return fmt.Sprintf(`"auth":{"type":"oauth2","token_url":"%s/token","client_id":"c","client_secret":"theirs"}`, owner)
		}, "Bearer their-token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			thief := record(t, "my-token", nil)
			owner := record(t, "their-token", new(thief.URL+"/redirected"))
			var key struct{ Key string }
			w.call(http.MethodPost, "/v1/keys", `{"name":"thief","tenant":"acme","scopes":["endpoints:write"]}`, http.StatusCreated, &key)
			mine := &world{t: t, receiver: w.receiver, Client: &stack.Client{Address: w.Address, Key: key.Key, HTTP: w.HTTP}}

			const crm = "/v1/tenants/acme/endpoints/crm"
			w.subscribe(fmt.Sprintf(`{"uid":"crm","url":"%s/hook",%s}`, owner.URL, credential.field(owner.URL)))
			send := func() {
				var accepted struct{ ID string }
				w.call(http.MethodPost, "/v1/tenants/acme/events", `{"event_type":"order.paid","payload":{}}`, http.StatusAccepted, &accepted)
				w.await(accepted.ID, "delivered")
			}
			send()
			if !strings.Contains(owner.all(), credential.secret) {
				t.Fatalf("the owner's server got %s; want %s", owner.all(), credential.secret)
			}

			oauth := func(tokenURL, id, scope string) string {
				return fmt.Sprintf(`"auth":{"type":"oauth2","token_url":"%s/token","client_id":"%s","client_secret":"***","scope":"%s"}`, tokenURL, id, scope)
			}
			url := fmt.Sprintf(`"url":"%s/mine"`, thief.URL)
			for _, fields := range []string{
				url,
				fmt.Sprintf(`"url":"%s/hook"`, strings.Replace(owner.URL, "127.0.0.1", "localhost", 1)), // another name of the server
				url + `,"headers":{"X-Api-Key":"***"}`,
				url + `,"headers":{"x-api-key":"***","X-Mine":"1"}`,
				url + `,"headers":{}`,
				url + `,"auth":{"type":"basic","username":"u","password":"***"}`,
				url + `,"auth":{"type":"bearer","token":"***"}`,
				url + "," + oauth(owner.URL, "c", ""),
				oauth(thief.URL, "c", ""),
				oauth(owner.URL, "c", "admin"),
				oauth(owner.URL, "d", ""),
				`"url":"` + owner.URL + `/away"`, // accepted: the same origin, which redirects to the thief
				url,
				url + `,"tls":{}`,
				url + `,"headers":{"X-Api-Key":""},"auth":{"type":"none"}`, // accepted: without the credentials
				`"headers":{"X-Api-Key":"***"}`,
				`"auth":{"type":"bearer","token":"***"}`,
				`"auth":{"type":"basic","username":"u","password":"***"}`,
				oauth(owner.URL, "c", ""),
				`"auth":{"type":"oauth2","token_url":"` + owner.URL + `/token","client_id":"c","client_secret":"mine"}`, // accepted; see below
			} {
				got, err := mine.Do(t.Context(), http.MethodPatch, crm, []byte("{"+fields+"}"))
				if err != nil || !slices.Contains([]int{http.StatusOK, http.StatusBadRequest}, got.Status) {
					t.Fatalf("PATCH {%s} = %d %s, %v", fields, got.Status, got.Body, err)
				}
				if strings.Contains(string(got.Body), "theirs") {
					t.Errorf("PATCH {%s} = %s; it shows the secret", fields, got.Body)
				}
				if !strings.Contains(fields, `"mine"`) { // their token endpoint, were it real, would refuse the client
					send()
				}
				for _, secret := range []string{"theirs", basic, client, "their-token"} {
					if strings.Contains(thief.all(), secret) {
						t.Fatalf("after PATCH {%s} = %d the thief's server has got %s", fields, got.Status, secret)
					}
				}
			}
			if !strings.Contains(thief.all(), "/redirected") || !strings.Contains(thief.all(), "/mine") {
				t.Errorf("the thief's server got %s; want a redirected request, and one of its own", thief.all())
			}

			// The name of the endpoint, for another endpoint.
			mine.call(http.MethodDelete, crm, "", http.StatusNoContent, nil)
			mine.subscribe(fmt.Sprintf(`{"uid":"crm","url":"%s/again"}`, thief.URL))
			send()
			if text := thief.all(); !strings.Contains(text, "/again") || strings.Contains(text, "their") || strings.Contains(text, basic) {
				t.Errorf("the thief's server got %s; want no credential of the deleted endpoint", text)
			}
		})
	}
}
