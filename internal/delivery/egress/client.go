package egress

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Bounds of the client's connections. Lambda freezes a function between
// invocations, so an idle connection is kept only about as long as the servers
// keep theirs; Go measures that by the wall clock, which goes on in the freeze.
const (
	dialTimeout        = 10 * time.Second // the attempt's own deadline is usually shorter
	keepAlive          = 15 * time.Second
	idleTimeout        = 55 * time.Second // load balancers commonly close at 60 s
	maxIdle            = 200
	maxIdlePerHost     = 10 // what a batch sends to one endpoint at once
	maxResponseHeaders = 64 << 10
	pingAfter          = 5 * time.Second // silence on an HTTP/2 connection before it is pinged
	pingTimeout        = 2 * time.Second // silence after the ping before it is given up
)

// BlockedError says that an address was not dialed. It is found with
// errors.As in the errors of NewClient's clients.
type BlockedError struct {
	Addr    netip.AddrPort
	Verdict Verdict
}

// Error returns the address and the verdict. It is for the log: the address
// may be one that the endpoint's owner is not to know.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("address %s may not be dialed: %s", e.Addr, e.Verdict)
}

// Options are what tests replace of a client. The zero Options are the system's own.
type Options struct {
	RootCAs  *x509.CertPool
	Resolver *net.Resolver
}

// NewClient returns a client that dials only what the policy allows. It uses
// no proxy, keeps no cookies and returns redirects instead of following them.
// It has no timeout: the request's context is to have one.
func NewClient(p Policy) *http.Client { return NewClientWith(p, Options{}) }

// NewClientWith is NewClient with options.
func NewClientWith(p Policy, o Options) *http.Client {
	dialer := &net.Dialer{
		Timeout:   dialTimeout,
		KeepAlive: keepAlive,
		Resolver:  o.Resolver,
		Control:   func(_, address string, _ syscall.RawConn) error { return p.control(address) },
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would resolve and dial unguarded
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
			TLSHandshakeTimeout:    dialTimeout,
			MaxIdleConns:           maxIdle,
			MaxIdleConnsPerHost:    maxIdlePerHost,
			IdleConnTimeout:        idleTimeout,
			MaxResponseHeaderBytes: maxResponseHeaders,
			DisableCompression:     true, // the answer is kept as it came, and cannot be a decompression bomb
			ForceAttemptHTTP2:      true,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// control judges an address that is about to be connected to. The dialer calls
// it with what the name was resolved to, for each address it tries.
func (p Policy) control(address string) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedError{Verdict: VerdictReserved}
	}
	if v := p.Judge(addr); v != VerdictAllowed {
		return &BlockedError{Addr: addr, Verdict: v}
	}
	return nil
}
