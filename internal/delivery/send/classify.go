package send

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
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
	return hook.ClassReset, cmp.Or(httpProblem(f.err), "The connection broke.")
}

// httpProblem returns what is wrong with an answer that is not valid in HTTP, and the mend. The
// errors of net/http have no types.
func httpProblem(err error) string {
	said := fmt.Sprint(err)
	for _, row := range [][2]string{
		{`malformed HTTP response "\x15\x03`, "The endpoint answered in TLS: begin the URL with https://, or correct its port."},
		{`malformed HTTP response "\x00\x00`, "The endpoint answered in HTTP/2: let the server speak HTTP/1.1, too."},
		{"malformed HTTP status code", "The status line of the answer has no code of three digits: let it be like HTTP/1.1 200 OK."},
		{"malformed HTTP", "The answer does not begin with a status line of HTTP/1.1: correct the port of the URL, or remove what the server writes before it."},
		{"malformed MIME header", "The answer has a header line that is cut off, or has no colon or no valid name: let each be like Content-Type: text/plain."},
		{"response headers exceeded", "The headers of the answer are longer than 64 KiB: let the server send fewer."},
		{"multiple Content-Length", "The answer has two different Content-Length: let the server, or the proxy before it, send one."},
		{"Content-Length", "The Content-Length of the answer is not a number."},
		{"transfer encoding", "The answer has a Transfer-Encoding other than chunked: use Content-Encoding for compression."},
	} {
		if strings.Contains(said, row[0]) {
			return row[1]
		}
	}
	return ""
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
