package egress_test

import (
	"errors"
	"net/netip"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
)

// The one extra host that the local stack allows, for containers.
const container = "host.docker.internal"

func TestPolicy_CheckURL_host(t *testing.T) {
	t.Parallel()

	local := egress.Policy{Loopback: true, Host: container, Own: []string{container + ":4566"}}
	tests := []struct {
		name   string
		policy egress.Policy
		url    string
		want   string
	}{
		{name: "the host", policy: local, url: "http://host.docker.internal:39123/hooks", want: fine},
		{name: "the host in upper case", policy: local, url: "https://HOST.docker.internal/", want: fine},
		{name: "the host as Surehook's own API", policy: local, url: "http://host.docker.internal:4566/", want: "must not lead to the API of Surehook itself"},
		{name: "a host below the host", policy: local, url: "http://a.host.docker.internal:39123/", want: private},
		{name: "another internal host", policy: local, url: "http://gateway.docker.internal:39123/", want: private},
		{name: "without the setting", policy: egress.Policy{Loopback: true}, url: "http://host.docker.internal:39123/", want: private},
		{name: "the setting without loopback", policy: egress.Policy{Host: container}, url: "https://host.docker.internal/", want: private},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.policy.CheckURL(tt.url); got != tt.want {
				t.Errorf("CheckURL(%q) = %q; want %q", tt.url, got, tt.want)
			}
		})
	}
}

// Judges resolved addresses without dialing, because a private address may belong to another
// machine.
func TestPolicy_Control_host(t *testing.T) {
	t.Parallel()

	local := egress.Policy{Loopback: true, Host: container, RuntimeAPI: netip.MustParseAddrPort("172.17.0.2:9001")}
	tests := []struct {
		name        string
		policy      egress.Policy
		host, addr  string
		wantBlocked bool
	}{
		{name: "the host at a private address", policy: local, host: container, addr: "172.17.0.1:39123"},
		{name: "the host in upper case", policy: local, host: "Host.Docker.Internal", addr: "192.168.65.254:39123"},
		{name: "the host at loopback", policy: local, host: container, addr: "127.0.0.1:39123"},
		{name: "the host at the metadata", policy: local, host: container, addr: "169.254.169.254:80", wantBlocked: true},
		{name: "the host at the metadata over IPv6", policy: local, host: container, addr: "[fd00:ec2::254]:80", wantBlocked: true},
		{name: "the host at the runtime API", policy: local, host: container, addr: "172.17.0.2:9001", wantBlocked: true},
		{name: "another host at the same address", policy: local, host: "receiver.test", addr: "172.17.0.1:39123", wantBlocked: true},
		{name: "the address itself", policy: local, host: "172.17.0.1", addr: "172.17.0.1:39123", wantBlocked: true},
		{name: "no name without the setting", policy: egress.Policy{Loopback: true}, addr: "172.17.0.1:39123", wantBlocked: true},
		{name: "the setting without loopback", policy: egress.Policy{Host: container}, host: container, addr: "172.17.0.1:39123", wantBlocked: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := tt.policy.Control(tt.host, tt.addr)
			if _, blocked := errors.AsType[*egress.BlockedError](err); blocked != tt.wantBlocked {
				t.Errorf("Control(%q, %s) = %v; want blocked %t", tt.host, tt.addr, err, tt.wantBlocked)
			}
		})
	}
}
