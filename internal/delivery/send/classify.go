package send

import (
	"context"
	"errors"
	"net"
	"syscall"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
)

// failure is an attempt without a response.
type failure struct {
	err       error // of the request
	ended     error // cause of the context's end; nil while the context lasts
	handshake bool  // the TLS handshake returned an error
	asked     bool  // the server asked for a client certificate
	presented bool  // and got one
	kept      bool  // the connection was of an earlier request, and no byte of an answer came
}

// classify returns the class of a failure and a text for the endpoint's owner. The text names
// neither the URL nor the resolved address of the host. The first row that applies decides.
func classify(f failure) (hook.Class, string) {
	problem := tlsProblem(f)
	rows := []struct {
		applies bool
		class   hook.Class
		text    string
	}{
		{is[*egress.BlockedError](f.err), hook.ClassBlocked, "The URL's host leads to an address that may not be dialed."},

		{f.ended == ErrDeadline, hook.ClassTimeout, "The endpoint did not answer in time."}, //nolint:errorlint // context.Cause returns the very value
		{f.ended != nil, hook.ClassTimeout, "The attempt was cut short before the endpoint answered."},

		{hostNotFound(f.err), hook.ClassDNS, "The host name does not exist."},
		{is[*net.DNSError](f.err), hook.ClassDNS, "The host name could not be resolved."},

		{problem != "", hook.ClassTLS, problem},

		{timedOut(f.err), hook.ClassTimeout, "The endpoint did not answer in time."},

		{failedIn(f.err, "dial") && errors.Is(f.err, syscall.ECONNREFUSED), hook.ClassConnect, "The endpoint refused the connection."},
		{failedIn(f.err, "dial"), hook.ClassConnect, "The endpoint could not be reached."},

		{egress.ConnectionClosed(f.err) && f.handshake, hook.ClassReset, "The endpoint closed the connection in the TLS handshake: the server, or a firewall before it, may accept neither TLS 1.3 nor TLS 1.2 with ECDHE."},
		{f.stale(), hook.ClassReset, "The endpoint closed a kept connection before it answered."},
		{egress.ConnectionClosed(f.err), hook.ClassReset, "The endpoint closed the connection before it answered."},
		{f.handshake, hook.ClassTLS, "The TLS handshake did not succeed: the server needs TLS 1.3, or TLS 1.2 with ECDHE and signatures with SHA-256."},
	}
	for _, row := range rows {
		if row.applies {
			return row.class, row.text
		}
	}
	return hook.ClassReset, "The connection broke, or the endpoint did not answer in HTTP."
}

// stale reports whether the request was lost on a connection of an earlier request, which the
// endpoint may have closed before.
func (f failure) stale() bool {
	return f.kept && !f.handshake && f.ended == nil && !failedIn(f.err, "dial")
}

// Unanswered returns the class of a request without a response, and a text for the
// endpoint's owner. The timeout of ctx has the cause ErrDeadline.
func Unanswered(ctx context.Context, err error) (hook.Class, string) {
	return classify(failure{err: err, ended: context.Cause(ctx)})
}

// is reports whether err wraps an E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func hostNotFound(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound
}

func timedOut(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return ok && network.Timeout()
}

// failedIn reports whether the network operation op returned the error.
func failedIn(err error, op string) bool {
	network, ok := errors.AsType[*net.OpError](err)
	return ok && network.Op == op
}
