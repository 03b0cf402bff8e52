package httpapi_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"surehook.example/surehook/api"
	"surehook.example/surehook/internal/httpapi"
)

// builtDocs is the page with the renderer.
func builtDocs(t *testing.T, files ...string) http.Handler {
	t.Helper()

	built := fstest.MapFS{}
	for _, name := range files {
		built[name] = &fstest.MapFile{Data: []byte("the text of " + name)}
	}
	return httpapi.Docs(built, slog.New(slog.DiscardHandler))
}

// readDocs returns a file of the page from the repository.
func readDocs(t *testing.T, name string) string {
	t.Helper()

	raw, err := fs.ReadFile(api.Files, "docs/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestDocs_files(t *testing.T) {
	t.Parallel()

	all := []string{
		"openapi.yaml", "docs/page.html", "docs/plain.html", "docs/start.js", "docs/dist/swagger-ui-bundle.js", "docs/dist/swagger-ui.css",
	}
	without := slices.Clone(all)[:4]
	const html, script, style = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8"
	tests := []struct {
		name, target    string
		files           []string
		file, mediaType string // empty: 404
	}{
		{name: "the document", target: "/v1/openapi.yaml", files: all, file: "openapi.yaml", mediaType: "application/yaml"},
		{name: "the page", target: "/docs", files: all, file: "docs/page.html", mediaType: html},
		{name: "the page, built without the renderer", target: "/docs", files: without, file: "docs/plain.html", mediaType: html},
		{name: "its script", target: "/docs/start.js", files: all, file: "docs/start.js", mediaType: script},
		{name: "the renderer", target: "/docs/swagger-ui-bundle.js", files: all, file: "docs/dist/swagger-ui-bundle.js", mediaType: script},
		{name: "the renderer, not built", target: "/docs/swagger-ui-bundle.js", files: without, file: "", mediaType: ""},
		{name: "its style sheet", target: "/docs/swagger-ui.css", files: all, file: "docs/dist/swagger-ui.css", mediaType: style},
		{name: "another file of the folder", target: "/docs/page.html", files: all, file: "", mediaType: ""},
		{name: "a file of another folder", target: "/docs/..%2fopenapi.yaml", files: all, file: "", mediaType: ""},
		{name: "a path below", target: "/docs/dist/swagger-ui.css", files: all, file: "", mediaType: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.target, nil)
			w := httptest.NewRecorder()
			builtDocs(t, tt.files...).ServeHTTP(w, r)
			hold(t, r, "", w)
			if tt.file == "" {
				if w.Code != http.StatusNotFound {
					t.Errorf("GET %s = %d %s; want 404", tt.target, w.Code, w.Body)
				}
				return
			}
			if w.Code != http.StatusOK || w.Body.String() != "the text of "+tt.file || w.Header().Get("Content-Type") != tt.mediaType {
				t.Errorf("GET %s = %d %s as %s; want 200, %s as %s", tt.target, w.Code, w.Body, w.Header().Get("Content-Type"), tt.file, tt.mediaType)
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'; script-src 'self';") ||
				strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
				t.Errorf("Content-Security-Policy = %q; want scripts of this host only", policy)
			}
		})
	}
}

// TestDocs_policy checks that the pages obey their content security policy: there are no inline
// scripts or styles and no files from other hosts, and every loaded file is served.
func TestDocs_policy(t *testing.T) {
	t.Parallel()

	b := setup(t)
	inPage := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|javascript:|https?:|<script(?: [^>]*)?>[^<]`)
	loaded := regexp.MustCompile(`(?:src|href)="(/[^"]+)"`)
	for _, name := range []string{"page.html", "plain.html"} {
		page := readDocs(t, name)
		if found := inPage.FindString(page); found != "" {
			t.Errorf("%s has %q, which its policy forbids", name, found)
		}
		for _, path := range loaded.FindAllStringSubmatch(page, -1) {
			if strings.Contains(path[1], "swagger-ui") { // only there after a build with the renderer
				continue
			}
			if w := b.do(t, nobody, http.MethodGet, path[1], ""); w.Code != http.StatusOK {
				t.Errorf("%s loads %s = %d; want 200", name, path[1], w.Code)
			}
		}
	}
	if script := readDocs(t, "start.js"); strings.Contains(script, "http") || !strings.Contains(script, "validatorUrl: null") {
		t.Errorf("start.js = %s; want nothing from elsewhere", script)
	}
}

// TestDocs_public checks that only the document, the page and the opening of a portal link are
// public, and that every other route names a scope, except the sign-out and the caller's own
// data.
func TestDocs_public(t *testing.T) {
	t.Parallel()

	var public []string
	for _, r := range httpapi.Routes() {
		if (r.Public || r.Own) != (r.Scope == "") || r.Own != (r.Change == "portal_session.end" || r.Path == "/v1/caller") {
			t.Errorf("%s %s is public: %t, own: %t, with the scope %q", r.Method, r.Path, r.Public, r.Own, r.Scope)
		}
		if r.Public {
			public = append(public, fmt.Sprintf("%s %s", r.Method, r.Path))
		}
	}
	if want := []string{"POST /v1/tenants/{tenant}/portal-session", "GET /v1/openapi.yaml", "GET /docs", "GET /docs/{file}"}; !slices.Equal(public, want) {
		t.Errorf("public = %q; want %q", public, want)
	}
}
