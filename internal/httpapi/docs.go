package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"surehook/internal/hook"
)

// The page runs only what comes from this host, and nothing that is written in
// the page itself. The pictures of its style sheet are in the sheet.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docsCaching lets a page of three files load once. It is short, so that the
// files of two versions do not meet for long.
const docsCaching = "public, max-age=300"

// docs serves the document of the API and the page that renders it. They hold
// nothing secret and need no key.
type docs struct{ files fs.FS }

func (h docs) document(context.Context, *call) (reply, error) {
	return h.file("openapi.yaml", "application/yaml")
}

// page answers with the page that renders the document or, when it was built
// without the renderer, with one that links it.
func (h docs) page(context.Context, *call) (reply, error) {
	name := "docs/page.html"
	if _, err := fs.Stat(h.files, "docs/dist/swagger-ui-bundle.js"); err != nil {
		name = "docs/plain.html"
	}
	return h.file(name, "text/html; charset=utf-8")
}

// part answers with what the page loads.
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
	answer := ok(nil).with("Content-Type", mediaType).with("Cache-Control", docsCaching).
		with("Content-Security-Policy", docsPolicy).with("Referrer-Policy", "no-referrer")
	answer.raw = raw
	return answer, nil
}
