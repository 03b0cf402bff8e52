package hook_test

import (
	"net/netip"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

func TestPrincipal_Admit(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	tests := []struct {
		name      string
		expiresAt time.Time
		networks  []netip.Prefix
		from      string
		want      hook.Code // 0 for none
	}{
		{name: "no restriction", from: "198.51.100.1", want: 0},
		{name: "no restriction, and no address", from: "", want: 0},
		{name: "a moment before the expiry", expiresAt: now.Add(time.Millisecond), from: "198.51.100.1", want: 0},
		{name: "at the expiry", expiresAt: now, from: "198.51.100.1", want: hook.CodeUnauthorized},
		{name: "expired, from another network", expiresAt: now.Add(-time.Hour), networks: networks, from: "198.51.100.1", want: hook.CodeUnauthorized},
		{name: "the first address", networks: networks, from: "192.0.2.0", want: 0},
		{name: "the last address", networks: networks, from: "192.0.2.255", want: 0},
		{name: "after the last address", networks: networks, from: "192.0.3.0", want: hook.CodeForbidden},
		{name: "IPv4 in IPv6 form", networks: networks, from: "::ffff:192.0.2.7", want: 0},
		{name: "IPv6", networks: networks, from: "2001:db8::1", want: 0},
		{name: "IPv6 with a zone", networks: networks, from: "2001:db8::1%eth0", want: 0},
		{name: "IPv6 outside", networks: networks, from: "2001:db9::1", want: hook.CodeForbidden},
		{name: "no address", networks: networks, from: "", want: hook.CodeForbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var from netip.Addr
			if tt.from != "" {
				from = netip.MustParseAddr(tt.from)
			}
			p := hook.Principal{Restriction: hook.Restriction{ExpiresAt: tt.expiresAt, Networks: tt.networks}}
			var got hook.Code
			err := p.Admit(now, from)
			if err != nil {
				got = hook.CodeOf(err)
			}
			if got != tt.want {
				t.Errorf("Admit(%s) = %v; want code %s", tt.from, err, tt.want)
			}
		})
	}
}
