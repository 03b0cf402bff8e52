package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/web"
)

// Headers of the pages.
const (
	// pagePolicy permits only scripts, styles and fonts of this host. The rest of the policy
	// differs by page: requests go to this host, and from the console also to the issuer of
	// people's tokens; images may come from the origin of the portal's logo.
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'%s; " +
		"font-src 'self'; base-uri 'none'; form-action 'none'; img-src 'self' data:%s; frame-ancestors %s"
	assetsCaching = "public, max-age=31536000, immutable" // the name of a file contains a hash of its content
	pageCaching   = "no-cache"                            // after a deployment the page names other files
)

const assetsPath = "/web/"

// pages serves the console and the portal: one page that reads the API from the browser, and the
// files of that page. All of them are public and contain no data.
type pages struct {
	files  fs.FS
	html   []byte // nil in a build without the pages
	portal names.Portal
	issuer string // part of the policy of the console
	next   http.Handler
}

// built returns the folder of the pages in this build.
func built() fs.FS {
	files, _ := fs.Sub(web.Files, "dist") // fails only for an invalid name
	return files
}

// HasConsole reports whether this build has the console and the portal.
func HasConsole() bool {
	_, err := fs.Stat(built(), "index.html")
	return err == nil
}

// withPages returns a handler of the pages, with next for all other paths. files is the folder of
// the built pages.
func withPages(next http.Handler, files fs.FS, portal names.Portal, signIn names.SignIn) http.Handler {
	p := &pages{files: files, portal: portal, issuer: issuerPolicy(signIn), next: next}
	if page, err := template.ParseFS(files, "index.html"); err == nil {
		var html bytes.Buffer
		signIn.Scopes = cmp.Or(signIn.Scopes, names.DefaultScopes)
		if page.Execute(&html, struct {
			names.Portal
			SignIn names.SignIn
		}{portal, signIn}) == nil {
			p.html = html.Bytes()
		}
	}
	return p
}

// ServeHTTP serves a page or a file. The script in the page interprets the rest of the path.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, isAsset := strings.CutPrefix(r.URL.Path, assetsPath)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		p.next.ServeHTTP(w, r)
	case isAsset:
		p.serveAsset(w, r, file)
	case within("/console", r.URL.Path):
		p.servePage(w, p.issuer, "", "'none'")
	case within("/portal", r.URL.Path):
		p.servePage(w, "", p.images(), cmp.Or(strings.Join(p.portal.Embedders, " "), "'none'"))
	case r.URL.Path == docsPath+"/":
		page := r.Clone(r.Context())
		page.URL.Path, page.URL.RawPath = docsPath, ""
		p.next.ServeHTTP(w, page)
	default:
		p.next.ServeHTTP(w, r)
	}
}

func within(base, path string) bool { return path == base || strings.HasPrefix(path, base+"/") }

// issuerPolicy returns the origins of the issuer, for connect-src.
func issuerPolicy(s names.SignIn) string {
	u, err := url.Parse(s.Issuer)
	if s.Issuer == "" || err != nil {
		return ""
	}
	return " " + strings.Join(append([]string{u.Scheme + "://" + u.Host}, s.Origins...), " ")
}

// images returns a space and the origin of the portal's logo; "" if it has none.
func (p *pages) images() string {
	if origin := names.LogoOrigin(p.portal.Logo); origin != "" {
		return " " + origin
	}
	return ""
}

func (p *pages) servePage(w http.ResponseWriter, issuer, images, ancestors string) {
	answer := reply{status: http.StatusOK, raw: p.html}.with("Content-Type", "text/html; charset=utf-8")
	if p.html == nil {
		answer.status, answer.raw = http.StatusNotFound, []byte("This build has no console and no portal: run make web, then build or start Surehook again.\n")
		answer = answer.with("Content-Type", "text/plain; charset=utf-8")
	}
	// Windows of other sites that open this page cannot refer to its window.
	answer = answer.with("Cache-Control", pageCaching).with("Content-Security-Policy", fmt.Sprintf(pagePolicy, issuer, images, ancestors)).
		with("Referrer-Policy", "no-referrer").with("Cross-Origin-Opener-Policy", "same-origin")
	answer.write(w)
}

// serveAsset serves a file of the pages in the smallest encoding that the browser accepts.
func (p *pages) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	mediaType := mediaTypeOf(name)
	if mediaType == "" || !fs.ValidPath(name) {
		p.next.ServeHTTP(w, r)
		return
	}
	answer := reply{status: http.StatusOK}.with("Content-Type", mediaType).with("Cache-Control", assetsCaching).with("Vary", "Accept-Encoding")
	accepted := r.Header.Get("Accept-Encoding")
	for _, form := range []struct{ encoding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}, {"", ""}} {
		if !strings.Contains(accepted, form.encoding) {
			continue
		}
		raw, err := fs.ReadFile(p.files, name+form.suffix)
		if err != nil {
			continue
		}
		if form.encoding != "" {
			answer = answer.with("Content-Encoding", form.encoding)
		}
		answer.raw = raw
		answer.write(w)
		return
	}
	p.next.ServeHTTP(w, r)
}

// mediaTypeOf returns the type of a file that may be served; "" for all others.
func mediaTypeOf(name string) string {
	return map[string]string{
		".js":    "text/javascript; charset=utf-8",
		".css":   "text/css; charset=utf-8",
		".svg":   "image/svg+xml",
		".woff2": "font/woff2",
	}[path.Ext(name)]
}
