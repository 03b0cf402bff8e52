package apikey_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/hook"
)

// picky is a store that fails with an internal error for any key but its own.
type picky struct{ keys }

func (p picky) KeyByHash(ctx context.Context, hash string) (hook.APIKey, error) {
	if _, ok := p.keys[hash]; !ok {
		return hook.APIKey{}, &hook.Error{Code: hook.CodeInternal, Message: "a lookup of something that is not a key"}
	}
	return p.keys.KeyByHash(ctx, hash)
}

// TestAuthenticator_Identify_headers checks the form of the header. An invalid header gives
// CodeUnauthorized without a lookup, and is not an internal fault.
func TestAuthenticator_Identify_headers(t *testing.T) {
	t.Parallel()

	long := "shk_" + strings.Repeat("e", 64)
	stored := picky{keys{
		hook.HashKey(acmeKey): {ID: "key_1", Tenant: "acme"},
		hook.HashKey(long):    {ID: "key_1", Tenant: "acme"},
	}}
	tests := []struct {
		name, header string
		known        bool
	}{
		{name: "the usual form", header: "Bearer " + acmeKey, known: true},
		{name: "the scheme in lower case", header: "bearer " + acmeKey, known: true},
		{name: "the scheme in upper case", header: "BEARER " + acmeKey, known: true},
		{name: "the longest key", header: "Bearer " + long, known: true},
		{name: "a key with one character too many", header: "Bearer " + long + "e", known: false},
		{name: "a key with one character too few", header: "Bearer " + acmeKey[:len(acmeKey)-1], known: false},
		{name: "nothing", header: "", known: false},
		{name: "a single space", header: " ", known: false},
		{name: "the scheme alone", header: "Bearer", known: false},
		{name: "the scheme and a space", header: "Bearer ", known: false},
		{name: "the key alone", header: acmeKey, known: false},
		{name: "no space", header: "Bearer" + acmeKey, known: false},
		{name: "two spaces", header: "Bearer  " + acmeKey, known: false},
		{name: "a tab", header: "Bearer\t" + acmeKey, known: false},
		{name: "a no-break space", header: "Bearer\u00a0" + acmeKey, known: false},
		{name: "a leading space", header: " Bearer " + acmeKey, known: false},
		{name: "a trailing space", header: "Bearer " + acmeKey + " ", known: false},
		{name: "many trailing spaces", header: "Bearer " + acmeKey + strings.Repeat(" ", 1000), known: false},
		{name: "a trailing line feed", header: "Bearer " + acmeKey + "\n", known: false},
		{name: "a second line", header: "Bearer " + acmeKey + "\r\nX-Tenant: *", known: false},
		{name: "a trailing zero byte", header: "Bearer " + acmeKey + "\x00", known: false},
		{name: "the header twice, joined", header: "Bearer " + acmeKey + ",Bearer " + acmeKey, known: false},
		{name: "the header twice, joined with a space", header: "Bearer " + acmeKey + ", Bearer " + acmeKey, known: false},
		{name: "two keys", header: "Bearer " + acmeKey + " " + acmeKey, known: false},
		{name: "a comma", header: "Bearer " + acmeKey + ",", known: false},
		{name: "a quoted key", header: `Bearer "` + acmeKey + `"`, known: false},
		{name: "a parameter", header: "Bearer token=" + acmeKey, known: false},
		{name: "another scheme", header: "Basic " + acmeKey, known: false},
		{name: "the scheme twice", header: strings.Repeat("Bearer ", 2) + acmeKey, known: false},
		{name: "the prefix in upper case", header: "Bearer SHK_" + acmeKey[4:], known: false},
		{name: "a full-width letter in the scheme", header: "\uff22earer " + acmeKey, known: false},
		{name: "a Kelvin sign (folds to k) in the prefix", header: "Bearer sh\u212a_" + acmeKey[4:], known: false},
		{name: "letters past ASCII", header: "Bearer shk_" + strings.Repeat("é", 43), known: false},
		{name: "invalid UTF-8", header: "Bearer shk_" + strings.Repeat("\xff", 43), known: false},
		{name: "zero bytes", header: strings.Repeat("\x00", 64), known: false},
		{name: "a wildcard", header: "Bearer shk_*", known: false},
		{name: "a megabyte of key", header: "Bearer shk_" + strings.Repeat("a", 1<<20), known: false},
		{name: "a megabyte of scheme", header: strings.Repeat("Bearer", 1<<18), known: false},
		{name: "a megabyte of spaces", header: "Bearer" + strings.Repeat(" ", 1<<20) + acmeKey, known: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := &apikey.Authenticator{Keys: stored, Admin: admin{key: adminKey}, Log: slog.New(slog.DiscardHandler), Now: noon}
			got, err := a.Identify(t.Context(), tt.header)
			switch {
			case tt.known && (err != nil || got.Tenant != "acme"):
				t.Errorf("Identify(%q) = %+v, %v; want acme", tt.header, got, err)
			case !tt.known && (got.Key != "" || err == nil || hook.CodeOf(err) != hook.CodeUnauthorized):
				t.Errorf("Identify(%.100q) = %+v, %v; want CodeUnauthorized", tt.header, got, err)
			}
		})
	}
}
