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

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// The texts of failures.
const (
	late       = "The endpoint did not answer in time."
	broken     = "The connection broke."
	noStatus   = "The answer does not begin with a status line of HTTP/1.1: correct the port of the URL, or remove what the server writes before it."
	badHeader  = "The answer has a header line that is cut off, or has no colon or no valid name: let each be like Content-Type: text/plain."
	closed     = "The endpoint closed the connection before it answered."
	cut        = "The endpoint closed the connection in the TLS handshake: the server, or a firewall before it, may accept neither TLS 1.3 nor TLS 1.2 with ECDHE."
	unproved   = "The certificate cannot be verified."
	noTLS      = "The TLS handshake did not succeed: the server needs TLS 1.3, or TLS 1.2 with ECDHE and signatures with SHA-256."
	noTLSPort  = "The port does not speak TLS: correct the port of the URL."
	otherHost  = "The certificate is for another host name: let the server present one for the host of the URL."
	selfSigned = "The certificate is self-signed: use one of a known authority, or set its authority in the field ca of tls."
	alone      = "The certificate is not signed by a known authority, and comes without an intermediate certificate: let the server send the whole chain, or set a private authority in the field ca of tls."
	chain      = "The certificate's chain does not end at a known authority: complete it, or set a private authority in the field ca of tls."
	sha1       = "The certificate, or one of its chain, is signed with SHA-1 or MD5: issue it with SHA-256."
	expired    = "The certificate, or one of its chain, has expired or is not valid yet: renew it, and reload the server."
	commonName = "The certificate names its host in the common name only, which no longer counts: issue it with a subject alternative name."
	clientOnly = "The certificate is not for servers: its extended key usage must have serverAuth."
	oldTLS     = "The endpoint's TLS is too old: let the server speak TLS 1.2 or 1.3."
	noSuite    = "The endpoint has no cipher suite in common with Surehook, perhaps RSA or DHE key exchange alone: let the server offer ECDHE with AES-GCM, or TLS 1.3."
	wantsOne   = "The endpoint asks for a client certificate and got none: set certificate and key of tls."
	wantsOther = "The endpoint refused the client certificate: let the server trust it, or set another in tls."
	noSuchHost = "The endpoint does not know the host name of the URL: give the server a certificate for this name."
)

func TestClassify(t *testing.T) {
	t.Parallel()

	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	read := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	system := func(call string, errno syscall.Errno) error { return os.NewSyscallError(call, errno) }
	unverified := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	blocked := dial(&egress.BlockedError{Verdict: egress.VerdictReserved})

	tests := []struct {
		name      string
		err       error
		ended     error
		handshake bool
		class     hook.Class
		text      string
	}{
		{name: "a blocked address", err: blocked, ended: nil, handshake: false, class: hook.ClassBlocked, text: "The URL's host leads to an address that may not be dialed."},
		{name: "a blocked address at the deadline", err: blocked, ended: send.ErrDeadline, handshake: false, class: hook.ClassBlocked, text: "The URL's host leads to an address that may not be dialed."},

		{name: "the deadline", err: send.ErrDeadline, ended: send.ErrDeadline, handshake: false, class: hook.ClassTimeout, text: late},
		{name: "the deadline while resolving", err: dial(&net.DNSError{IsTimeout: true}), ended: send.ErrDeadline, handshake: false, class: hook.ClassTimeout, text: late},
		{name: "the deadline in the handshake", err: context.DeadlineExceeded, ended: send.ErrDeadline, handshake: true, class: hook.ClassTimeout, text: late},
		{name: "the caller's end", err: context.Canceled, ended: context.Canceled, handshake: false, class: hook.ClassTimeout, text: "The attempt was cut short before the endpoint answered."},
		{name: "the caller's deadline", err: context.DeadlineExceeded, ended: context.DeadlineExceeded, handshake: false, class: hook.ClassTimeout, text: "The attempt was cut short before the endpoint answered."},
		{name: "a dial past its timeout", err: dial(os.ErrDeadlineExceeded), ended: nil, handshake: false, class: hook.ClassTimeout, text: late},
		{name: "a connection timeout", err: dial(system("connect", syscall.ETIMEDOUT)), ended: nil, handshake: false, class: hook.ClassTimeout, text: late},

		{name: "a name that does not exist", err: dial(&net.DNSError{Err: "no such host", IsNotFound: true}), ended: nil, handshake: false, class: hook.ClassDNS, text: "The host name does not exist."},
		{name: "a name server that fails", err: dial(&net.DNSError{Err: "server misbehaving"}), ended: nil, handshake: false, class: hook.ClassDNS, text: "The host name could not be resolved."},
		{name: "a name server that is silent", err: dial(&net.DNSError{IsTimeout: true}), ended: nil, handshake: false, class: hook.ClassDNS, text: "The host name could not be resolved."},

		{name: "a certificate for another host", err: unverified(x509.HostnameError{}), ended: nil, handshake: true, class: hook.ClassTLS, text: otherHost},
		{name: "a certificate that has expired", err: unverified(x509.CertificateInvalidError{Reason: x509.Expired}), ended: nil, handshake: true, class: hook.ClassTLS, text: expired},
		{name: "a certificate of an unknown authority", err: unverified(x509.UnknownAuthorityError{}), ended: nil, handshake: true, class: hook.ClassTLS, text: "The certificate is not signed by a known authority."},
		{name: "a certificate with another fault", err: unverified(x509.CertificateInvalidError{Reason: x509.TooManyIntermediates}), ended: nil, handshake: true, class: hook.ClassTLS, text: unproved},
		{name: "a certificate that cannot be read", err: unverified(errors.New("x509: malformed")), ended: nil, handshake: true, class: hook.ClassTLS, text: unproved},
		{name: "a certificate fault by itself", err: x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}, ended: nil, handshake: false, class: hook.ClassTLS, text: unproved},
		{name: "plain text", err: tls.RecordHeaderError{RecordHeader: [5]byte{'H', 'T', 'T', 'P', '/'}}, ended: nil, handshake: true, class: hook.ClassTLS, text: noTLSPort},
		{name: "an alert", err: &net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}, ended: nil, handshake: true, class: hook.ClassTLS, text: noSuite},
		{name: "an alert that needs the server's log", err: &net.OpError{Op: "remote error", Err: tls.AlertError(80)}, ended: nil, handshake: true, class: hook.ClassTLS, text: "The endpoint broke off the TLS handshake with the alert internal error: the log of the server says why."},
		{name: "an alert about the name", err: &net.OpError{Op: "remote error", Err: tls.AlertError(112)}, ended: nil, handshake: true, class: hook.ClassTLS, text: noSuchHost},
		{name: "an alert about the protocol", err: &net.OpError{Op: "remote error", Err: tls.AlertError(120)}, ended: nil, handshake: true, class: hook.ClassTLS, text: "The endpoint speaks HTTP/2 alone: let the server offer HTTP/1.1, too (ALPN http/1.1)."},
		{name: "a certificate with a long key", err: errors.New("tls: server sent certificate containing RSA key larger than 8192 bits"), ended: nil, handshake: true, class: hook.ClassTLS, text: "The certificate has an RSA key of more than 8192 bits: issue it with one of 2048 to 4096 bits."},
		{name: "a renegotiation", err: &net.OpError{Op: "local error", Err: tls.AlertError(100)}, ended: nil, handshake: false, class: hook.ClassTLS, text: "The endpoint asks for a client certificate by a renegotiation, which is not supported: let the server ask in the first handshake."},
		{name: "a version that is too old", err: errors.New("tls: server selected unsupported protocol version 301"), ended: nil, handshake: true, class: hook.ClassTLS, text: oldTLS},

		{name: "a refused connection", err: dial(system("connect", syscall.ECONNREFUSED)), ended: nil, handshake: false, class: hook.ClassConnect, text: "The endpoint refused the connection."},
		{name: "an unreachable host", err: dial(system("connect", syscall.EHOSTUNREACH)), ended: nil, handshake: false, class: hook.ClassConnect, text: "The endpoint could not be reached."},
		{name: "an unreachable network", err: dial(system("connect", syscall.ENETUNREACH)), ended: nil, handshake: false, class: hook.ClassConnect, text: "The endpoint could not be reached."},

		{name: "the end of the connection", err: io.EOF, ended: nil, handshake: false, class: hook.ClassReset, text: closed},
		{name: "the end within a response header", err: fmt.Errorf("net/http: broken: %w", io.ErrUnexpectedEOF), ended: nil, handshake: false, class: hook.ClassReset, text: closed},
		{name: "a reset", err: read(system("read", syscall.ECONNRESET)), ended: nil, handshake: false, class: hook.ClassReset, text: closed},
		{name: "a reset while sending", err: fmt.Errorf("net/http: broken: %w", &net.OpError{Op: "write", Err: system("write", syscall.EPIPE)}), ended: nil, handshake: false, class: hook.ClassReset, text: closed},
		{name: "a reset in the handshake", err: read(system("read", syscall.ECONNRESET)), ended: nil, handshake: true, class: hook.ClassReset, text: cut},
		{name: "the end of the connection in the handshake", err: io.EOF, ended: nil, handshake: true, class: hook.ClassReset, text: cut},
		{name: "no HTTP", err: errors.New("malformed HTTP response"), ended: nil, handshake: false, class: hook.ClassReset, text: noStatus},
		{name: "an unknown fault", err: errors.New("?"), ended: nil, handshake: false, class: hook.ClassReset, text: broken},
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

// TestSender_Send_failures checks the table of TestClassify against the errors of
// real connections.
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
		client *http.Client // nil: the loopback client
		class  hook.Class
		text   string
	}{
		{name: "an address that the client may not dial", url: server.URL, client: strict, class: hook.ClassBlocked, text: "The URL's host leads to an address that may not be dialed."},
		{name: "a name that does not resolve", url: "https://example.com/?token=abc", client: deaf, class: hook.ClassDNS, text: "The host name could not be resolved."},
		{name: "a port where nothing listens", url: nobody(t), client: nil, class: hook.ClassConnect, text: "The endpoint refused the connection."},
		{name: "a certificate of an unknown authority", url: server.URL, client: egress.NewClient(loopback), class: hook.ClassTLS, text: selfSigned},
		{name: "a certificate for another host", url: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), client: nil, class: hook.ClassTLS, text: otherHost},
		{name: "a server of TLS 1.1", url: old.URL, client: nil, class: hook.ClassTLS, text: oldTLS},
		{name: "a handshake out of order", url: "https://" + raw(t, "\x16\x03\x03\x00\x04\x0e\x00\x00\x00"), client: nil, class: hook.ClassTLS, text: noTLS},
		{name: "HTTP/2 only", url: "https://" + raw(t, "\x15\x03\x03\x00\x02\x02\x78"), client: nil, class: hook.ClassTLS, text: "The endpoint speaks HTTP/2 alone: let the server offer HTTP/1.1, too (ALPN http/1.1)."},
		{name: "HTTP on the TLS port", url: "https://" + raw(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), client: nil, class: hook.ClassTLS, text: noTLSPort},
		{name: "a handshake that ends", url: "https://" + raw(t, ""), client: nil, class: hook.ClassReset, text: cut},
		{name: "a connection that ends", url: "http://" + raw(t, ""), client: nil, class: hook.ClassReset, text: "The endpoint closed the connection before it answered."},
		{name: "a connection that ends within the answer's head", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\n"), client: nil, class: hook.ClassReset, text: "The endpoint closed the connection before it answered."},
		{name: "another protocol", url: "http://" + raw(t, "SSH-2.0-OpenSSH_9.6\r\n"), client: nil, class: hook.ClassReset, text: noStatus},
		{name: "something before the status line", url: "http://" + raw(t, "\xef\xbb\xbfHTTP/1.1 200 OK\r\n\r\n"), client: nil, class: hook.ClassReset, text: noStatus},
		{name: "an alert on the HTTP port", url: "http://" + raw(t, "\x15\x03\x01\x00\x02\x02\x46"), client: nil, class: hook.ClassReset, text: "The endpoint answered in TLS: begin the URL with https://, or correct its port."},
		{name: "HTTP/2", url: "http://" + raw(t, "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"), client: nil, class: hook.ClassReset, text: "The endpoint answered in HTTP/2: let the server speak HTTP/1.1, too."},
		{name: "a code of two digits", url: "http://" + raw(t, "HTTP/1.1 20\r\n\r\n"), client: nil, class: hook.ClassReset, text: "The status line of the answer has no code of three digits: let it be like HTTP/1.1 200 OK."},
		{name: "a version without number", url: "http://" + raw(t, "HTTP/one 200 OK\r\n\r\n"), client: nil, class: hook.ClassReset, text: noStatus},
		{name: "a header without colon", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"), client: nil, class: hook.ClassReset, text: badHeader},
		{name: "a header that is cut off", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\nContent-Le"), client: nil, class: hook.ClassReset, text: badHeader},
		{name: "headers that are too long", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\nX-A: "+strings.Repeat("a", 100<<10)+"\r\n\r\n"), client: nil, class: hook.ClassReset, text: "The headers of the answer are longer than 64 KiB: let the server send fewer."},
		{name: "two lengths", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok"), client: nil, class: hook.ClassReset, text: "The answer has two different Content-Length: let the server, or the proxy before it, send one."},
		{name: "a negative length", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), client: nil, class: hook.ClassReset, text: "The Content-Length of the answer is not a number."},
		{name: "another transfer encoding", url: "http://" + raw(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"), client: nil, class: hook.ClassReset, text: "The answer has a Transfer-Encoding other than chunked: use Content-Encoding for compression."},
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

// nobody returns a URL whose port is closed.
func nobody(t *testing.T) string {
	t.Helper()

	server := httptest.NewServer(nil)
	server.Close()
	return server.URL
}

// raw starts a server and returns its address. On each connection it reads some bytes, writes the
// text and closes.
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
