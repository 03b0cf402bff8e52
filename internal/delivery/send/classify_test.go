package send_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"surehook/internal/delivery/egress"
	"surehook/internal/delivery/send"
	"surehook/internal/hook"
)

func TestClassify(t *testing.T) {
	t.Parallel()

	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	read := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	system := func(call string, errno syscall.Errno) error { return os.NewSyscallError(call, errno) }
	unverified := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	blocked := dial(&egress.BlockedError{Verdict: egress.VerdictReserved})

	const (
		late     = "The endpoint did not answer in time."
		broken   = "The connection broke, or the endpoint did not answer in HTTP."
		closed   = "The endpoint closed the connection before it answered."
		unproved = "The certificate cannot be verified."
		noTLS    = "The TLS handshake did not succeed: there may be no common version."
	)
	tests := []struct {
		name      string
		err       error
		ended     error
		handshake bool
		class     hook.Class
		text      string
	}{
		{"a blocked address", blocked, nil, false, hook.ClassBlocked, "The URL's host leads to an address that may not be dialed."},
		{"a blocked address at the deadline", blocked, send.ErrDeadline, false, hook.ClassBlocked, "The URL's host leads to an address that may not be dialed."},

		{"the deadline", send.ErrDeadline, send.ErrDeadline, false, hook.ClassTimeout, late},
		{"the deadline while resolving", dial(&net.DNSError{IsTimeout: true}), send.ErrDeadline, false, hook.ClassTimeout, late},
		{"the deadline in the handshake", context.DeadlineExceeded, send.ErrDeadline, true, hook.ClassTimeout, late},
		{"the caller's end", context.Canceled, context.Canceled, false, hook.ClassTimeout, "The attempt was cut short before the endpoint answered."},
		{"the caller's deadline", context.DeadlineExceeded, context.DeadlineExceeded, false, hook.ClassTimeout, "The attempt was cut short before the endpoint answered."},
		{"a dial that takes too long", dial(os.ErrDeadlineExceeded), nil, false, hook.ClassTimeout, late},
		{"a connection that times out", dial(system("connect", syscall.ETIMEDOUT)), nil, false, hook.ClassTimeout, late},

		{"a name that does not exist", dial(&net.DNSError{Err: "no such host", IsNotFound: true}), nil, false, hook.ClassDNS, "The host name does not exist."},
		{"a name server that fails", dial(&net.DNSError{Err: "server misbehaving"}), nil, false, hook.ClassDNS, "The host name could not be resolved."},
		{"a name server that is silent", dial(&net.DNSError{IsTimeout: true}), nil, false, hook.ClassDNS, "The host name could not be resolved."},

		{"a certificate for another host", unverified(x509.HostnameError{}), nil, true, hook.ClassTLS, "The certificate is for another host name."},
		{"a certificate that has expired", unverified(x509.CertificateInvalidError{Reason: x509.Expired}), nil, true, hook.ClassTLS, "The certificate has expired or is not valid yet."},
		{"a certificate of an unknown authority", unverified(x509.UnknownAuthorityError{}), nil, true, hook.ClassTLS, "The certificate is not signed by a known authority; an intermediate certificate may be missing."},
		{"a certificate with another fault", unverified(x509.CertificateInvalidError{Reason: x509.TooManyIntermediates}), nil, true, hook.ClassTLS, unproved},
		{"a certificate that cannot be read", unverified(errors.New("x509: malformed")), nil, true, hook.ClassTLS, unproved},
		{"a certificate fault by itself", x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}, nil, false, hook.ClassTLS, unproved},
		{"plain text", tls.RecordHeaderError{RecordHeader: [5]byte{'H', 'T', 'T', 'P', '/'}}, nil, true, hook.ClassTLS, "The port does not speak TLS."},
		{"an alert", &net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}, nil, true, hook.ClassTLS, "The endpoint broke off the TLS handshake."},
		{"no common version", errors.New("tls: server selected unsupported protocol version 301"), nil, true, hook.ClassTLS, noTLS},

		{"a refused connection", dial(system("connect", syscall.ECONNREFUSED)), nil, false, hook.ClassConnect, "The endpoint refused the connection."},
		{"an unreachable host", dial(system("connect", syscall.EHOSTUNREACH)), nil, false, hook.ClassConnect, "The endpoint could not be reached."},
		{"an unreachable network", dial(system("connect", syscall.ENETUNREACH)), nil, false, hook.ClassConnect, "The endpoint could not be reached."},

		{"the end of the connection", io.EOF, nil, false, hook.ClassReset, closed},
		{"the end within an answer's head", fmt.Errorf("net/http: broken: %w", io.ErrUnexpectedEOF), nil, false, hook.ClassReset, closed},
		{"a reset", read(system("read", syscall.ECONNRESET)), nil, false, hook.ClassReset, closed},
		{"a reset while sending", fmt.Errorf("net/http: broken: %w", &net.OpError{Op: "write", Err: system("write", syscall.EPIPE)}), nil, false, hook.ClassReset, closed},
		{"a reset in the handshake", read(system("read", syscall.ECONNRESET)), nil, true, hook.ClassReset, closed},
		{"the end of the connection in the handshake", io.EOF, nil, true, hook.ClassReset, closed},
		{"no HTTP", errors.New("malformed HTTP response"), nil, false, hook.ClassReset, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			for _, err := range []error{tt.err, &url.Error{Op: "Post", URL: "https://example.com/?token=abc", Err: tt.err}} {
				class, text := send.Classify(err, tt.ended, tt.handshake)
				if class != tt.class || text != tt.text {
					t.Errorf("classify(%v) = %s, %q; want %s, %q", err, class, text, tt.class, tt.text)
				}
			}
		})
	}
}

// TestSender_Send_failures holds the table of TestClassify to what real
// connections return.
func TestSender_Send_failures(t *testing.T) {
	t.Parallel()

	server, _ := serve(t, answer(http.StatusOK), withTLS)
	old, _ := serve(t, answer(http.StatusOK), func(server *httptest.Server) {
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		server.StartTLS()
	})
	strict := egress.NewClient(egress.Policy{})
	deaf := egress.NewClientWith(loopback, egress.Options{Resolver: &net.Resolver{
		PreferGo: true,
		Dial:     func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no name server") },
	}})

	tests := []struct {
		name   string
		url    string
		client *http.Client // nil for the usual one
		class  hook.Class
		text   string
	}{
		{"an address that the client may not dial", server.URL, strict, hook.ClassBlocked, "The URL's host leads to an address that may not be dialed."},
		{"a name that does not resolve", "https://example.com/?token=abc", deaf, hook.ClassDNS, "The host name could not be resolved."},
		{"a port where nothing listens", nobody(t), nil, hook.ClassConnect, "The endpoint refused the connection."},
		{"a certificate of an unknown authority", server.URL, egress.NewClient(loopback), hook.ClassTLS, "The certificate is not signed by a known authority; an intermediate certificate may be missing."},
		{"a certificate for another host", strings.Replace(server.URL, "127.0.0.1", "localhost", 1), nil, hook.ClassTLS, "The certificate is for another host name."},
		{"a server of TLS 1.1", old.URL, nil, hook.ClassTLS, "The endpoint broke off the TLS handshake."},
		{"a handshake out of order", "https://" + raw(t, "\x16\x03\x03\x00\x04\x0e\x00\x00\x00"), nil, hook.ClassTLS, "The TLS handshake did not succeed: there may be no common version."},
		{"HTTP on the TLS port", "https://" + raw(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), nil, hook.ClassTLS, "The port does not speak TLS."},
		{"a handshake that ends", "https://" + raw(t, ""), nil, hook.ClassReset, "The endpoint closed the connection before it answered."},
		{"a connection that ends", "http://" + raw(t, ""), nil, hook.ClassReset, "The endpoint closed the connection before it answered."},
		{"a connection that ends within the answer's head", "http://" + raw(t, "HTTP/1.1 200 OK\r\n"), nil, hook.ClassReset, "The endpoint closed the connection before it answered."},
		{"another protocol", "http://" + raw(t, "SSH-2.0-OpenSSH_9.6\r\n"), nil, hook.ClassReset, "The connection broke, or the endpoint did not answer in HTTP."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := sender(t, server, old)
			if tt.client != nil {
				s.Client = tt.client
			}
			same(t, s.Send(t.Context(), request(t, tt.url)), hook.Outcome{Class: tt.class, Error: tt.text, URL: tt.url})
		})
	}
}

func TestSender_Send_refusesAURLThatIsNoLongerAllowed(t *testing.T) {
	t.Parallel()

	server, received := serve(t, answer(http.StatusOK), nil)
	s := sender(t)
	s.Policy = egress.Policy{}
	same(t, s.Send(t.Context(), request(t, server.URL)), hook.Outcome{
		Class: hook.ClassBlocked, Error: "The endpoint's URL must begin with https://.", URL: server.URL,
	})
	if len(received) != 0 {
		t.Errorf("the server got %d requests; want none", len(received))
	}
}

// nobody returns the URL of a port that was just closed.
func nobody(t *testing.T) string {
	t.Helper()

	server := httptest.NewServer(nil)
	server.Close()
	return server.URL
}

// raw starts a server that reads something from each connection, answers with
// the text, whatever was asked, and closes. It returns its address.
func raw(t *testing.T, text string) string {
	t.Helper()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}
