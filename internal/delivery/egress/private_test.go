package egress_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
	rule "surehook.example/surehook/internal/rule/private"
)

// privateBlocks are the special blocks that a list of private receivers can have.
var privateBlocks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"}

// inside is the policy of a private endpoint.
func inside(tb testing.TB) egress.Policy {
	tb.Helper()

	list, err := rule.Parse([]byte(`[{"cidrs": ["10.20.0.0/16", "fd12:3456::/48"], "hosts": ["corp.internal", "corp.example.com"], "ports": [443, 9443]}]`))
	if err != nil {
		tb.Fatal(err)
	}
	return egress.Policy{Private: &list}
}

// everything lists all that a list can have and more, on all ports of the tables: only the rule
// itself refuses.
func everything(tb testing.TB) *rule.List {
	tb.Helper()

	return &rule.List{{
		CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
		Ports: []uint16{0, 1, 22, 80, 442, 443, 5432, 8000, 8080, 8443, 9001, 9002, 39123, 41000, 41001},
	}}
}

func TestPolicy_CheckURL_private(t *testing.T) {
	t.Parallel()

	own := inside(t)
	own.Own = []string{"hooks.corp.example.com"}
	anyHost := egress.Policy{Private: &rule.List{{CIDRs: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16"), netip.MustParsePrefix("fd12:3456::/48")}, Ports: []uint16{443}}}}
	tests := []struct {
		name   string
		policy egress.Policy
		url    string
		want   string
	}{
		{name: "a listed name", policy: own, url: "https://erp.corp.example.com/hooks", want: fine},
		{name: "in upper case", policy: own, url: "https://ERP.Corp.Example.com/hooks", want: fine},
		{name: "a name of the network", policy: own, url: "https://erp.corp.internal:9443/", want: fine},
		{name: "a port of the public internet alone", policy: own, url: "https://erp.corp.example.com:8443/", want: unlisted},
		{name: "a trailing dot", policy: own, url: "https://erp.corp.example.com./", want: dot},
		{name: "a name that ends alike", policy: own, url: "https://evil-corp.example.com/", want: unlisted},
		{name: "a name above", policy: own, url: "https://example.com/", want: unlisted},
		{name: "http", policy: own, url: "http://erp.corp.example.com/", want: scheme},
		{name: "a user", policy: own, url: "https://erp.corp.example.com@10.20.0.1/", want: userinfo},
		{name: "the API itself", policy: own, url: "https://hooks.corp.example.com/v1", want: "must not lead to the API of Surehook itself"},
		{name: "an international name", policy: own, url: "https://bücher.corp.example.com/", want: ascii},
		{name: "its xn-- form", policy: own, url: "https://xn--bcher-kva.corp.example.com/", want: fine},
		{name: "a listed address where names are listed", policy: own, url: "https://10.20.0.1/", want: unlisted},

		{name: "a listed address", policy: anyHost, url: "https://10.20.0.1/", want: fine},
		{name: "a listed IPv6 address", policy: anyHost, url: "https://[fd12:3456::1]/", want: fine},
		{name: "the address after", policy: anyHost, url: "https://10.21.0.0/", want: unlisted},
		{name: "mapped", policy: anyHost, url: "https://[::ffff:10.20.0.1]/", want: unlisted},
		{name: "NAT64", policy: anyHost, url: "https://[64:ff9b::a14:1]/", want: unlisted},
		{name: "decimal", policy: anyHost, url: "https://169082881/", want: plain},
		{name: "octal", policy: anyHost, url: "https://012.024.0.1/", want: plain},
		{name: "hexadecimal", policy: anyHost, url: "https://0x0a140001/", want: plain},
		{name: "two parts", policy: anyHost, url: "https://10.1310721/", want: plain},
		{name: "a zone", policy: anyHost, url: "https://[fd12:3456::1%25eth0]/", want: unlisted},
		{name: "a public address", policy: anyHost, url: "https://1.1.1.1/", want: unlisted},
		{name: "metadata", policy: anyHost, url: "https://169.254.169.254/", want: unlisted},
		{name: "metadata over IPv6", policy: anyHost, url: "https://[fd00:ec2::254]/", want: unlisted},
		{name: "localhost", policy: anyHost, url: "https://localhost/", want: unlisted},
		{name: "any name", policy: anyHost, url: "https://example.com/", want: fine}, // judged when it is dialed
		{name: "AWS", policy: anyHost, url: "https://sqs.eu-west-1.amazonaws.com/", want: unlisted},
		{name: "AWS in upper case", policy: anyHost, url: "https://SQS.eu-west-1.AMAZONAWS.com/", want: unlisted},
		{name: "an interface endpoint", policy: anyHost, url: "https://vpce-0a1b.execute-api.eu-west-1.vpce.amazonaws.com/", want: unlisted},
		{name: "AWS over IPv6", policy: anyHost, url: "https://lambda.eu-west-1.api.aws/", want: unlisted},
		{name: "a function", policy: anyHost, url: "https://abc.lambda-url.eu-west-1.on.aws/", want: unlisted},
		{name: "the extra host of the local stack", policy: egress.Policy{Loopback: true, Host: container, Private: own.Private}, url: "http://host.docker.internal:9443/", want: unlisted},
		{name: "nothing is listed", policy: egress.Policy{Private: &rule.List{}}, url: "https://example.com/", want: unlisted},
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

// TestNewClient_private checks that addresses are judged at the dial: neither the check of the URL
// before, nor a lookup before, counts.
func TestNewClient_private(t *testing.T) {
	t.Parallel()

	for _, addr := range []string{"1.1.1.1", "10.21.0.1", "127.0.0.1", "169.254.169.254", "fd00:ec2::254", "64:ff9b::a14:1", "2606:4700::1111", "0.0.0.0"} {
		var d dials
		err := d.get(t, egress.NewClientWith(inside(t), egress.Options{Resolver: records(addr)}), "https://erp.corp.example.com/")
		if blocked, ok := errors.AsType[*egress.BlockedError](err); !ok || blocked.Verdict != egress.VerdictUnlisted || len(d.dialed) != 0 {
			t.Errorf("Get(name of %s) = %v, dialed %v; want it blocked as not listed", addr, err, d.dialed)
		}
	}
	p := inside(t)
	for _, host := range []string{"evil-corp.example.com", "erp.example.com", "10.20.0.1", "sqs.eu-west-1.amazonaws.com"} {
		if err := p.Control(host, "10.20.0.1:443"); err == nil {
			t.Errorf("a dial of %s is allowed; want blocked", host)
		}
	}
	if err := p.Control("ERP.corp.example.com", "10.20.0.1:443"); err != nil {
		t.Errorf("a dial of a listed host is refused: %v", err)
	}
	p.RuntimeAPI = netip.MustParseAddrPort("10.20.0.1:443")
	if err := p.Control("erp.corp.example.com", "10.20.0.1:443"); err == nil {
		t.Error("a dial of the runtime API is allowed; want blocked")
	}
}

// TestNewClient_privateRebinding changes the address of a name between two dials. Loopback alone has
// a server, so the first dial is only seen.
func TestNewClient_privateRebinding(t *testing.T) {
	t.Parallel()

	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	list := rule.List{{CIDRs: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}, Ports: []uint16{uint16(number)}}}
	client := egress.NewClientWith(egress.Policy{Private: &list, Loopback: true}, egress.Options{Resolver: answers("127.0.0.1", "169.254.169.254", "1.1.1.1")})
	for range 3 {
		var d dials
		if err := d.get(t, client, "http://erp.corp.example.com:"+port); err == nil || len(d.dialed) != 0 || requests.Load() != 0 {
			t.Errorf("Get = %v, dialed %v with %d requests; want blocked", err, d.dialed, requests.Load())
		}
	}
}

// TestPolicy_Judge_publicStaysClosed checks that private networks are closed to every other endpoint.
func TestPolicy_Judge_publicStaysClosed(t *testing.T) {
	t.Parallel()

	for _, p := range []egress.Policy{{}, {Loopback: true}} {
		for _, block := range privateBlocks {
			first := netip.MustParsePrefix(block).Addr().Next()
			if got := p.Judge(netip.AddrPortFrom(first, 443)); got != egress.VerdictReserved {
				t.Errorf("Judge(%s) = %s; want reserved", first, got)
			}
		}
	}
}
