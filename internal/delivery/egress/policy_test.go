package egress_test

import (
	"net/netip"
	"testing"

	"surehook/internal/delivery/egress"
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
		{"a public IPv4 address", strict, "1.1.1.1:443", egress.VerdictAllowed},
		{"a public IPv6 address", strict, "[2606:4700::1111]:443", egress.VerdictAllowed},
		{"port 8443", strict, "1.1.1.1:8443", egress.VerdictAllowed},
		{"port 80", strict, "1.1.1.1:80", egress.VerdictAllowed},
		{"port 8080", strict, "1.1.1.1:8080", egress.VerdictAllowed},
		{"port 0", strict, "1.1.1.1:0", egress.VerdictPort},
		{"the port before https", strict, "1.1.1.1:442", egress.VerdictPort},
		{"ssh", strict, "1.1.1.1:22", egress.VerdictPort},
		{"a database", strict, "[2606:4700::1111]:5432", egress.VerdictPort},
		{"a reserved address is named as such on any port", strict, "10.0.0.1:22", egress.VerdictReserved},
		{"instance metadata", strict, "169.254.169.254:80", egress.VerdictReserved},
		{"container credentials", strict, "169.254.170.2:80", egress.VerdictReserved},
		{"instance DNS", strict, "169.254.169.253:443", egress.VerdictReserved},
		{"instance DNS over IPv6", strict, "[fd00:ec2::253]:443", egress.VerdictReserved},
		{"pod identity credentials", strict, "169.254.170.23:80", egress.VerdictReserved},
		{"pod identity credentials over IPv6", strict, "[fd00:ec2::23]:80", egress.VerdictReserved},
		{"instance metadata over IPv6", strict, "[fd00:ec2::254]:80", egress.VerdictReserved},
		{"loopback", strict, "127.0.0.1:443", egress.VerdictReserved},
		{"a public address in the mapped form", strict, "[::ffff:1.1.1.1]:443", egress.VerdictReserved},
		{"loopback in the mapped form", strict, "[::ffff:127.0.0.1]:443", egress.VerdictReserved},
		{"metadata in the compatible form", strict, "[::169.254.169.254]:80", egress.VerdictReserved},
		{"metadata through NAT64", strict, "[64:ff9b::169.254.169.254]:80", egress.VerdictReserved},
		{"metadata through local NAT64", strict, "[64:ff9b:1::a9fe:a9fe]:80", egress.VerdictReserved},
		{"metadata through 6to4", strict, "[2002:a9fe:a9fe::1]:80", egress.VerdictReserved},
		{"Teredo", strict, "[2001:0:a9fe:a9fe::1]:80", egress.VerdictReserved},
		{"a public address with a zone", strict, "[2606:4700::1111%eth0]:443", egress.VerdictReserved},

		{"the runtime API", strict, "127.0.0.1:9001", egress.VerdictRuntimeAPI},
		{"the runtime API in the mapped form", strict, "[::ffff:127.0.0.1]:9001", egress.VerdictRuntimeAPI},
		{"the runtime API elsewhere", bridged, "172.17.0.1:9001", egress.VerdictRuntimeAPI},
		{"the runtime API at a link-local address", linked, "169.254.100.1:9001", egress.VerdictRuntimeAPI},
		{"the same in the mapped form", linked, "[::ffff:169.254.100.1]:9001", egress.VerdictRuntimeAPI},
		{"the same when its address is not known", strict, "169.254.100.1:9001", egress.VerdictReserved},
		{"a neighbor of the runtime API", bridged, "172.17.0.1:9002", egress.VerdictReserved},
		{"the runtime API at a public address", odd, "198.41.0.4:443", egress.VerdictRuntimeAPI},
		{"another port of that address", odd, "198.41.0.4:8443", egress.VerdictAllowed},

		{"loopback mode allows loopback", loopback, "127.0.0.1:39123", egress.VerdictAllowed},
		{"loopback mode allows all of 127/8", loopback, "127.255.255.255:1", egress.VerdictAllowed},
		{"loopback mode allows ::1", loopback, "[::1]:8000", egress.VerdictAllowed},
		{"loopback mode allows public addresses", loopback, "1.1.1.1:443", egress.VerdictAllowed},
		{"loopback mode keeps the ports of public addresses", loopback, "1.1.1.1:8000", egress.VerdictPort},
		{"loopback mode refuses private addresses", loopback, "192.168.1.1:443", egress.VerdictReserved},
		{"loopback mode refuses link-local addresses", loopback, "169.254.169.254:80", egress.VerdictReserved},
		{"loopback mode refuses the unspecified address", loopback, "0.0.0.0:8000", egress.VerdictReserved},
		{"loopback mode refuses the unspecified IPv6 address", loopback, "[::]:8000", egress.VerdictReserved},
		{"loopback mode refuses mapped loopback", loopback, "[::ffff:127.0.0.1]:8000", egress.VerdictReserved},
		{"loopback mode refuses ::1 with a zone", loopback, "[::1%lo]:8000", egress.VerdictReserved},
		{"loopback mode refuses the runtime API", loopback, "127.0.0.1:9001", egress.VerdictRuntimeAPI},
		{"loopback mode refuses its port on any loopback address", loopback, "127.0.0.2:9001", egress.VerdictRuntimeAPI},
		{"loopback mode refuses its port on ::1", loopback, "[::1]:9001", egress.VerdictRuntimeAPI},
		{"an emulator's runtime API", emulated, "127.0.0.1:41000", egress.VerdictRuntimeAPI},
		{"an emulator's runtime API on ::1", emulated, "[::1]:41000", egress.VerdictRuntimeAPI},
		{"the usual runtime API beside an emulator's", emulated, "127.0.0.1:9001", egress.VerdictRuntimeAPI},
		{"another port than an emulator's", emulated, "127.0.0.1:41001", egress.VerdictAllowed},
		{"an emulator's port at a public address", emulated, "1.1.1.1:41000", egress.VerdictPort},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.policy.Judge(netip.MustParseAddrPort(tt.addr)); got != tt.want {
				t.Errorf("%+v.Judge(%s) = %s; want %s", tt.policy, tt.addr, got, tt.want)
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

func TestVerdict_String(t *testing.T) {
	t.Parallel()

	want := map[egress.Verdict]string{
		0:                        "unknown",
		egress.VerdictAllowed:    "allowed",
		egress.VerdictReserved:   "reserved address",
		egress.VerdictPort:       "port",
		egress.VerdictRuntimeAPI: "runtime API",
	}
	for v, text := range want {
		if got := v.String(); got != text {
			t.Errorf("Verdict(%d).String() = %q; want %q", v, got, text)
		}
	}
}
