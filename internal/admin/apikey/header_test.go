package apikey_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"surehook/internal/admin/apikey"
	"surehook/internal/hook"
)

// picky knows one tenant's keys and does not answer when asked for any other.
type picky struct{ keys }

func (p picky) KeyByHash(ctx context.Context, hash string) (hook.APIKey, error) {
	if _, ok := p.keys[hash]; !ok {
		return hook.APIKey{}, &hook.Error{Code: hook.CodeInternal, Message: "asked for what is no key"}
	}
	return p.keys.KeyByHash(ctx, hash)
}

// TestAuthenticator_Identify_headers checks that a header is a key in the one
// form there is or the caller is unknown; that it never is a fault of ours, and
// that what cannot be a key is not looked up.
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
		{"the form there is", "Bearer " + acmeKey, true},
		{"the scheme in lower case", "bearer " + acmeKey, true},
		{"the scheme in upper case", "BEARER " + acmeKey, true},
		{"the longest key", "Bearer " + long, true},
		{"a key one too long", "Bearer " + long + "e", false},
		{"a key one too short", "Bearer " + acmeKey[:len(acmeKey)-1], false},
		{"nothing", "", false},
		{"a space", " ", false},
		{"the scheme alone", "Bearer", false},
		{"the scheme and a space", "Bearer ", false},
		{"the key alone", acmeKey, false},
		{"no space", "Bearer" + acmeKey, false},
		{"two spaces", "Bearer  " + acmeKey, false},
		{"a tab", "Bearer\t" + acmeKey, false},
		{"a no-break space", "Bearer\u00a0" + acmeKey, false},
		{"a leading space", " Bearer " + acmeKey, false},
		{"a trailing space", "Bearer " + acmeKey + " ", false},
		{"many trailing spaces", "Bearer " + acmeKey + strings.Repeat(" ", 1000), false},
		{"a trailing line feed", "Bearer " + acmeKey + "\n", false},
		{"a second line", "Bearer " + acmeKey + "\r\nX-Tenant: *", false},
		{"a trailing zero byte", "Bearer " + acmeKey + "\x00", false},
		{"the header twice, joined", "Bearer " + acmeKey + ",Bearer " + acmeKey, false},
		{"the header twice, joined with a space", "Bearer " + acmeKey + ", Bearer " + acmeKey, false},
		{"two keys", "Bearer " + acmeKey + " " + acmeKey, false},
		{"a comma", "Bearer " + acmeKey + ",", false},
		{"a quoted key", `Bearer "` + acmeKey + `"`, false},
		{"a parameter", "Bearer token=" + acmeKey, false},
		{"another scheme", "Basic " + acmeKey, false},
		{"the scheme twice", strings.Repeat("Bearer ", 2) + acmeKey, false},
		{"the prefix in upper case", "Bearer SHK_" + acmeKey[4:], false},
		{"a full-width letter in the scheme", "\uff22earer " + acmeKey, false},
		{"a Kelvin sign, which folds to k, in the prefix", "Bearer sh\u212a_" + acmeKey[4:], false},
		{"letters past ASCII", "Bearer shk_" + strings.Repeat("é", 43), false},
		{"bytes that are no UTF-8", "Bearer shk_" + strings.Repeat("\xff", 43), false},
		{"zero bytes", strings.Repeat("\x00", 64), false},
		{"a wildcard", "Bearer shk_*", false},
		{"a megabyte of key", "Bearer shk_" + strings.Repeat("a", 1<<20), false},
		{"a megabyte of scheme", strings.Repeat("Bearer", 1<<18), false},
		{"a megabyte of spaces", "Bearer" + strings.Repeat(" ", 1<<20) + acmeKey, false},
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
