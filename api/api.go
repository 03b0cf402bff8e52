// Package api holds the contract of the HTTP API, openapi.yaml, and the page with
// the rendered contract.
package api

import "embed"

// Files holds the contract as openapi.yaml and the page in docs. The renderer is in
// docs/dist only after `make build`.
//
//go:embed openapi.yaml docs/page.html docs/plain.html docs/start.js docs/dist
var Files embed.FS
