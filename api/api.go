// Package api holds the contract of the HTTP API, openapi.yaml, and the page
// that shows it to people.
package api

import "embed"

// Files holds the contract as openapi.yaml and the page in docs. What renders
// the page is in docs/dist only if `make build` was run before the build.
//
//go:embed openapi.yaml docs/page.html docs/plain.html docs/start.js docs/dist
var Files embed.FS
