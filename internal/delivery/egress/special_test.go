package egress_test

import (
	"net/netip"
	"slices"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
)

// Verdicts about the address next to a block.
const (
	open   = egress.VerdictAllowed  // an ordinary public address
	closed = egress.VerdictReserved // an address of another block
	none   = egress.Verdict("")     // no address: the block begins or ends the address space
)

type specialBlock struct {
	name, block   string
	before, after egress.Verdict
}

// special are the blocks of the IANA special-purpose address registries
// (https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry),
// multicast, and IPv6 outside of global unicast, each with the verdicts about the addresses just
// before and after it. The list is a second source, to check the table in use. Globally reachable
// blocks of the registries are refused, too: no webhook receiver has such an address.
var special = []specialBlock{
	{name: "this network", block: "0.0.0.0/8", before: none, after: open},
	{name: "this host on this network", block: "0.0.0.0/32", before: none, after: closed},
	{name: "private use, class A", block: "10.0.0.0/8", before: open, after: open},
	{name: "shared address space", block: "100.64.0.0/10", before: open, after: open},
	{name: "loopback", block: "127.0.0.0/8", before: open, after: open},
	{name: "link local", block: "169.254.0.0/16", before: open, after: open},
	{name: "private use, class B", block: "172.16.0.0/12", before: open, after: open},
	{name: "IETF protocol assignments", block: "192.0.0.0/24", before: open, after: open},
	{name: "IPv4 service continuity prefix", block: "192.0.0.0/29", before: open, after: closed},
	{name: "IPv4 dummy address", block: "192.0.0.8/32", before: closed, after: closed},
	{name: "port control protocol anycast", block: "192.0.0.9/32", before: closed, after: closed},
	{name: "TURN anycast", block: "192.0.0.10/32", before: closed, after: closed},
	{name: "NAT64 discovery", block: "192.0.0.170/32", before: closed, after: closed},
	{name: "DNS64 discovery", block: "192.0.0.171/32", before: closed, after: closed},
	{name: "documentation, TEST-NET-1", block: "192.0.2.0/24", before: open, after: open},
	{name: "AS112", block: "192.31.196.0/24", before: open, after: open},
	{name: "AMT", block: "192.52.193.0/24", before: open, after: open},
	{name: "deprecated 6to4 relay anycast", block: "192.88.99.0/24", before: open, after: open},
	{name: "6a44 relay anycast", block: "192.88.99.2/32", before: closed, after: closed},
	{name: "private use, class C", block: "192.168.0.0/16", before: open, after: open},
	{name: "direct delegation AS112", block: "192.175.48.0/24", before: open, after: open},
	{name: "benchmarking", block: "198.18.0.0/15", before: open, after: open},
	{name: "documentation, TEST-NET-2", block: "198.51.100.0/24", before: open, after: open},
	{name: "documentation, TEST-NET-3", block: "203.0.113.0/24", before: open, after: open},
	{name: "multicast", block: "224.0.0.0/4", before: open, after: closed},
	{name: "reserved", block: "240.0.0.0/4", before: closed, after: none},
	{name: "limited broadcast", block: "255.255.255.255/32", before: closed, after: none},

	{name: "unspecified", block: "::/128", before: none, after: closed},
	{name: "loopback of IPv6", block: "::1/128", before: closed, after: closed},
	{name: "IPv4-compatible", block: "::/96", before: none, after: closed},
	{name: "IPv4-mapped", block: "::ffff:0:0/96", before: closed, after: closed},
	{name: "IPv4-translated", block: "::ffff:0:0:0/96", before: closed, after: closed},
	{name: "IPv4-IPv6 translation", block: "64:ff9b::/96", before: closed, after: closed},
	{name: "local IPv4-IPv6 translation", block: "64:ff9b:1::/48", before: closed, after: closed},
	{name: "discard only", block: "100::/64", before: closed, after: closed},
	{name: "dummy prefix", block: "100:0:0:1::/64", before: closed, after: closed},
	{name: "IETF protocol assignments of IPv6", block: "2001::/23", before: open, after: open},
	{name: "Teredo", block: "2001::/32", before: open, after: closed},
	{name: "port control protocol anycast of IPv6", block: "2001:1::1/128", before: closed, after: closed},
	{name: "TURN anycast of IPv6", block: "2001:1::2/128", before: closed, after: closed},
	{name: "DNS-SD registration anycast", block: "2001:1::3/128", before: closed, after: closed},
	{name: "benchmarking of IPv6", block: "2001:2::/48", before: closed, after: closed},
	{name: "AMT of IPv6", block: "2001:3::/32", before: closed, after: closed},
	{name: "AS112 of IPv6", block: "2001:4:112::/48", before: closed, after: closed},
	{name: "deprecated ORCHID", block: "2001:10::/28", before: closed, after: closed},
	{name: "ORCHIDv2", block: "2001:20::/28", before: closed, after: closed},
	{name: "drone remote id", block: "2001:30::/28", before: closed, after: closed},
	{name: "documentation of IPv6", block: "2001:db8::/32", before: open, after: open},
	{name: "6to4", block: "2002::/16", before: open, after: open},
	{name: "direct delegation AS112 of IPv6", block: "2620:4f:8000::/48", before: open, after: open},
	{name: "documentation of IPv6, the larger", block: "3fff::/20", before: open, after: open},
	{name: "segment routing", block: "5f00::/16", before: closed, after: closed},
	{name: "unique local", block: "fc00::/7", before: closed, after: closed},
	{name: "link local of IPv6", block: "fe80::/10", before: closed, after: closed},
	{name: "deprecated site local", block: "fec0::/10", before: closed, after: closed},
	{name: "multicast of IPv6", block: "ff00::/8", before: closed, after: none},
	{name: "below global unicast", block: "::/3", before: none, after: open},
	{name: "above global unicast", block: "4000::/2", before: open, after: closed},
	{name: "the upper half of IPv6", block: "8000::/1", before: closed, after: none},
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
			}{{ip: first.Prev(), want: tt.before}, {ip: first, want: closed}, {ip: last, want: closed}, {ip: last.Next(), want: tt.after}} {
				if edge.want == none {
					if edge.ip.IsValid() {
						t.Errorf("%s is a neighbor of %s; want no neighbor", edge.ip, tt.block)
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
					// To a private endpoint the public internet is closed, and of the special blocks those of
					// private networks alone are open.
					p.Private, want = everything(t), egress.VerdictUnlisted
					if slices.ContainsFunc(privateBlocks, func(block string) bool { return netip.MustParsePrefix(block).Contains(edge.ip) }) {
						want = egress.VerdictAllowed
					}
					if got := p.Judge(netip.AddrPortFrom(edge.ip, 443)); got != want {
						t.Errorf("Judge(%s) of a private endpoint = %s; want %s", edge.ip, got, want)
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

// TestPolicy_Judge_IPv4InsideIPv6 writes IPv4 addresses in every IPv6 form that embeds them. The
// policy refuses all of these forms, even for public addresses, which owners can write in the
// plain form.
func TestPolicy_Judge_IPv4InsideIPv6(t *testing.T) {
	t.Parallel()

	at := func(prefix string, offset int, mask byte) func([4]byte) netip.Addr {
		return func(ip [4]byte) netip.Addr {
			b := netip.MustParseAddr(prefix).As16()
			for i, octet := range ip {
				if offset+i >= 8 && offset < 8 { // RFC 6052, section 2.2 leaves out the octet of bits 64 to 71
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
		{name: "mapped", write: at("::ffff:0:0", 12, 0), want: "::ffff:169.254.169.254"},
		{name: "compatible", write: at("::", 12, 0), want: "::a9fe:a9fe"},
		{name: "translated", write: at("::ffff:0:0:0", 12, 0), want: "::ffff:0:a9fe:a9fe"},
		{name: "NAT64", write: at("64:ff9b::", 12, 0), want: "64:ff9b::a9fe:a9fe"},
		{name: "local NAT64", write: at("64:ff9b:1::", 12, 0), want: "64:ff9b:1::a9fe:a9fe"},
		{name: "local NAT64 of 48 bits", write: at("64:ff9b:1::", 6, 0), want: "64:ff9b:1:a9fe:a9:fe00::"},
		{name: "6to4", write: at("2002::1", 2, 0), want: "2002:a9fe:a9fe::1"},
		{name: "a Teredo server", write: at("2001::", 4, 0), want: "2001:0:a9fe:a9fe::"},
		{name: "a Teredo client", write: at("2001:0:102:304::", 12, 0xff), want: "2001:0:102:304::5601:5601"},
		{name: "ISATAP on the link", write: at("fe80::5efe:0:0", 12, 0), want: "fe80::5efe:a9fe:a9fe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := tt.write([4]byte{169, 254, 169, 254}); got.String() != tt.want {
				t.Fatalf("form of 169.254.169.254 = %s; want %s", got, tt.want)
			}
			for _, ip := range [][4]byte{{169, 254, 169, 254}, {127, 0, 0, 1}, {10, 0, 0, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}} {
				for _, p := range []egress.Policy{{}, {Loopback: true}} {
					addr := tt.write(ip)
					if addr.IsLoopback() && !addr.Is4In6() {
						continue // ::1 is no IPv4 address
					}
					if got := p.Judge(netip.AddrPortFrom(addr, 443)); got != closed {
						t.Errorf("%+v.Judge(%s) = %s; want %s", p, addr, got, closed)
					}
				}
			}
		})
	}
}

// FuzzPolicy_Judge checks addresses of 4 or 16 bytes against the table above.
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
