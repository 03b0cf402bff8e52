package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
)

// pagesOf returns the handler of the pages over the files, with 418 for all other requests.
func pagesOf(portal names.Portal, files ...string) http.Handler {
	return pagesWith(portal, names.SignIn{}, files...)
}

func pagesWith(portal names.Portal, signIn names.SignIn, files ...string) http.Handler {
	built := fstest.MapFS{}
	for _, name := range files {
		built[name] = &fstest.MapFile{Data: []byte("the text of " + name)}
	}
	if _, ok := built["index.html"]; ok {
		built["index.html"] = &fstest.MapFile{Data: []byte(`<html data-name="{{.Name}}" data-accent="{{.Accent}}" data-logo="{{.Logo}}" data-embedders="{{range .Embedders}}{{.}} {{end}}"{{with .SignIn.Issuer}} data-issuer="{{.}}" data-client="{{$.SignIn.ClientID}}" data-scopes="{{$.SignIn.Scopes}}"{{end}}>`)}
	}
	return httpapi.Pages(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }), built, portal, signIn)
}

func TestPages_files(t *testing.T) {
	t.Parallel()

	files := []string{"index.html", "README.md", "assets/a.js", "assets/a.js.gz", "assets/a.js.br", "assets/f.woff2", "assets/secret.txt"}
	const page = `<html data-name="" data-accent="" data-logo="" data-embedders="">`
	tests := []struct {
		name, target, accepts string
		method                string
		status                int
		body, encoding, kind  string
	}{
		{name: "the console", target: "/console", status: 200, body: page, kind: "text/html; charset=utf-8"},
		{name: "a page of the console", target: "/console/t/acme/events?type=a", status: 200, body: page, kind: "text/html; charset=utf-8"},
		{name: "the portal", target: "/portal", status: 200, body: page, kind: "text/html; charset=utf-8"},
		{name: "a file as it is", target: "/web/assets/a.js", status: 200, body: "the text of assets/a.js", kind: "text/javascript; charset=utf-8"},
		{name: "a file with gzip", target: "/web/assets/a.js", accepts: "gzip, deflate", status: 200, body: "the text of assets/a.js.gz", encoding: "gzip", kind: "text/javascript; charset=utf-8"},
		{name: "a file with brotli", target: "/web/assets/a.js", accepts: "gzip, deflate, br", status: 200, body: "the text of assets/a.js.br", encoding: "br", kind: "text/javascript; charset=utf-8"},
		{name: "a file without compressed forms", target: "/web/assets/f.woff2", accepts: "gzip, br", status: 200, body: "the text of assets/f.woff2", kind: "font/woff2"},
		{name: "an unknown file", target: "/web/assets/b.js", status: 418},
		{name: "a file of another type", target: "/web/assets/secret.txt", status: 418},
		{name: "a compressed form by its name", target: "/web/assets/a.js.gz", status: 418},
		{name: "the page as a file", target: "/web/index.html", status: 418},
		{name: "a path out of the folder", target: "/web/../web.go.js", status: 418},
		{name: "a path that begins alike", target: "/consoles", status: 418},
		{name: "another method", target: "/console", method: http.MethodPost, status: 418},
		{name: "the API", target: "/v1/health", status: 418},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := httptest.NewRequestWithContext(t.Context(), max(tt.method, http.MethodGet), tt.target, nil)
			r.Header.Set("Accept-Encoding", tt.accepts)
			w := httptest.NewRecorder()
			pagesOf(names.Portal{}, files...).ServeHTTP(w, r)
			if w.Code != tt.status || w.Body.String() != tt.body || w.Header().Get("Content-Encoding") != tt.encoding || w.Header().Get("Content-Type") != tt.kind {
				t.Errorf("%s = %d %q %v; want %d %q, encoded %q, as %q", tt.target, w.Code, w.Body, w.Header(), tt.status, tt.body, tt.encoding, tt.kind)
			}
			if caching := w.Header().Get("Cache-Control"); tt.status == 200 && strings.Contains(caching, "immutable") != strings.HasPrefix(tt.target, "/web/") {
				t.Errorf("%s has Cache-Control %q; want immutable for the files alone", tt.target, caching)
			}
		})
	}
}

func TestPages_policy(t *testing.T) {
	t.Parallel()

	portal := names.Portal{Name: `"><script>`, Accent: "#3b5bdb", Logo: "https://cdn.example/logo.svg", Embedders: []string{"https://a.example", "https://b.example"}}
	for target, rest := range map[string]string{
		"/console": "img-src 'self' data:; frame-ancestors 'none'",
		"/portal":  "img-src 'self' data: https://cdn.example; frame-ancestors https://a.example https://b.example",
	} {
		w := httptest.NewRecorder()
		pagesOf(portal, "index.html").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		want := "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; " +
			"base-uri 'none'; form-action 'none'; " + rest
		if got := w.Header().Get("Content-Security-Policy"); got != want {
			t.Errorf("%s has the policy %q; want %q", target, got, want)
		}
		if body := w.Body.String(); strings.Contains(body, "<script>") || !strings.Contains(body, `data-accent="#3b5bdb" data-logo="https://cdn.example/logo.svg" data-embedders="https://a.example https://b.example "`) {
			t.Errorf("%s = %s; want the name escaped, the accent, the logo and the embedders", target, body)
		}
		if got := w.Header().Get("Cross-Origin-Opener-Policy"); got != "same-origin" {
			t.Errorf("%s has the opener policy %q; want same-origin", target, got)
		}
	}
}

// Only the console may send requests to the issuer of people's tokens.
func TestPages_issuer(t *testing.T) {
	t.Parallel()

	signIn := names.SignIn{Issuer: "https://id.example.com/realms/a", ClientID: `"><script>`, Origins: []string{"https://token.example.com"}}
	for target, want := range map[string]string{
		"/console": "connect-src 'self' https://id.example.com https://token.example.com;", "/portal": "connect-src 'self';",
	} {
		w := httptest.NewRecorder()
		pagesWith(names.Portal{}, signIn, "index.html").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, want) {
			t.Errorf("%s has the policy %q; want %q", target, got, want)
		}
		if body := w.Body.String(); strings.Contains(body, "<script>") || !strings.Contains(body, `data-issuer="https://id.example.com/realms/a"`) || !strings.Contains(body, `data-scopes="openid email profile"`) {
			t.Errorf("%s = %s; want the issuer, the escaped client and the default scopes", target, body)
		}
	}
}

// TestPages_notBuilt checks that the rest of the API works in a build without the pages.
func TestPages_notBuilt(t *testing.T) {
	t.Parallel()

	for _, target := range []string{"/console", "/portal/t/acme", "/web/assets/a.js"} {
		w := httptest.NewRecorder()
		pagesOf(names.Portal{}, "README.md").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if asset := strings.HasPrefix(target, "/web/"); asset && w.Code != http.StatusTeapot || !asset && (w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "make web")) {
			t.Errorf("%s = %d %s; want 404 with the way to build it", target, w.Code, w.Body)
		}
	}
}

// TestPages_served checks that the handlers serve the pages, whether or not they are built.
func TestPages_served(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, target := range []string{"/console", "/portal"} {
		w := httptest.NewRecorder()
		b.manage.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'self'") {
			t.Errorf("%s = %s; want the page or a note", target, fmt.Sprint(w.Code, w.Header(), w.Body))
		}
	}
}

// TestPages_docsWithSlash checks that the page of the document is served with and without a slash
// at the end, because people use both.
func TestPages_docsWithSlash(t *testing.T) {
	t.Parallel()

	b := setup(t)
	read := func(target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		b.manage.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		return w
	}
	want := read("/docs")
	for _, target := range []string{"/docs/", "/docs/?from=mail"} {
		if got := read(target); got.Code != http.StatusOK || got.Body.String() != want.Body.String() || got.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("GET %s = %d %s; want the page of /docs", target, got.Code, got.Body)
		}
	}
	if w := read("/docs//"); w.Code == http.StatusOK {
		t.Errorf("GET /docs// = %d; want no page", w.Code)
	}
}
