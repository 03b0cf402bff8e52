package send_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/hook"
)

// TestSender_Send_redirectsIntoPrivateSpace redirects from an allowed endpoint to reserved
// addresses in every form. Each redirect ends the attempt, and no request is sent to its
// location. The policy of the test allows loopback for the endpoint.
func TestSender_Send_redirectsIntoPrivateSpace(t *testing.T) {
	t.Parallel()

	const (
		refused  = "The endpoint redirected to a URL that is refused: it "
		reserved = refused + "must not lead to a private, loopback or otherwise reserved address."
		plain    = refused + "must write an IP address in its plain form, such as 192.0.2.1 or [2001:db8::1]."
		dot      = refused + "must not end its host with a dot."
		public   = refused + "must name a host of the public internet."
		user     = refused + "must not hold a user name or password."
		ports    = refused + "must use port 443, 8443, 80 or 8080."
		invalid  = "The endpoint redirected without a valid Location."
	)
	tests := []struct{ name, location, text string }{
		{name: "a private address", location: "http://10.0.0.1/", text: reserved},
		{name: "a private address without a scheme", location: "//192.168.0.1/", text: reserved},
		{name: "instance metadata", location: "http://169.254.169.254/latest/meta-data/iam/security-credentials/", text: reserved},
		{name: "instance metadata over IPv6", location: "http://[fd00:ec2::254]/latest/meta-data/", text: reserved},
		{name: "container credentials", location: "http://169.254.170.2/v2/credentials", text: reserved},
		{name: "the runtime API", location: "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next", text: reserved},
		{name: "the runtime API by name", location: "http://localhost:9001/2018-06-01/runtime/invocation/next", text: reserved},
		{name: "the runtime API over IPv6", location: "http://[::1]:9001/2018-06-01/runtime/invocation/next", text: reserved},
		{name: "the runtime API at a link-local address", location: "http://169.254.100.1:9001/2018-06-01/runtime/invocation/next", text: reserved},
		{name: "the unspecified address", location: "http://0.0.0.0/", text: reserved},
		{name: "the unspecified IPv6 address", location: "http://[::]/", text: reserved},
		{name: "a mapped address", location: "http://[::ffff:169.254.169.254]/", text: reserved},
		{name: "mapped loopback", location: "http://[::ffff:127.0.0.1]/", text: reserved},
		{name: "a NAT64 address", location: "http://[64:ff9b::a9fe:a9fe]/", text: reserved},
		{name: "a 6to4 address", location: "http://[2002:a9fe:a9fe::1]/", text: reserved},
		{name: "a Teredo address", location: "http://[2001:0:a9fe:a9fe::1]/", text: reserved},
		{name: "a zone", location: "http://[fe80::1%25eth0]/", text: reserved},
		{name: "decimal", location: "http://2852039166/", text: plain},
		{name: "hexadecimal", location: "http://0xa9.0xfe.0xa9.0xfe/", text: plain},
		{name: "octal", location: "http://0251.0376.0251.0376/", text: plain},
		{name: "short loopback", location: "http://127.1:9001/", text: plain},
		{name: "a trailing dot", location: "http://169.254.169.254./", text: dot},
		{name: "localhost with a trailing dot", location: "http://localhost.:9001/", text: dot},
		{name: "a name of the network", location: "http://metadata.google.internal/", text: public},
		{name: "a single label", location: "http://vault/", text: public},
		{name: "a user that looks like a host", location: "http://example.com@169.254.169.254/", text: user},
		{name: "a public address on a port of its own", location: "http://1.1.1.1:6379/", text: ports},
		{name: "full-width digits", location: "http://１６９.254.169.254/", text: plain},
		{name: "an ideographic full stop", location: "http://169。254。169。254/", text: public},
		{name: "an escaped dot", location: "http://169%2e254.169.254/", text: invalid},
		{name: "an escaped host", location: "http://%6c%6fcalhost/", text: invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			mux := http.NewServeMux()
			mux.HandleFunc("/", redirect(http.StatusTemporaryRedirect, "/next"))
			mux.HandleFunc("/next", redirect(http.StatusPermanentRedirect, tt.location)) // refused as a second redirect, too
			server, received := serve(t, mux.ServeHTTP, nil)
			outcome := sender(t).Send(t.Context(), request(t, server.URL+"/"))
			class := hook.ClassBlocked
			if tt.text == invalid {
				class = hook.ClassRedirect
			}
			same(t, outcome, hook.Outcome{
				Class: class, Status: http.StatusPermanentRedirect, Error: tt.text, URL: server.URL + "/next", Body: []byte("moved"),
			})
			if len(received) != 2 {
				t.Errorf("redirected to %s after %d requests; want 2", tt.location, len(received))
			}
		})
	}
}

// TestSender_Send_redirectsToNamesAreJudgedWhenDialed checks that the client refuses to dial a
// public name with a private address, even after a redirect.
func TestSender_Send_redirectsToNamesAreJudgedWhenDialed(t *testing.T) {
	t.Parallel()

	server, received := serve(t, redirect(http.StatusTemporaryRedirect, "http://metadata.example.com/latest/"), nil)
	s := sender(t)
	s.Client = named(t, "169.254.169.254")
	r := request(t, server.URL+"/")
	same(t, s.Send(t.Context(), r), hook.Outcome{
		Class: hook.ClassBlocked, URL: "http://metadata.example.com/latest/",
		Error: "The URL's host leads to an address that may not be dialed.",
	})
	if got := <-received; got.body != payload || len(received) != 0 {
		t.Errorf("the endpoint received %q and %d more requests; want the event once", got.body, len(received))
	}
}

// named returns a client whose resolver has the IPv4 address for every name.
func named(tb testing.TB, addr string) *http.Client {
	tb.Helper()

	ip := netip.MustParseAddr(addr).As4()
	client := egress.NewClientWith(loopback, egress.Options{Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe() // no PacketConn, so the resolver uses DNS over TCP
			go answerDNS(theirs, ip)
			return ours, nil
		},
	}})
	tb.Cleanup(client.CloseIdleConnections)
	return client
}

// answerDNS answers queries with one question each (RFC 1035, section 4) until the connection
// ends. It answers a query for an A record with the address.
func answerDNS(conn net.Conn, ip [4]byte) {
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
		end := 12 + bytes.IndexByte(query[12:], 0) + 5 // the name, type and class
		reply := append([]byte{}, query[:end]...)
		copy(reply[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
		if binary.BigEndian.Uint16(query[end-4:]) == 1 {
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			reply = append(reply, ip[:]...)
		}
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
}
