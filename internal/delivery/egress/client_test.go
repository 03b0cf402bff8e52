package egress_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
)

func TestNewClient_judgesEveryResolvedAddress(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		policy egress.Policy
		addr   string
		want   egress.Verdict
	}{
		{name: "a name of a private address", policy: egress.Policy{}, addr: "10.0.0.1", want: egress.VerdictReserved},
		{name: "a name of loopback", policy: egress.Policy{}, addr: "127.0.0.1", want: egress.VerdictReserved},
		{name: "a name of instance metadata", policy: egress.Policy{Loopback: true}, addr: "169.254.169.254", want: egress.VerdictReserved},
		{name: "a name of the unspecified address", policy: egress.Policy{Loopback: true}, addr: "0.0.0.0", want: egress.VerdictReserved},
		{name: "a name of the runtime API", policy: egress.Policy{Loopback: true, RuntimeAPI: netip.MustParseAddrPort("127.0.0.1:443")}, addr: "127.0.0.1", want: egress.VerdictRuntimeAPI},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			client := egress.NewClientWith(tt.policy, egress.Options{Resolver: answers(tt.addr)})
			err := get(t, client, "https://receiver.test/")
			blocked, ok := errors.AsType[*egress.BlockedError](err)
			if !ok {
				t.Fatalf("Get(name of %s) = %v; want a BlockedError", tt.addr, err)
			}
			if want := netip.AddrPortFrom(netip.MustParseAddr(tt.addr), 443); blocked.Addr != want || blocked.Verdict != tt.want {
				t.Errorf("Get(name of %s) is blocked as %s, %s; want %s, %s", tt.addr, blocked.Addr, blocked.Verdict, want, tt.want)
			}
		})
	}
}

func TestNewClient_judgesEveryLookup(t *testing.T) {
	t.Parallel()

	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatalf("SplitHostPort: %v", err)
	}
	// Loopback stands for the public address of the first lookup.
	client := egress.NewClientWith(egress.Policy{Loopback: true}, egress.Options{Resolver: answers("127.0.0.1", "192.168.0.1")})
	target := "http://receiver.test:" + port

	if err := get(t, client, target); err != nil {
		t.Fatalf("Get(name of an allowed address) = %v; want nil", err)
	}
	client.CloseIdleConnections()
	if _, ok := errors.AsType[*egress.BlockedError](get(t, client, target)); !ok {
		t.Errorf("Get(the same name, now of a private address) is not blocked")
	}
	if got := requests.Load(); got != 1 {
		t.Errorf("the server received %d requests; want 1", got)
	}
}

func TestNewClient_blocksLiterals(t *testing.T) {
	t.Parallel()

	for _, target := range []string{"http://127.0.0.1:9001/", "http://[::1]:9001/", "http://169.254.169.254/", "http://0.0.0.0:8000/", "http://[::ffff:169.254.169.254]/"} {
		err := get(t, egress.NewClient(egress.Policy{Loopback: true}), target)
		if _, ok := errors.AsType[*egress.BlockedError](err); !ok {
			t.Errorf("Get(%s) = %v; want a BlockedError", target, err)
		}
	}
}

func TestNewClient_verifiesCertificates(t *testing.T) {
	t.Parallel()

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)

	if _, ok := errors.AsType[*tls.CertificateVerificationError](get(t, egress.NewClient(egress.Policy{Loopback: true}), server.URL)); !ok {
		t.Errorf("Get(server of an unknown authority) is not refused")
	}

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := egress.NewClientWith(egress.Policy{Loopback: true}, egress.Options{RootCAs: roots})
	_, proto, err := do(t, client, server.URL)
	if err != nil || proto != "HTTP/1.1" {
		t.Errorf("Get(server of a known authority) = %s, %v; want HTTP/1.1, nil", proto, err)
	}
}

// The handshake offers HTTP/1.1 alone, so no server can choose HTTP/2.
func TestNewClient_offersHTTP1Only(t *testing.T) {
	t.Parallel()

	offered := make(chan []string, 1)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		offered <- hello.SupportedProtos
		return nil, nil //nolint:nilnil // the server's own configuration
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	if err := get(t, egress.NewClientWith(egress.Policy{Loopback: true}, egress.Options{RootCAs: roots}), server.URL); err != nil {
		t.Fatal(err)
	}
	if got := <-offered; !slices.Equal(got, []string{"http/1.1"}) {
		t.Errorf("the client offered %v in the handshake; want http/1.1 alone", got)
	}
}

func TestNewClient_refusesOldTLS(t *testing.T) {
	t.Parallel()

	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	if err := get(t, egress.NewClientWith(egress.Policy{Loopback: true}, egress.Options{RootCAs: roots}), server.URL); err == nil {
		t.Errorf("Get(server of TLS 1.1) = nil; want an error")
	}
}

func TestNewClient_returnsRedirects(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.RedirectHandler("/again", http.StatusFound))
	t.Cleanup(server.Close)
	status, _, err := do(t, egress.NewClient(egress.Policy{Loopback: true}), server.URL)
	if err != nil || status != http.StatusFound {
		t.Errorf("Get(redirect) = %d, %v; want the redirect itself", status, err)
	}
}

func TestNewClient_boundsResponseHeaders(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 65<<10))
	}))
	t.Cleanup(server.Close)
	if err := get(t, egress.NewClient(egress.Policy{Loopback: true}), server.URL); err == nil {
		t.Errorf("Get(response with 65 KiB of headers) = nil; want an error")
	}
}

func TestNewClient_usesNoProxyAndNoCookies(t *testing.T) {
	t.Parallel()

	client := egress.NewClient(egress.Policy{})
	transport, ok := client.Transport.(*http.Transport)
	if !ok || transport.Proxy != nil {
		t.Errorf("transport of NewClient = %+v; want one without a proxy", client.Transport)
	}
	if client.Jar != nil {
		t.Errorf("NewClient has a cookie jar; want none")
	}
}

func TestBlockedError_Error(t *testing.T) {
	t.Parallel()

	err := &egress.BlockedError{Addr: netip.MustParseAddrPort("10.0.0.1:443"), Verdict: egress.VerdictReserved}
	if got, want := err.Error(), "address 10.0.0.1:443 may not be dialed: reserved address"; got != want {
		t.Errorf("Error() = %q; want %q", got, want)
	}
}

func BenchmarkPolicy_Judge(b *testing.B) {
	addr := netip.MustParseAddrPort("[2606:4700::1111]:443")
	for b.Loop() {
		if (egress.Policy{}).Judge(addr) != egress.VerdictAllowed {
			b.Fatal("refused")
		}
	}
}

func get(t *testing.T, client *http.Client, target string) error {
	t.Helper()

	_, _, err := do(t, client, target)
	return err
}

// do makes a request and reads the whole response.
func do(t *testing.T, client *http.Client, target string) (status int, proto string, err error) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatalf("NewRequest(%s): %v", target, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("read response of %s: %v", target, err)
	}
	return resp.StatusCode, resp.Proto, nil
}
