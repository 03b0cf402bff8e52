package private_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

// TestParse_refused checks that each error names its part of the list, and says what is wrong.
func TestParse_refused(t *testing.T) {
	t.Parallel()

	rule := func(cidr string) string { return fmt.Sprintf(`[{"cidrs": [%q], "ports": [443]}]`, cidr) }
	host := func(name string) string {
		return fmt.Sprintf(`[{"cidrs": ["10.0.0.0/16"], "ports": [443], "hosts": [%q]}]`, name)
	}
	const (
		cidr    = "private_allow[0].cidrs[0]"
		within  = "must lie within"
		smaller = "or smaller"
		aws     = "AWS"
		name    = "must be a name in lower case"
	)
	tests := []struct{ name, text, field, want string }{
		{name: "a space", text: ` `, field: "private_allow", want: "must be a JSON list"},
		{name: "no rule", text: `[]`, field: "private_allow", want: "must have 1 to 20"},
		{name: "null", text: `null`, field: "private_allow", want: "must have 1 to 20"},
		{name: "21 rules", text: "[" + strings.Repeat(`{"cidrs": ["10.0.0.0/16"], "ports": [443]},`, 20) + `{"cidrs": ["10.0.0.0/16"], "ports": [443]}]`, field: "private_allow", want: "must have 1 to 20"},
		{name: "an unknown part", text: `[{"cidr": "10.0.0.0/16"}]`, field: "private_allow", want: "cidr"},
		{name: "more text", text: rule("10.0.0.0/16") + `[]`, field: "private_allow", want: "must be a JSON list"},
		{name: "no CIDR", text: `[{"ports": [443]}]`, field: "private_allow[0].cidrs", want: "at least one"},
		{name: "no port", text: `[{"cidrs": ["10.0.0.0/16"]}]`, field: "private_allow[0].ports", want: "at least one"},
		{name: "port 0", text: `[{"cidrs": ["10.0.0.0/16"], "ports": [443, 0]}]`, field: "private_allow[0].ports[1]", want: "1 to 65535"},
		{name: "a port beyond", text: `[{"cidrs": ["10.0.0.0/16"], "ports": [65536]}]`, field: "private_allow", want: "must be a JSON list"},
		{name: "a wrong tenant", text: `[{"cidrs": ["10.0.0.0/16"], "ports": [443], "tenants": ["acme", "*"]}]`, field: "private_allow[0].tenants[1]", want: "must be 1 to 128"},
		{name: "the second rule", text: `[{"cidrs": ["10.0.0.0/16"], "ports": [443]}, {"cidrs": ["10.0.0.0/16", "1.0.0.0/8"], "ports": [443]}]`, field: "private_allow[1].cidrs[1]", want: within},
		{name: "too many pairs", text: `[{"cidrs": ["10.0.0.0/16", "10.1.0.0/16"], "ports": [1,2` + numbers(3, 31) + `]}]`, field: "private_allow", want: "60 is the most"},

		{name: "an address", text: rule("10.0.0.1"), field: cidr, want: "must be a network"},
		{name: "host bits", text: rule("10.20.0.1/16"), field: cidr, want: "10.20.0.0/16"},
		{name: "everything", text: rule("0.0.0.0/0"), field: cidr, want: within},
		{name: "everything of IPv6", text: rule("::/0"), field: cidr, want: aws},
		{name: "a public network", text: rule("8.8.8.0/24"), field: cidr, want: within},
		{name: "loopback", text: rule("127.0.0.0/8"), field: cidr, want: within},
		{name: "loopback of IPv6", text: rule("::1/128"), field: cidr, want: within},
		{name: "metadata", text: rule("169.254.169.254/32"), field: cidr, want: within},
		{name: "metadata of IPv6", text: rule("fd00:ec2::254/128"), field: cidr, want: aws},
		{name: "around metadata of IPv6", text: rule("fd00:ec2::/40"), field: cidr, want: aws},
		{name: "mapped", text: rule("::ffff:10.0.0.0/112"), field: cidr, want: within},
		{name: "NAT64", text: rule("64:ff9b::/96"), field: cidr, want: within},
		{name: "link local of IPv6", text: rule("fe80::/64"), field: cidr, want: within},
		{name: "all of 10/8", text: rule("10.0.0.0/8"), field: cidr, want: smaller},
		{name: "/11 of 10/8", text: rule("10.0.0.0/11"), field: cidr, want: smaller},
		{name: "more than 10/8", text: rule("10.0.0.0/7"), field: cidr, want: within},
		{name: "/11 of 100.64/10", text: rule("100.64.0.0/11"), field: cidr, want: smaller},
		{name: "more than 172.16/12", text: rule("172.0.0.0/11"), field: cidr, want: within},
		{name: "after 172.16/12", text: rule("172.32.0.0/16"), field: cidr, want: within},
		{name: "/39 of fc00::/7", text: rule("fd12::/39"), field: cidr, want: smaller},

		{name: "a name of AWS", text: host("sqs.eu-west-1.amazonaws.com"), field: "private_allow[0].hosts[0]", want: "of AWS"},
		{name: "AWS itself", text: host("amazonaws.com"), field: "private_allow[0].hosts[0]", want: "of AWS"},
		{name: "AWS over IPv6", text: host("lambda.eu-west-1.api.aws"), field: "private_allow[0].hosts[0]", want: "of AWS"},
		{name: "a function's URL", text: host("x.lambda-url.eu-west-1.on.aws"), field: "private_allow[0].hosts[0]", want: "of AWS"},
		{name: "AWS in China", text: host("sqs.cn-north-1.amazonaws.com.cn"), field: "private_allow[0].hosts[0]", want: "of AWS"},
		{name: "upper case", text: host("Corp.example.com"), field: "private_allow[0].hosts[0]", want: name},
		{name: "a dot in front", text: host(".example.com"), field: "private_allow[0].hosts[0]", want: name},
		{name: "a dot behind", text: host("example.com."), field: "private_allow[0].hosts[0]", want: name},
		{name: "a star", text: host("*.example.com"), field: "private_allow[0].hosts[0]", want: name},
		{name: "an address as name", text: host("10.0.0.1"), field: "private_allow[0].hosts[0]", want: name},
		{name: "a URL", text: host("https://example.com"), field: "private_allow[0].hosts[0]", want: name},
		{name: "an international name", text: host("bücher.example"), field: "private_allow[0].hosts[0]", want: name},
		{name: "no name", text: host(""), field: "private_allow[0].hosts[0]", want: name},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			list, err := private.Parse([]byte(tt.text))
			known, ok := errors.AsType[*hook.Error](err)
			if !ok || known.Code != hook.CodeInvalid || list != nil {
				t.Fatalf("Parse(%s) = %v, %v; want CodeInvalid", tt.text, list, err)
			}
			if !slices.ContainsFunc(known.Fields, func(f hook.FieldError) bool { return f.Field == tt.field && strings.Contains(f.Message, tt.want) }) {
				t.Errorf("Parse(%s) names %v; want %s: %s", tt.text, known.Fields, tt.field, tt.want)
			}
		})
	}
}

func numbers(from, to int) string {
	var text strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&text, ",%d", n)
	}
	return text.String()
}

// TestParse_edges takes the largest networks that are allowed.
func TestParse_edges(t *testing.T) {
	t.Parallel()

	for _, cidr := range []string{"10.0.0.0/12", "10.240.0.0/12", "10.0.0.1/32", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/12", "fd12::/40", "fc00::/40", "fd00:ec3::/40", "fd00:ec2:ffff::/128"} {
		_, err := private.Parse(fmt.Appendf(nil, `[{"cidrs": [%q], "ports": [1, 65535]}]`, cidr))
		if want := cidr != "fd00:ec2:ffff::/128"; (err == nil) != want {
			t.Errorf("Parse(%s) = %v; want it taken: %t", cidr, err, want)
		}
	}
}

// list is an allow-list: one network for names of a domain, one for any name of tenant acme.
func list(t *testing.T) private.List {
	t.Helper()

	all, err := private.Parse([]byte(`[
		{"cidrs": ["10.20.0.0/16", "fd12:3456::/48"], "hosts": ["corp.example.com"], "ports": [443, 8443]},
		{"cidrs": ["192.168.7.0/24"], "ports": [443], "tenants": ["acme"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestList_Allows(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, tenant, host, address string
		want                        bool
	}{
		{name: "a name of the domain", host: "a.corp.example.com", address: "10.20.0.1:443", want: true},
		{name: "the domain itself", host: "corp.example.com", address: "10.20.255.255:8443", want: true},
		{name: "upper case", host: "A.Corp.Example.COM", address: "10.20.0.1:443", want: true},
		{name: "a trailing dot is the same name", host: "a.corp.example.com.", address: "10.20.0.1:443", want: true},
		{name: "IPv6", host: "a.corp.example.com", address: "[fd12:3456::1]:443", want: true},
		{name: "a name that ends alike", host: "evil-corp.example.com", address: "10.20.0.1:443"},
		{name: "a name that begins alike", host: "corp.example.com.evil.example", address: "10.20.0.1:443"},
		{name: "a name above", host: "example.com", address: "10.20.0.1:443"},
		{name: "an address as host where names are listed", host: "10.20.0.1", address: "10.20.0.1:443"},
		{name: "another port", host: "a.corp.example.com", address: "10.20.0.1:22"},
		{name: "the address after", host: "a.corp.example.com", address: "10.21.0.0:443"},
		{name: "the address before", host: "a.corp.example.com", address: "10.19.255.255:443"},
		{name: "the network of another rule", tenant: "globex", host: "a.corp.example.com", address: "192.168.7.1:443"},
		{name: "the network of the tenant's rule", tenant: "acme", host: "x.example", address: "192.168.7.1:443", want: true},
		{name: "its address as host", tenant: "acme", host: "192.168.7.1", address: "192.168.7.1:443", want: true},
		{name: "the port of another rule", tenant: "acme", host: "x.example", address: "192.168.7.1:8443"},
		{name: "a name of AWS at an allowed address", tenant: "acme", host: "sqs.eu-west-1.amazonaws.com", address: "192.168.7.1:443"},
		{name: "the same in other letters, with a dot", tenant: "acme", host: "SQS.eu-west-1.AmazonAWS.com.", address: "192.168.7.1:443"},
		{name: "a public address", host: "a.corp.example.com", address: "1.1.1.1:443"},
		{name: "mapped", host: "a.corp.example.com", address: "[::ffff:10.20.0.1]:443"},
		{name: "with a zone", host: "a.corp.example.com", address: "[fd12:3456::1%eth0]:443"},
		{name: "NAT64", host: "a.corp.example.com", address: "[64:ff9b::10.20.0.1]:443"},
		{name: "6to4", host: "a.corp.example.com", address: "[2002:a14:1::]:443"},
		{name: "loopback", host: "a.corp.example.com", address: "127.0.0.1:443"},
		{name: "metadata", host: "a.corp.example.com", address: "169.254.169.254:443"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l := list(t).For(hook.TenantID(tt.tenant))
			if got := l.Allows(tt.host, netip.MustParseAddrPort(tt.address)); got != tt.want {
				t.Errorf("Allows(%s, %s) = %t; want %t", tt.host, tt.address, got, tt.want)
			}
		})
	}
}

// TestList_Allows_itself checks that a list that no Parse has seen allows no forbidden address.
func TestList_Allows_itself(t *testing.T) {
	t.Parallel()

	everything := private.List{{CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, Ports: []uint16{443}}}
	for _, address := range []string{"1.1.1.1", "127.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1", "fd00:ec2::254", "fd00:ec2::23", "2606:4700::1111", "64:ff9b::a00:1", "::ffff:10.0.0.1", "::10.0.0.1"} {
		if everything.Allows("a.example", netip.AddrPortFrom(netip.MustParseAddr(address), 443)) {
			t.Errorf("Allows(%s) = true; want false", address)
		}
	}
	if (private.List{}).Allows("a.example", netip.MustParseAddrPort("10.0.0.1:443")) || everything.Allows("a.example", netip.AddrPort{}) {
		t.Error("an empty list, or no address, is allowed")
	}
}

func TestList_Targets(t *testing.T) {
	t.Parallel()

	got := fmt.Sprint(list(t).Targets())
	if want := "[{10.20.0.0/16 443} {10.20.0.0/16 8443} {fd12:3456::/48 443} {fd12:3456::/48 8443} {192.168.7.0/24 443}]"; got != want {
		t.Errorf("Targets() = %s; want %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`[{"cidrs": ["10.20.0.0/16"], "hosts": ["corp.example.com"], "ports": [443], "tenants": ["acme"]}]`, "corp.example.com", "10.20.0.1")
	f.Fuzz(func(t *testing.T, text, host, address string) {
		all, err := private.Parse([]byte(text))
		ip, wrong := netip.ParseAddr(address)
		if err != nil || wrong != nil {
			return
		}
		for _, target := range all.Targets() {
			if all.Allows(host, netip.AddrPortFrom(ip, target.Port)) && !ip.IsPrivate() && !netip.MustParsePrefix("100.64.0.0/10").Contains(ip) {
				t.Errorf("%s allows %s", text, ip)
			}
		}
	})
}
