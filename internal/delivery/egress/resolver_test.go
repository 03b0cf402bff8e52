package egress_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"surehook.example/surehook/internal/delivery/egress"
)

// Kinds of DNS records (RFC 1035, section 3.2.2; RFC 3596, section 2.1).
const (
	kindA    = 1
	kindAAAA = 28
)

// answers returns a resolver. The n-th lookup of an A record returns the n-th address, and later
// lookups return the last one. Lookups of other kinds return no address.
func answers(addrs ...string) *net.Resolver {
	var asked atomic.Int64
	return resolver(func(kind uint16) []netip.Addr {
		if kind != kindA {
			return nil
		}
		return []netip.Addr{netip.MustParseAddr(addrs[min(int(asked.Add(1)), len(addrs))-1])}
	})
}

// records returns a resolver that returns all the addresses for every name.
func records(addrs ...string) *net.Resolver {
	return resolver(func(kind uint16) []netip.Addr {
		var found []netip.Addr
		for _, a := range addrs {
			if ip := netip.MustParseAddr(a); ip.Is4() && kind == kindA || ip.Is6() && kind == kindAAAA {
				found = append(found, ip)
			}
		}
		return found
	})
}

// resolver returns a resolver that asks find for the addresses of a kind of record.
func resolver(find func(kind uint16) []netip.Addr) *net.Resolver {
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe() // no PacketConn, so the resolver uses DNS over TCP
			go func() {
				defer func() { _ = server.Close() }()
				var size [2]byte
				for {
					if _, err := io.ReadFull(server, size[:]); err != nil {
						return
					}
					query := make([]byte, binary.BigEndian.Uint16(size[:]))
					if _, err := io.ReadFull(server, query); err != nil {
						return
					}
					_, _ = server.Write(answer(query, find))
				}
			}()
			return client, nil
		},
	}
}

// answer returns the reply to a query with one question (RFC 1035, section 4).
func answer(query []byte, find func(kind uint16) []netip.Addr) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the root label, type and class
	reply := append([]byte{}, query[:end]...)
	copy(reply[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	kind := binary.BigEndian.Uint16(query[end-4:])
	if kind == kindA || kind == kindAAAA {
		for _, ip := range find(kind) {
			reply[7]++
			reply = append(reply, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(ip.BitLen()/8))
			reply = append(reply, ip.AsSlice()...)
		}
	}
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)
}

// dials holds the dialed addresses of a client. Refused addresses received no
// bytes.
type dials struct {
	mu              sync.Mutex
	dialed, refused []string
}

// get makes a request with the client and records the dials.
func (d *dials) get(t *testing.T, client *http.Client, target string) error {
	t.Helper()

	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{ConnectDone: func(_, addr string, err error) {
		d.mu.Lock()
		defer d.mu.Unlock()

		host := netip.MustParseAddrPort(addr).Addr().String()
		if _, ok := errors.AsType[*egress.BlockedError](err); ok {
			d.refused = append(d.refused, host)
		} else {
			d.dialed = append(d.dialed, host)
		}
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		t.Fatalf("NewRequest(%s): %v", target, err)
	}
	resp, err := client.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

// TestNewClient_namesOfSeveralAddresses checks that one good address of a name does not permit
// its bad ones, in any order, even when the good server is gone. Loopback stands for a public
// address.
func TestNewClient_namesOfSeveralAddresses(t *testing.T) {
	t.Parallel()

	const good = "127.0.0.1"
	tests := []struct {
		name    string
		records []string
		bad     []string // as dialed
	}{
		{name: "a private address before an allowed one", records: []string{"192.168.0.1", good}, bad: []string{"192.168.0.1"}},
		{name: "an allowed address before a private one", records: []string{good, "192.168.0.1"}, bad: []string{"192.168.0.1"}},
		{name: "the unspecified address", records: []string{"0.0.0.0", good}, bad: []string{"0.0.0.0"}},
		{name: "a private IPv6 address beside an allowed IPv4 one", records: []string{"fd00:ec2::254", good}, bad: []string{"fd00:ec2::254"}},
		{name: "many", records: []string{"10.0.0.1", good, "169.254.169.254", "fe80::1"}, bad: []string{"10.0.0.1", "169.254.169.254", "fe80::1"}},
		{name: "only bad ones", records: []string{"10.0.0.1", "169.254.169.254"}, bad: []string{"10.0.0.1", "169.254.169.254"}},
		{name: "bad ones of both kinds", records: []string{"10.0.0.1", "fe80::1"}, bad: []string{"10.0.0.1", "fe80::1"}},
		{name: "the runtime API's link-local address", records: []string{"169.254.100.1"}, bad: []string{"169.254.100.1"}},
		{name: "a mapped address", records: []string{"::ffff:10.0.0.1"}, bad: []string{"10.0.0.1"}}, // the resolver unmaps the address
		{name: "a compatible address", records: []string{"::a9fe:a9fe"}, bad: []string{"::a9fe:a9fe"}},
		{name: "a NAT64 address", records: []string{"64:ff9b::a9fe:a9fe"}, bad: []string{"64:ff9b::a9fe:a9fe"}},
		{name: "a 6to4 address", records: []string{"2002:a9fe:a9fe::1"}, bad: []string{"2002:a9fe:a9fe::1"}},
		{name: "a Teredo address", records: []string{"2001:0:a9fe:a9fe::1"}, bad: []string{"2001:0:a9fe:a9fe::1"}},
		{name: "the unspecified IPv6 address", records: []string{"::"}, bad: []string{"0.0.0.0", "::"}}, // the dialer tries both families
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
			t.Cleanup(server.Close)
			_, port, err := net.SplitHostPort(server.Listener.Addr().String())
			if err != nil {
				t.Fatalf("SplitHostPort: %v", err)
			}
			var (
				d      dials
				client = egress.NewClientWith(egress.Policy{Loopback: true}, egress.Options{Resolver: records(tt.records...)})
				target = "http://receiver.test:" + port
				allow  = slices.Contains(tt.records, good)
			)
			if err := d.get(t, client, target); (err == nil) != allow || requests.Load() == 1 != allow {
				t.Errorf("Get(name of %v) = %v, with %d requests; want success: %t", tt.records, err, requests.Load(), allow)
			}
			server.Close()
			client.CloseIdleConnections()
			if err := d.get(t, client, target); err == nil {
				t.Errorf("Get(name of %v without a server) = nil; want an error", tt.records)
			}

			d.mu.Lock()
			defer d.mu.Unlock()
			for _, addr := range d.dialed {
				if addr != good {
					t.Errorf("Get(name of %v) dialed %s", tt.records, addr)
				}
			}
			for _, addr := range tt.bad {
				if !slices.Contains(d.refused, addr) {
					t.Errorf("Get(name of %v) refused %v; want %s among them", tt.records, d.refused, addr)
				}
			}
		})
	}
}
