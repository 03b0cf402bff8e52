package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"

	"surehook.example/surehook/internal/cache"
)

// maxShort bounds the addresses that a transport remembers for a short ClientHello, in bytes.
const maxShort = 256 << 10

// shortGroups are the key exchanges of a short ClientHello. Without the share of ML-KEM it is below
// 1,400 bytes and fits into one packet.
func shortGroups() []tls.CurveID {
	return []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}
}

// WithTLS returns a transport with connections of its own: like base, with its guard of every dial,
// but with the change of its TLS configuration.
func WithTLS(base *http.Transport, change func(*tls.Config)) *http.Transport {
	t := base.Clone()
	change(t.TLSClientConfig)
	secure(t)
	return t
}

// secure gives the transport its TLS handshake. If the server closes the connection during the
// handshake, the transport connects once more with a short ClientHello, because some middleboxes
// know none of two packets. No byte of a request has been written by then.
//
// After a short handshake, or one that ended in the timeout, the next connections to the address
// begin with the short ClientHello, until it fails.
func secure(t *http.Transport) {
	short := cache.New[string, struct{}](maxShort, nil)
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if _, is := short.Get(address); is {
			conn, err := shake(ctx, t, network, address, shortGroups())
			if err != nil {
				short.Remove(address)
			}
			return conn, err
		}
		conn, err := shake(ctx, t, network, address, nil)
		failed, inHandshake := errors.AsType[*handshakeError](err)
		switch {
		case !inHandshake:
			return conn, err
		case errors.Is(failed, context.DeadlineExceeded):
			short.Add(address, struct{}{}, len(address))
			return nil, err
		case !ConnectionClosed(failed):
			return nil, err
		}
		if conn, err = shake(ctx, t, network, address, shortGroups()); err == nil {
			short.Add(address, struct{}{}, len(address))
		}
		return conn, err
	}
}

// handshakeError is an error of the TLS handshake, not of the dial.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return fmt.Sprintf("TLS handshake: %v", e.err) }

func (e *handshakeError) Unwrap() error { return e.err }

// shake dials the address and does a TLS handshake with the key exchanges; nil means all.
func shake(ctx context.Context, t *http.Transport, network, address string, groups []tls.CurveID) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &BlockedError{Verdict: VerdictReserved}
	}
	plain, err := t.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := t.TLSClientConfig.Clone()
	config.ServerName, config.CurvePreferences = host, groups
	secured := tls.Client(plain, config)
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	err = secured.HandshakeContext(ctx)
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(secured.ConnectionState(), err)
	}
	if err != nil {
		_ = plain.Close() // closing the TLS connection would write an alert, which can block
		return nil, &handshakeError{err}
	}
	return secured, nil
}

// ConnectionClosed reports whether the error says that the other side closed or reset the
// connection.
func ConnectionClosed(err error) bool {
	for _, target := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

type certificateRequest struct{}

// OnCertificateRequest returns a context for a request. asked is called if a server asks for a client
// certificate in a handshake that the request began, with whether it gets one.
func OnCertificateRequest(ctx context.Context, asked func(presented bool)) context.Context {
	return context.WithValue(ctx, certificateRequest{}, asked)
}

// Present returns a function for tls.Config.GetClientCertificate, which presents the certificate to
// every server that asks for one; an empty one stands for none.
//
// With the field Certificates, the client would present no certificate to a server that names none
// of its issuers, for example one that names only their root.
func Present(certificate *tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if asked, ok := info.Context().Value(certificateRequest{}).(func(bool)); ok {
			asked(len(certificate.Certificate) > 0)
		}
		return certificate, nil
	}
}
