package egress_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/egress"
)

// packet is the most that some middleboxes let through as a ClientHello.
const packet = 1400

// middlebox stands before a server. It judges each connection by the size of its ClientHello.
type middlebox struct {
	net.Listener

	mu     sync.Mutex
	refuse func(hello int, conn net.Conn) bool // true: the server does not get the connection
	sizes  []int
}

func (m *middlebox) set(refuse func(hello int, conn net.Conn) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.refuse = refuse
}

func (m *middlebox) Accept() (net.Conn, error) {
	for {
		conn, err := m.Listener.Accept()
		if err != nil {
			return nil, err
		}
		head := make([]byte, 5)
		if _, err := io.ReadFull(conn, head); err != nil {
			_ = conn.Close()
			continue
		}
		size := len(head) + int(binary.BigEndian.Uint16(head[3:]))
		m.mu.Lock()
		m.sizes = append(m.sizes, size)
		refuse := m.refuse
		m.mu.Unlock()
		if !refuse(size, conn) {
			return &peeked{conn, io.MultiReader(strings.NewReader(string(head)), conn)}, nil
		}
	}
}

// long returns for each connection whether its ClientHello was larger than a packet.
func (m *middlebox) long() []bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	long := make([]bool, len(m.sizes))
	for i, size := range m.sizes {
		long[i] = size > packet
	}
	return long
}

// peeked is a connection whose first bytes were read.
type peeked struct {
	net.Conn

	all io.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.all.Read(b) }

// closes ends a connection with a long ClientHello.
func closes(hello int, conn net.Conn) bool {
	if hello > packet {
		_ = conn.Close() // with unread bytes: a reset
		return true
	}
	return false
}

// behind starts a server behind the middlebox, and returns a client that trusts it.
func behind(t *testing.T, m *middlebox) (url string, client *http.Client) {
	t.Helper()

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	m.Listener, server.Listener = server.Listener, m
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client = egress.NewClientWith(egress.Policy{Loopback: true}, egress.Options{RootCAs: roots})
	t.Cleanup(client.CloseIdleConnections)
	return server.URL, client
}

// A middlebox that resets a long ClientHello costs one connection, and then none: the address is
// remembered.
func TestNewClient_greetsShortlyAfterAReset(t *testing.T) {
	t.Parallel()

	m := &middlebox{refuse: closes}
	url, client := behind(t, m)
	for range 3 {
		if err := get(t, client, url); err != nil {
			t.Fatalf("Get() = %v; want nil", err)
		}
		client.CloseIdleConnections()
	}
	equal(t, m.long(), true, false, false, false)
}

// A transport with other settings does the same.
func TestWithTLS_greetsShortlyAfterAReset(t *testing.T) {
	t.Parallel()

	m := &middlebox{refuse: closes}
	url, client := behind(t, m)
	base, _ := client.Transport.(*http.Transport)
	roots := base.TLSClientConfig.RootCAs
	base.TLSClientConfig.RootCAs = nil
	trusting := egress.WithTLS(base, func(c *tls.Config) { c.RootCAs = roots })
	t.Cleanup(trusting.CloseIdleConnections)
	if err := get(t, &http.Client{Transport: trusting}, url); err != nil {
		t.Fatalf("Get() = %v; want nil", err)
	}
	equal(t, m.long(), true, false)
}

// A server that accepts a long ClientHello gets no short one, and no second connection.
func TestNewClient_greetsWithAllKeyExchanges(t *testing.T) {
	t.Parallel()

	m := &middlebox{refuse: func(int, net.Conn) bool { return false }}
	url, client := behind(t, m)
	if err := get(t, client, url); err != nil {
		t.Fatalf("Get() = %v; want nil", err)
	}
	equal(t, m.long(), true)
}

// A server that closes every handshake gets one more connection for each request, and is not
// remembered.
func TestNewClient_triesAHandshakeTwice(t *testing.T) {
	t.Parallel()

	m := &middlebox{refuse: func(_ int, conn net.Conn) bool { _ = conn.Close(); return true }}
	url, client := behind(t, m)
	for range 2 {
		if err := get(t, client, url); !egress.ConnectionClosed(err) {
			t.Errorf("Get() = %v; want a closed connection", err)
		}
	}
	equal(t, m.long(), true, false, true, false)
}

// A refusal in words is final: another ClientHello would get the same.
func TestNewClient_triesARefusedHandshakeOnce(t *testing.T) {
	t.Parallel()

	m := &middlebox{refuse: func(_ int, conn net.Conn) bool {
		_, _ = conn.Write([]byte{21, 3, 3, 0, 2, 2, 40}) // an alert: handshake failure
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
		return true
	}}
	url, client := behind(t, m)
	if err := get(t, client, url); err == nil || egress.ConnectionClosed(err) {
		t.Errorf("Get() = %v; want the alert", err)
	}
	equal(t, m.long(), true)
}

// A remembered address is forgotten when its server fails with a short ClientHello.
func TestNewClient_forgetsAnAddressThatFails(t *testing.T) {
	t.Parallel()

	m := &middlebox{refuse: closes}
	url, client := behind(t, m)
	if err := get(t, client, url); err != nil {
		t.Fatalf("Get() = %v; want nil", err)
	}
	client.CloseIdleConnections()
	m.set(func(_ int, conn net.Conn) bool { return conn.Close() == nil })
	_ = get(t, client, url)
	m.set(func(int, net.Conn) bool { return false })
	if err := get(t, client, url); err != nil {
		t.Fatalf("Get() = %v; want nil", err)
	}
	equal(t, m.long(), true, false, false, true)
}

// A middlebox that drops a long ClientHello costs the timeout of one connection. The clock is
// virtual, and the server is on the other side of a pipe.
func TestNewClient_greetsShortlyAfterATimeout(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		client := egress.NewClient(egress.Policy{Loopback: true})
		transport, _ := client.Transport.(*http.Transport)
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				head := make([]byte, 5)
				_, _ = io.ReadFull(theirs, head)
				sizes = append(sizes, len(head)+int(binary.BigEndian.Uint16(head[3:])))
				_, _ = io.Copy(io.Discard, theirs)
			}()
			return ours, nil
		}
		for range 2 {
			began := time.Now()
			if err := get(t, client, "https://127.0.0.1/"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Second {
				t.Errorf("Get() = %v after %s; want the end of the handshake after 10s", err, time.Since(began))
			}
			synctest.Wait()
		}
		if len(sizes) != 2 || sizes[0] <= packet || sizes[1] > packet {
			t.Errorf("ClientHellos of %v bytes; want a long and a short one", sizes)
		}
	})
}

func equal(t *testing.T, got []bool, want ...bool) {
	t.Helper()

	if !slices.Equal(got, want) {
		t.Errorf("long ClientHellos: %v; want %v", got, want)
	}
}
