//go:build e2e

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/certificate"
)

// TestAttacks runs TestAttacks_inside in a network namespace, where every address of the world is
// this machine: an attack that gets past the sender arrives at the trap.
func TestAttacks(t *testing.T) {
	t.Parallel()

	for _, tool := range []string{"ip", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil || os.Getuid() != 0 {
			t.Skip("needs root, ip of iproute2 and unshare of util-linux, for a network namespace")
		}
	}
	program := exec.CommandContext(t.Context(), "unshare", "--net", os.Args[0], "-test.run", "^TestAttacks_inside$", "-test.v")
	program.Env = append(os.Environ(), "TEST_ATTACKS=inside")
	out, err := program.CombinedOutput()
	if t.Log(string(out)); err != nil || !strings.Contains(string(out), "--- PASS: TestAttacks_inside") {
		t.Errorf("the attacks: %v", err)
	}
}

// The senders: what each may reach, and the URL of a receiver there.
var senders = map[string]struct {
	cfg     config.Settings
	message string   // the beginning
	may     []string // networks that it may reach
	home    string   // a receiver that it does reach
}{
	"private": {
		config.Settings{Choices: config.Choices{Egress: names.EgressPublic}, Private: `[{"cidrs": ["10.203.0.0/24", "fd12:3456::/48"], "ports": [443]}]`},
		`"version":3,"private":"acme"`,
		[]string{"10.203.0.0/24", "fd12:3456::/48"},
		"https://10.203.0.7/",
	},
	// Of shared and fixed egress, and of other regions.
	"public": {config.Settings{Choices: config.Choices{Egress: names.EgressPublic}}, `"version":1`, []string{"1.1.1.1/32", "2606:4700::/32"}, "https://1.1.1.1/"},
}

// targets are addresses that one sender or both refuse.
var targets = []string{
	"1.1.1.1", "2606:4700::1111", "10.203.0.7", "fd12:3456::7", "10.204.0.7", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fd12:3457::7", "fd00:ec2::254",
	"169.254.169.254", "169.254.170.2", "169.254.100.1", "127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "224.0.0.1", "fe80::1",
	"::ffff:10.203.0.7", "::ffff:169.254.169.254", "::ffff:127.0.0.1", "::10.203.0.7", "::169.254.169.254", "64:ff9b::acb:7", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe",
	"2002:acb:7::1", "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1",
}

// spellings are hosts that some parser takes for an address.
var spellings = []string{
	"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.254.0xa9.254", "169.254.43518", "169.16689662", "127.1", "0", "[fe80::1%25lo]", "[::ffff:a9fe:a9fe]", "169.254.169.254.",
	"180027399", "0x0acb0007", "012.0313.0.7", "10.203.7", "10.13303815", "localhost", "1.1.1.1@169.254.169.254", "１６９.254.169.254", "169。254。169。254", "sqs.eu-west-1.amazonaws.com", "x.lambda-url.eu-west-1.on.aws", "lambda.eu-west-1.api.aws",
	"10.203.0.7:9443", "1.1.1.1:9443", "01010101.fixed.test:9443", "0acb0007.fixed.test:9443", // a port of nobody
}

// ways are the places of a URL in a message, after its beginning. A redirect starts at a receiver
// that the sender reaches.
var ways = map[string]func(home, to string) string{
	"an endpoint": func(_, to string) string { return `"url":"` + to + `"` },
	"a challenge": func(_, to string) string { return `"one_origin":true,"url":"` + to + `"` },
	"a redirect":  func(home, to string) string { return `"url":"` + home + "?to=" + url.QueryEscape(to) + `"` },
	"a token URL": func(home, to string) string {
		return `"url":"` + home + `","grant":{"for":"ep_1","token_url":"` + to + `","client_id":"c","secret":"s"}`
	},
	"a redirect of a token URL": func(home, to string) string {
		return `"url":"` + home + `","grant":{"for":"ep_1","token_url":"` + home + "?to=" + url.QueryEscape(to) + `","client_id":"c","secret":"s"}`
	},
}

// TestAttacks_inside makes each sender's requests at all targets, in all spellings, by name and by
// rebinding, in all ways, and looks where they arrive.
func TestAttacks_inside(t *testing.T) { //nolint:paralleltest // replaces the resolver of the process
	if os.Getenv("TEST_ATTACKS") == "" {
		t.Skip("only in the namespace of TestAttacks")
	}
	trap := set(t)
	for name, s := range senders {
		s.cfg.PrivateCA = trap.authority
		handle, err := newHandler(lambdafn.Function{Settings: s.cfg, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		home := netip.MustParseAddr(strings.TrimSuffix(strings.TrimPrefix(s.home, "https://"), "/"))
		function, attacks, arrived := lambda.NewHandler(handle), 0, 0
		send := func(way, to string) {
			message := "{" + s.message + `,"header":{},"fresh":true,"timeout_ms":1000,` + ways[way](s.home, to) + "}"
			if strings.Contains(message, `"grant"`) {
				message = strings.Replace(message, `"version":1`, `"version":2`, 1)
			}
			answer, err := function.Invoke(t.Context(), []byte(message))
			if err != nil || strings.Contains(string(answer), "refused\":") {
				t.Fatalf("%s: %s, %v", message, answer, err)
			}
			attacks++
			for _, at := range trap.take() {
				arrived++
				if allowed := func(n string) bool { return netip.MustParsePrefix(n).Contains(at.address.Addr()) }; at.address.Port() == 9443 || !slices.ContainsFunc(s.may, allowed) || strings.Contains(at.name, "aws") {
					t.Errorf("the %s sender reached %s, named %q, by %s with %s", name, at.address, at.name, way, to)
				}
			}
		}
		for way := range ways {
			for i, target := range targets {
				ip := netip.MustParseAddr(target)
				for _, host := range []string{netip.AddrPortFrom(ip, 443).String(), fmt.Sprintf("%x.fixed.test", ip.AsSlice())} {
					send(way, "https://"+host+"/")
					send(way, "http://"+strings.TrimSuffix(host, ":443")+"/")
				}
				for range 3 { // where the name leads changes
					send(way, fmt.Sprintf("https://%d-%d-%x-%x.rebinds.test/", len(way), i, home.AsSlice(), ip.AsSlice()))
				}
			}
			for _, host := range spellings {
				send(way, "https://"+host+"/")
				send(way, "http://"+host+"/")
			}
		}
		if arrived == 0 {
			t.Errorf("nothing of the %s sender arrived: the trap is not there", name)
		}
		t.Logf("%s: %d attacks, %d connections to %s alone", name, attacks, arrived, s.may)
	}
}

// arrival is a connection at the trap.
type arrival struct {
	address netip.AddrPort
	name    string // of the TLS handshake
}

// trap is every address of the namespace, and its names.
type trap struct {
	authority string
	mu        sync.Mutex
	arrivals  []arrival
	lookups   map[string]int
}

func (p *trap) take() []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.arrivals = nil }()
	return p.arrivals
}

func (p *trap) add(at net.Addr, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	address, _ := netip.ParseAddrPort(at.String())
	p.arrivals = append(p.arrivals, arrival{netip.AddrPortFrom(address.Addr().Unmap(), address.Port()), name})
}

// set makes all addresses those of this machine, and serves them.
func set(t *testing.T) *trap {
	t.Helper()

	for _, args := range []string{"link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"} {
		if text, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, text)
		}
	}
	p := &trap{lookups: map[string]int{}}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe() // no PacketConn, so the resolver uses DNS over TCP
		go p.resolve(theirs)
		return ours, nil
	}}
	authority, authorityKey := certificate.New(t, &x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign})
	cert, key := certificate.Issue(t, &x509.Certificate{
		DNSNames: []string{"*.fixed.test", "*.rebinds.test"}, IPAddresses: []net.IP{net.ParseIP("10.203.0.7"), net.ParseIP("1.1.1.1")}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, authorityKey)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	p.authority = authority
	secure := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		p.add(hello.Conn.LocalAddr(), hello.ServerName)
		return &pair, nil
	}}
	for _, port := range []string{":443", ":80", ":9443"} {
		listener, err := net.Listen("tcp", port) //nolint:noctx // in a namespace of its own
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0), ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateNew {
				p.add(c.LocalAddr(), "")
			}
		}}
		if port != ":80" {
			listener = tls.NewListener(listener, secure)
		}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	return p
}

// lookup returns where a name leads: to the address in it; first home, then elsewhere, then to both;
// or, any other name, to the private receiver.
func (p *trap) lookup(name string, kind uint16) []netip.Addr {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []netip.Addr
	first, _, _ := strings.Cut(name, ".")
	for part := range strings.SplitSeq(first, "-") {
		raw, _ := hex.DecodeString(part)
		if ip, ok := netip.AddrFromSlice(raw); ok {
			all = append(all, ip)
		}
	}
	if len(all) == 0 {
		all = []netip.Addr{netip.MustParseAddr("10.203.0.7")}
	}
	turn := fmt.Sprint(name, kind)
	if p.lookups[turn]++; len(all) == 2 && p.lookups[turn] < 3 {
		all = all[p.lookups[turn]-1:][:1]
	}
	return slices.DeleteFunc(all, func(ip netip.Addr) bool { return ip.Is4() != (kind == 1) })
}

// resolve answers queries with one question each (RFC 1035, section 4) until the connection ends.
func (p *trap) resolve(conn net.Conn) {
	defer func() { _ = conn.Close() }()

	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var labels []string
		end := 12
		for ; query[end] > 0; end += 1 + int(query[end]) {
			labels = append(labels, string(query[end+1:][:query[end]]))
		}
		kind := binary.BigEndian.Uint16(query[end+1:])
		reply := append([]byte{}, query[:end+5]...)
		copy(reply[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
		for _, ip := range p.lookup(strings.Join(labels, "."), kind) {
			reply[7]++
			reply = append(reply, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(ip.AsSlice())))
			reply = append(reply, ip.AsSlice()...)
		}
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
}
