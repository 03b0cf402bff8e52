package send

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"surehook/internal/delivery/egress"
	"surehook/internal/hook"
)

// failure is an attempt without an answer.
type failure struct {
	err       error // of the request
	ended     error // the cause of the context's end; nil when it goes on
	handshake bool  // the TLS handshake returned an error
}

// classify returns what a failure means and says it to the endpoint's owner,
// without the URL and without the address that its host resolved to. The first
// row that applies decides.
func classify(f failure) (hook.Class, string) {
	rows := []struct {
		applies bool
		class   hook.Class
		text    string
	}{
		{is[*egress.BlockedError](f.err), hook.ClassBlocked, "The URL's host leads to an address that may not be dialed."},

		{f.ended == errDeadline, hook.ClassTimeout, "The endpoint did not answer in time."}, //nolint:errorlint // a cause is compared as it was given
		{f.ended != nil, hook.ClassTimeout, "The attempt was cut short before the endpoint answered."},

		{notFound(f.err), hook.ClassDNS, "The host name does not exist."},
		{is[*net.DNSError](f.err), hook.ClassDNS, "The host name could not be resolved."},

		{is[x509.HostnameError](f.err), hook.ClassTLS, "The certificate is for another host name."},
		{expired(f.err), hook.ClassTLS, "The certificate has expired or is not valid yet."},
		{is[x509.UnknownAuthorityError](f.err), hook.ClassTLS, "The certificate is not signed by a known authority; an intermediate certificate may be missing."},
		{is[*tls.CertificateVerificationError](f.err), hook.ClassTLS, "The certificate cannot be verified."},
		{is[x509.CertificateInvalidError](f.err), hook.ClassTLS, "The certificate cannot be verified."},
		{is[tls.RecordHeaderError](f.err), hook.ClassTLS, "The port does not speak TLS."},
		{operation(f.err, "remote error"), hook.ClassTLS, "The endpoint broke off the TLS handshake."}, // how crypto/tls returns an alert

		{timeout(f.err), hook.ClassTimeout, "The endpoint did not answer in time."},

		{operation(f.err, "dial") && errors.Is(f.err, syscall.ECONNREFUSED), hook.ClassConnect, "The endpoint refused the connection."},
		{operation(f.err, "dial"), hook.ClassConnect, "The endpoint could not be reached."},

		{closed(f.err), hook.ClassReset, "The endpoint closed the connection before it answered."},
		{f.handshake, hook.ClassTLS, "The TLS handshake did not succeed: there may be no common version."},
	}
	for _, row := range rows {
		if row.applies {
			return row.class, row.text
		}
	}
	return hook.ClassReset, "The connection broke, or the endpoint did not answer in HTTP."
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func notFound(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound
}

func expired(err error) bool {
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && invalid.Reason == x509.Expired
}

func timeout(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}

// operation reports whether the error is of the network operation.
func operation(err error, op string) bool {
	network, ok := errors.AsType[*net.OpError](err)
	return ok && network.Op == op
}

func closed(err error) bool {
	for _, target := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
