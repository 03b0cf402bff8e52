package names_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/names"
)

func TestValidAccent(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{"#3b5bdb": true, "#ABCDEF": true, "": false, "#fff": false, "red": false, "#3b5bdb;": false, "3b5bdb0": false} {
		if got := names.ValidAccent(text); got != want {
			t.Errorf("ValidAccent(%q) = %t; want %t", text, got, want)
		}
	}
}

func TestValidLogo(t *testing.T) {
	t.Parallel()

	data := "data:image/svg+xml;base64,"
	tests := map[string]struct {
		valid  bool
		origin string
	}{
		"https://cdn.example.com/logo.svg?v=2":    {true, "https://cdn.example.com"},
		"https://cdn.example.com:8443/logo.png":   {true, "https://cdn.example.com:8443"},
		data + "PHN2Zy8+":                         {true, ""},
		data + strings.Repeat("A", 900-len(data)): {true, ""},
		data + strings.Repeat("A", 901-len(data)): {},
		data:                                    {},
		"data:text/html;base64,PHN2Zy8+":        {},
		"data:image/svg+xml,<svg/>":             {},
		"http://cdn.example.com/logo.svg":       {},
		"https://*.example.com/logo.svg":        {},
		"https://user@cdn.example.com/logo.svg": {},
		"https://a;script-src *":                {},
		"javascript:alert(1)":                   {},
		"logo.svg":                              {},
		"":                                      {},
	}
	for text, want := range tests {
		if got := names.ValidLogo(text); got != want.valid {
			t.Errorf("ValidLogo(%q) = %t; want %t", text, got, want.valid)
		}
		if got := names.LogoOrigin(text); got != want.origin {
			t.Errorf("LogoOrigin(%q) = %q; want %q", text, got, want.origin)
		}
	}
}

func TestValidOrigin(t *testing.T) {
	t.Parallel()

	tests := map[string]bool{
		"https://app.example.com": true, "https://*.example.com": true, "https://app.example.com:8443": true, "http://localhost:3000": true,
		"http://127.0.0.1:3000": true, "http://app.example.com": false, "https://app.example.com/": false, "https://a;script-src *": false,
		"https://a b": false, "*": false, "https://": false, "https://u@a.example": false, "'self'": false, "": false, "https://a,b": false,
	}
	for text, want := range tests {
		if got := names.ValidOrigin(text); got != want {
			t.Errorf("ValidOrigin(%q) = %t; want %t", text, got, want)
		}
	}
}
