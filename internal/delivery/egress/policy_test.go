package egress_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
)

func TestPolicy_Judge(t *testing.T) {
	t.Parallel()

	var (
		strict   = egress.Policy{}
		loopback = egress.Policy{Loopback: true}
		emulated = egress.Policy{Loopback: true, RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:41000")}
		bridged  = egress.Policy{RuntimeAPI: netip.MustParseAddrPort("172.17.0.1:9001")}
		linked   = egress.Policy{RuntimeAPI: netip.MustParseAddrPort("169.254.100.1:9001")}
		odd      = egress.Policy{RuntimeAPI: netip.MustParseAddrPort("198.41.0.4:443")}
	)
	tests := []struct {
		name   string
		policy egress.Policy
		addr   string
		want   egress.Verdict
	}{
		{name: "a public IPv4 address", policy: strict, addr: "1.1.1.1:443", want: egress.VerdictAllowed},
		{name: "a public IPv6 address", policy: strict, addr: "[2606:4700::1111]:443", want: egress.VerdictAllowed},
		{name: "port 8443", policy: strict, addr: "1.1.1.1:8443", want: egress.VerdictAllowed},
		{name: "port 80", policy: strict, addr: "1.1.1.1:80", want: egress.VerdictAllowed},
		{name: "port 8080", policy: strict, addr: "1.1.1.1:8080", want: egress.VerdictAllowed},
		{name: "port 0", policy: strict, addr: "1.1.1.1:0", want: egress.VerdictPort},
		{name: "the port before https", policy: strict, addr: "1.1.1.1:442", want: egress.VerdictPort},
		{name: "ssh", policy: strict, addr: "1.1.1.1:22", want: egress.VerdictPort},
		{name: "a database", policy: strict, addr: "[2606:4700::1111]:5432", want: egress.VerdictPort},
		{name: "a reserved address is named as such on any port", policy: strict, addr: "10.0.0.1:22", want: egress.VerdictReserved},
		{name: "instance metadata", policy: strict, addr: "169.254.169.254:80", want: egress.VerdictReserved},
		{name: "container credentials", policy: strict, addr: "169.254.170.2:80", want: egress.VerdictReserved},
		{name: "instance DNS", policy: strict, addr: "169.254.169.253:443", want: egress.VerdictReserved},
		{name: "instance DNS over IPv6", policy: strict, addr: "[fd00:ec2::253]:443", want: egress.VerdictReserved},
		{name: "pod identity credentials", policy: strict, addr: "169.254.170.23:80", want: egress.VerdictReserved},
		{name: "pod identity credentials over IPv6", policy: strict, addr: "[fd00:ec2::23]:80", want: egress.VerdictReserved},
		{name: "instance metadata over IPv6", policy: strict, addr: "[fd00:ec2::254]:80", want: egress.VerdictReserved},
		{name: "loopback", policy: strict, addr: "127.0.0.1:443", want: egress.VerdictReserved},
		{name: "a public address in the mapped form", policy: strict, addr: "[::ffff:1.1.1.1]:443", want: egress.VerdictReserved},
		{name: "loopback in the mapped form", policy: strict, addr: "[::ffff:127.0.0.1]:443", want: egress.VerdictReserved},
		{name: "metadata in the compatible form", policy: strict, addr: "[::169.254.169.254]:80", want: egress.VerdictReserved},
		{name: "metadata through NAT64", policy: strict, addr: "[64:ff9b::169.254.169.254]:80", want: egress.VerdictReserved},
		{name: "metadata through local NAT64", policy: strict, addr: "[64:ff9b:1::a9fe:a9fe]:80", want: egress.VerdictReserved},
		{name: "metadata through 6to4", policy: strict, addr: "[2002:a9fe:a9fe::1]:80", want: egress.VerdictReserved},
		{name: "Teredo", policy: strict, addr: "[2001:0:a9fe:a9fe::1]:80", want: egress.VerdictReserved},
		{name: "a public address with a zone", policy: strict, addr: "[2606:4700::1111%eth0]:443", want: egress.VerdictReserved},

		{name: "the runtime API", policy: strict, addr: "127.0.0.1:9001", want: egress.VerdictRuntimeAPI},
		{name: "the runtime API in the mapped form", policy: strict, addr: "[::ffff:127.0.0.1]:9001", want: egress.VerdictRuntimeAPI},
		{name: "the runtime API elsewhere", policy: bridged, addr: "172.17.0.1:9001", want: egress.VerdictRuntimeAPI},
		{name: "the runtime API at a link-local address", policy: linked, addr: "169.254.100.1:9001", want: egress.VerdictRuntimeAPI},
		{name: "the same in the mapped form", policy: linked, addr: "[::ffff:169.254.100.1]:9001", want: egress.VerdictRuntimeAPI},
		{name: "the same when its address is not known", policy: strict, addr: "169.254.100.1:9001", want: egress.VerdictReserved},
		{name: "a neighbor of the runtime API", policy: bridged, addr: "172.17.0.1:9002", want: egress.VerdictReserved},
		{name: "the runtime API at a public address", policy: odd, addr: "198.41.0.4:443", want: egress.VerdictRuntimeAPI},
		{name: "another port of that address", policy: odd, addr: "198.41.0.4:8443", want: egress.VerdictAllowed},

		{name: "loopback mode allows loopback", policy: loopback, addr: "127.0.0.1:39123", want: egress.VerdictAllowed},
		{name: "loopback mode allows all of 127/8", policy: loopback, addr: "127.255.255.255:1", want: egress.VerdictAllowed},
		{name: "loopback mode allows ::1", policy: loopback, addr: "[::1]:8000", want: egress.VerdictAllowed},
		{name: "loopback mode allows public addresses", policy: loopback, addr: "1.1.1.1:443", want: egress.VerdictAllowed},
		{name: "loopback mode keeps the ports of public addresses", policy: loopback, addr: "1.1.1.1:8000", want: egress.VerdictPort},
		{name: "loopback mode refuses private addresses", policy: loopback, addr: "192.168.1.1:443", want: egress.VerdictReserved},
		{name: "loopback mode refuses link-local addresses", policy: loopback, addr: "169.254.169.254:80", want: egress.VerdictReserved},
		{name: "loopback mode refuses the unspecified address", policy: loopback, addr: "0.0.0.0:8000", want: egress.VerdictReserved},
		{name: "loopback mode refuses the unspecified IPv6 address", policy: loopback, addr: "[::]:8000", want: egress.VerdictReserved},
		{name: "loopback mode refuses mapped loopback", policy: loopback, addr: "[::ffff:127.0.0.1]:8000", want: egress.VerdictReserved},
		{name: "loopback mode refuses ::1 with a zone", policy: loopback, addr: "[::1%lo]:8000", want: egress.VerdictReserved},
		{name: "loopback mode refuses the runtime API", policy: loopback, addr: "127.0.0.1:9001", want: egress.VerdictRuntimeAPI},
		{name: "loopback mode refuses its port on any loopback address", policy: loopback, addr: "127.0.0.2:9001", want: egress.VerdictRuntimeAPI},
		{name: "loopback mode refuses its port on ::1", policy: loopback, addr: "[::1]:9001", want: egress.VerdictRuntimeAPI},
		{name: "an emulator's runtime API", policy: emulated, addr: "127.0.0.1:41000", want: egress.VerdictRuntimeAPI},
		{name: "an emulator's runtime API on ::1", policy: emulated, addr: "[::1]:41000", want: egress.VerdictRuntimeAPI},
		{name: "the usual runtime API beside an emulator's", policy: emulated, addr: "127.0.0.1:9001", want: egress.VerdictRuntimeAPI},
		{name: "another port than an emulator's", policy: emulated, addr: "127.0.0.1:41001", want: egress.VerdictAllowed},
		{name: "an emulator's port at a public address", policy: emulated, addr: "1.1.1.1:41000", want: egress.VerdictPort},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.policy.Judge(netip.MustParseAddrPort(tt.addr)); got != tt.want {
				t.Errorf("%+v.Judge(%s) = %s; want %s", tt.policy, tt.addr, got, tt.want)
			}
			private := tt.policy
			private.Private = everything(t)
			want := egress.VerdictUnlisted
			switch {
			case tt.want == egress.VerdictRuntimeAPI:
				want = tt.want
			case slices.ContainsFunc([]string{"10.", "172.17.", "192.168."}, func(prefix string) bool { return strings.HasPrefix(tt.addr, prefix) }): // all ports are listed
				want = egress.VerdictAllowed
			}
			if got := private.Judge(netip.MustParseAddrPort(tt.addr)); got != want {
				t.Errorf("Judge(%s) of a private endpoint = %s; want %s", tt.addr, got, want)
			}
		})
	}
}

func TestPolicy_Judge_noAddress(t *testing.T) {
	t.Parallel()

	for _, p := range []egress.Policy{{}, {Loopback: true}} {
		if got := p.Judge(netip.AddrPort{}); got != egress.VerdictReserved {
			t.Errorf("%+v.Judge(no address) = %s; want reserved address", p, got)
		}
	}
}
