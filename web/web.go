// Package web holds the built console and portal. Package httpapi serves the files.
package web

import "embed"

// Files holds the folder dist: index.html and the folder assets after `make web`, and a
// note without the build.
//
//go:embed dist
var Files embed.FS
