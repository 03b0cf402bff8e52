package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"surehook.example/surehook/internal/hook"
)

// docsPolicy lets the page load scripts and styles from this host, and forbids inline ones. The
// style sheet embeds images as data URLs.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docsCaching caches the three files of the page for 5 minutes. After a deployment, a browser may
// mix files of two versions for that long.
const docsCaching = "public, max-age=300"

// docs serves the OpenAPI document and the page with the rendered document, both
// public.
type docs struct{ files fs.FS }

func (h docs) document(context.Context, *call) (reply, error) {
	return h.file("openapi.yaml", "application/yaml")
}

// page responds with the page for the rendered document. A build without the
// renderer responds with a plain page and a link to the document.
func (h docs) page(context.Context, *call) (reply, error) {
	name := "docs/page.html"
	if _, err := fs.Stat(h.files, "docs/dist/swagger-ui-bundle.js"); err != nil {
		name = "docs/plain.html"
	}
	return h.file(name, "text/html; charset=utf-8")
}

// part responds with a script or style sheet of the page.
func (h docs) part(_ context.Context, c *call) (reply, error) {
	switch c.r.PathValue("file") {
	case "start.js":
		return h.file("docs/start.js", "text/javascript; charset=utf-8")
	case "swagger-ui-bundle.js":
		return h.file("docs/dist/swagger-ui-bundle.js", "text/javascript; charset=utf-8")
	case "swagger-ui.css":
		return h.file("docs/dist/swagger-ui.css", "text/css; charset=utf-8")
	}
	return reply{}, hook.NotFound("file")
}

func (h docs) file(name, mediaType string) (reply, error) {
	raw, err := fs.ReadFile(h.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return reply{}, hook.NotFound("file")
	}
	if err != nil {
		return reply{}, fmt.Errorf("read %s: %w", name, err)
	}
	return reply{status: http.StatusOK, raw: raw}.with("Content-Type", mediaType).with("Cache-Control", docsCaching).
		with("Content-Security-Policy", docsPolicy).with("Referrer-Policy", "no-referrer"), nil
}
