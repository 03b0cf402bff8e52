package egress_test

import (
	"net/netip"
	"slices"
	"testing"

	"surehook/internal/delivery/egress"
)

// What is next to a block.
const (
	open   = egress.VerdictAllowed  // an ordinary public address
	closed = egress.VerdictReserved // an address of another block
	none   = egress.Verdict(0)      // nothing: the block begins or ends the address space
)

type specialBlock struct {
	name, block   string
	before, after egress.Verdict
}

// special are the blocks of the IANA special-purpose address registries
// (https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry), multicast, and what of IPv6 is not global
// unicast, each with what is before and after it. It is written out here so
// that the table in use is held to it; blocks that the registries call globally
// reachable are closed too, because no webhook is received there.
var special = []specialBlock{
	{"this network", "0.0.0.0/8", none, open},
	{"this host on this network", "0.0.0.0/32", none, closed},
	{"private use, class A", "10.0.0.0/8", open, open},
	{"shared address space", "100.64.0.0/10", open, open},
	{"loopback", "127.0.0.0/8", open, open},
	{"link local", "169.254.0.0/16", open, open},
	{"private use, class B", "172.16.0.0/12", open, open},
	{"IETF protocol assignments", "192.0.0.0/24", open, open},
	{"IPv4 service continuity prefix", "192.0.0.0/29", open, closed},
	{"IPv4 dummy address", "192.0.0.8/32", closed, closed},
	{"port control protocol anycast", "192.0.0.9/32", closed, closed},
	{"TURN anycast", "192.0.0.10/32", closed, closed},
	{"NAT64 discovery", "192.0.0.170/32", closed, closed},
	{"DNS64 discovery", "192.0.0.171/32", closed, closed},
	{"documentation, TEST-NET-1", "192.0.2.0/24", open, open},
	{"AS112", "192.31.196.0/24", open, open},
	{"AMT", "192.52.193.0/24", open, open},
	{"deprecated 6to4 relay anycast", "192.88.99.0/24", open, open},
	{"6a44 relay anycast", "192.88.99.2/32", closed, closed},
	{"private use, class C", "192.168.0.0/16", open, open},
	{"direct delegation AS112", "192.175.48.0/24", open, open},
	{"benchmarking", "198.18.0.0/15", open, open},
	{"documentation, TEST-NET-2", "198.51.100.0/24", open, open},
	{"documentation, TEST-NET-3", "203.0.113.0/24", open, open},
	{"multicast", "224.0.0.0/4", open, closed},
	{"reserved", "240.0.0.0/4", closed, none},
	{"limited broadcast", "255.255.255.255/32", closed, none},

	{"unspecified", "::/128", none, closed},
	{"loopback of IPv6", "::1/128", closed, closed},
	{"IPv4-compatible", "::/96", none, closed},
	{"IPv4-mapped", "::ffff:0:0/96", closed, closed},
	{"IPv4-translated", "::ffff:0:0:0/96", closed, closed},
	{"IPv4-IPv6 translation", "64:ff9b::/96", closed, closed},
	{"local IPv4-IPv6 translation", "64:ff9b:1::/48", closed, closed},
	{"discard only", "100::/64", closed, closed},
	{"dummy prefix", "100:0:0:1::/64", closed, closed},
	{"IETF protocol assignments of IPv6", "2001::/23", open, open},
	{"Teredo", "2001::/32", open, closed},
	{"port control protocol anycast of IPv6", "2001:1::1/128", closed, closed},
	{"TURN anycast of IPv6", "2001:1::2/128", closed, closed},
	{"DNS-SD registration anycast", "2001:1::3/128", closed, closed},
	{"benchmarking of IPv6", "2001:2::/48", closed, closed},
	{"AMT of IPv6", "2001:3::/32", closed, closed},
	{"AS112 of IPv6", "2001:4:112::/48", closed, closed},
	{"deprecated ORCHID", "2001:10::/28", closed, closed},
	{"ORCHIDv2", "2001:20::/28", closed, closed},
	{"drone remote id", "2001:30::/28", closed, closed},
	{"documentation of IPv6", "2001:db8::/32", open, open},
	{"6to4", "2002::/16", open, open},
	{"direct delegation AS112 of IPv6", "2620:4f:8000::/48", open, open},
	{"documentation of IPv6, the larger", "3fff::/20", open, open},
	{"segment routing", "5f00::/16", closed, closed},
	{"unique local", "fc00::/7", closed, closed},
	{"link local of IPv6", "fe80::/10", closed, closed},
	{"deprecated site local", "fec0::/10", closed, closed},
	{"multicast of IPv6", "ff00::/8", closed, none},
	{"below global unicast", "::/3", none, open},
	{"above global unicast", "4000::/2", open, closed},
	{"the upper half of IPv6", "8000::/1", closed, none},
}

func TestPolicy_Judge_bothBoundariesOfEverySpecialBlock(t *testing.T) {
	t.Parallel()

	for _, tt := range special {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			block := netip.MustParsePrefix(tt.block)
			if block != block.Masked() {
				t.Fatalf("%s is not the first address of its block", tt.block)
			}
			first, last := block.Addr(), lastOf(block)
			for _, edge := range []struct {
				ip   netip.Addr
				want egress.Verdict
			}{{first.Prev(), tt.before}, {first, closed}, {last, closed}, {last.Next(), tt.after}} {
				if edge.want == none {
					if edge.ip.IsValid() {
						t.Errorf("%s is next to %s; want nothing there", edge.ip, tt.block)
					}
					continue
				}
				for _, p := range []egress.Policy{{}, {Loopback: true}} {
					want := edge.want
					if p.Loopback && edge.ip.IsLoopback() {
						want = open
					}
					if got := p.Judge(netip.AddrPortFrom(edge.ip, 443)); got != want {
						t.Errorf("%+v.Judge(%s) = %s; want %s", p, edge.ip, got, want)
					}
				}
			}
		})
	}
}

// lastOf returns the highest address of the block.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	ip, _ := netip.AddrFromSlice(b)
	return ip
}

// TestPolicy_Judge_IPv4InsideIPv6 writes IPv4 addresses as IPv6 ones in every
// way that has a prefix of its own. All are refused, those of public addresses
// too: whoever means one can write it as it is.
func TestPolicy_Judge_IPv4InsideIPv6(t *testing.T) {
	t.Parallel()

	at := func(prefix string, offset int, mask byte) func([4]byte) netip.Addr {
		return func(ip [4]byte) netip.Addr {
			b := netip.MustParseAddr(prefix).As16()
			for i, octet := range ip {
				if offset+i >= 8 && offset < 8 { // the octet of bits 64 to 71 is left out (RFC 6052, section 2.2)
					i++
				}
				b[offset+i] = octet ^ mask
			}
			return netip.AddrFrom16(b)
		}
	}
	tests := []struct {
		name  string
		write func([4]byte) netip.Addr
		want  string // of 169.254.169.254
	}{
		{"mapped", at("::ffff:0:0", 12, 0), "::ffff:169.254.169.254"},
		{"compatible", at("::", 12, 0), "::a9fe:a9fe"},
		{"translated", at("::ffff:0:0:0", 12, 0), "::ffff:0:a9fe:a9fe"},
		{"NAT64", at("64:ff9b::", 12, 0), "64:ff9b::a9fe:a9fe"},
		{"local NAT64", at("64:ff9b:1::", 12, 0), "64:ff9b:1::a9fe:a9fe"},
		{"local NAT64 of 48 bits", at("64:ff9b:1::", 6, 0), "64:ff9b:1:a9fe:a9:fe00::"},
		{"6to4", at("2002::1", 2, 0), "2002:a9fe:a9fe::1"},
		{"a Teredo server", at("2001::", 4, 0), "2001:0:a9fe:a9fe::"},
		{"a Teredo client", at("2001:0:102:304::", 12, 0xff), "2001:0:102:304::5601:5601"},
		{"ISATAP on the link", at("fe80::5efe:0:0", 12, 0), "fe80::5efe:a9fe:a9fe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.write([4]byte{169, 254, 169, 254}); got.String() != tt.want {
				t.Fatalf("169.254.169.254 is written as %s; want %s", got, tt.want)
			}
			for _, ip := range [][4]byte{{169, 254, 169, 254}, {127, 0, 0, 1}, {10, 0, 0, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}} {
				for _, p := range []egress.Policy{{}, {Loopback: true}} {
					addr := tt.write(ip)
					if addr.IsLoopback() && !addr.Is4In6() {
						continue // ::1 is itself
					}
					if got := p.Judge(netip.AddrPortFrom(addr, 443)); got != closed {
						t.Errorf("%+v.Judge(%s) = %s; want %s", p, addr, got, closed)
					}
				}
			}
		})
	}
}

// FuzzPolicy_Judge holds every address of 4 or 16 bytes to the table above.
func FuzzPolicy_Judge(f *testing.F) {
	for _, s := range special {
		f.Add(netip.MustParsePrefix(s.block).Addr().AsSlice(), uint16(443))
	}
	ports := []uint16{443, 8443, 80, 8080}

	f.Fuzz(func(t *testing.T, bytes []byte, port uint16) {
		ip, ok := netip.AddrFromSlice(bytes)
		if !ok {
			return
		}
		addr, want := netip.AddrPortFrom(ip, port), egress.VerdictPort
		switch {
		case ip.Unmap().IsLoopback() && port == 9001:
			want = egress.VerdictRuntimeAPI
		case slices.ContainsFunc(special, func(s specialBlock) bool { return netip.MustParsePrefix(s.block).Contains(ip) }):
			want = egress.VerdictReserved
		case slices.Contains(ports, port):
			want = egress.VerdictAllowed
		}
		if got := (egress.Policy{}).Judge(addr); got != want {
			t.Errorf("Judge(%s) = %s; want %s", addr, got, want)
		}
		if got := (egress.Policy{Loopback: true}).Judge(addr); got != want && (got != egress.VerdictAllowed || !ip.IsLoopback() || ip.Is4In6()) {
			t.Errorf("Judge(%s) under the loose policy = %s; want %s", addr, got, want)
		}
	})
}
