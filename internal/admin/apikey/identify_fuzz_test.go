package apikey_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/hook"
)

// oneKey holds one key and records the requested hashes.
type oneKey struct {
	key   string
	asked []string
}

func (o *oneKey) KeyByHash(_ context.Context, hash string) (hook.APIKey, error) {
	o.asked = append(o.asked, hash)
	if hash == hook.HashKey(o.key) {
		return hook.APIKey{ID: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}, Hash: hash}, nil
	}
	return hook.APIKey{}, hook.NotFound("key")
}

func (o *oneKey) TouchKey(context.Context, hook.APIKey, string) error { return nil }

// FuzzIdentify checks that only the exact headers of the two existing keys
// identify a caller, and that malformed keys cause no read.
func FuzzIdentify(f *testing.F) {
	for _, seed := range []string{
		"", "Bearer", "Bearer ", "Bearer " + acmeKey, "bearer " + adminKey, "BEARER " + otherKey, "Bearer  " + acmeKey, "Bearer " + acmeKey + " ",
		"Bearer\t" + acmeKey, "Basic " + acmeKey, acmeKey, "Bearer " + acmeKey + "\n", "Bearer " + acmeKey + "," + adminKey,
		"Bearer shk_" + strings.Repeat("a", 42), "Bearer shk_" + strings.Repeat("a", 65), "Bearer SHK_" + acmeKey[4:], `Bearer "` + acmeKey + `"`, "Bearer " + acmeKey + "a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		table := &oneKey{key: acmeKey}
		a := &apikey.Authenticator{
			Keys: table, Admin: admin{key: adminKey}, Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		}
		p, err := a.Identify(t.Context(), header)

		var want hook.KeyID
		const scheme = len("Bearer ")
		if len(header) > scheme && strings.EqualFold(header[:scheme], "Bearer ") {
			switch header[scheme:] {
			case acmeKey:
				want = "key_1"
			case adminKey:
				want = apikey.AdminKeyID
			}
		}
		if p.Key != want || (err == nil) != (want != "") || err != nil && hook.CodeOf(err) != hook.CodeUnauthorized {
			t.Errorf("Identify(%q) = %+v, %v; want %q", header, p, err, want)
		}
		if err != nil && (p.Tenant != "" || p.Scopes != nil) {
			t.Errorf("Identify(%q) = %+v, %v; want nobody", header, p, err)
		}
		if len(table.asked) > 0 && !strings.Contains(header, " "+hook.APIKeyPrefix) {
			t.Errorf("Identify(%q) asked the table", header)
		}
	})
}
