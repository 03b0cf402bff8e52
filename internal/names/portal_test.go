package names_test

import (
	"testing"

	"surehook/internal/names"
)

func TestValidAccent(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{"#3b5bdb": true, "#ABCDEF": true, "": false, "#fff": false, "red": false, "#3b5bdb;": false, "3b5bdb0": false} {
		if got := names.ValidAccent(text); got != want {
			t.Errorf("ValidAccent(%q) = %t; want %t", text, got, want)
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
