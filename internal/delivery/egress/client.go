package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Limits of the client's connections. Lambda freezes the process between invocations, and
// meanwhile servers close idle connections. A request on a connection that was closed is a failed
// attempt, because the client sends no request twice. So idleTimeout is shorter than the idle
// timeout of common servers. Go measures it by the wall clock, which runs on during the freeze.
const (
	dialTimeout        = 10 * time.Second // with the TLS handshake; the deadline of an attempt is usually shorter
	keepAlive          = 15 * time.Second
	idleTimeout        = 4 * time.Second // Node.js and Apache close after 5 s, load balancers after 60 s
	maxIdle            = 200
	maxIdlePerHost     = 10 // concurrent requests of one batch to one endpoint
	maxResponseHeaders = 64 << 10
)

// BlockedError is the error for a refused address. It is wrapped in the errors of the client.
type BlockedError struct {
	Addr    netip.AddrPort
	Verdict Verdict
}

// Error returns the address and the verdict, for the log only. The endpoint's
// owner must not see the address.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("address %s may not be dialed: %s", e.Addr, e.Verdict)
}

// Options replaces parts of a client in tests. The zero Options uses the root
// certificates and the resolver of the system.
type Options struct {
	RootCAs  *x509.CertPool
	Resolver *net.Resolver
}

// NewClient returns a client that applies the policy to every dial. It speaks HTTP/1.1 only, uses
// no proxy, keeps no cookies, and returns redirects instead of following them. It has no timeout;
// callers set a deadline in the context of the request.
func NewClient(p Policy) *http.Client { return NewClientWith(p, Options{}) }

// NewClientWith is NewClient with options.
func NewClientWith(p Policy, o Options) *http.Client {
	var http1 http.Protocols
	http1.SetHTTP1(true)
	transport := &http.Transport{
		Proxy: nil, // a proxy would resolve and dial without the guard
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return p.dial(ctx, o.Resolver, network, address)
		},
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs, NextProtos: []string{"http/1.1"}, GetClientCertificate: Present(new(tls.Certificate)),
		},
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxResponseHeaders,
		DisableCompression:     true, // package send decompresses the start of a response itself
		Protocols:              &http1,
	}
	secure(transport)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dial connects to the host of the address "host:port", at an allowed address only.
func (p Policy) dial(ctx context.Context, resolver *net.Resolver, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &BlockedError{Verdict: VerdictReserved}
	}
	dialer := &net.Dialer{
		Timeout:   dialTimeout,
		KeepAlive: keepAlive,
		Resolver:  resolver,
		Control:   func(_, resolved string, _ syscall.RawConn) error { return p.control(host, resolved) },
	}
	return dialer.DialContext(ctx, network, address)
}

// control judges an address of the host before the connect. The dialer calls control
// for each resolved address.
func (p Policy) control(host, address string) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedError{Verdict: VerdictReserved}
	}
	if v := p.judgeFor(host, addr); v != VerdictAllowed {
		return &BlockedError{Addr: addr, Verdict: v}
	}
	return nil
}
