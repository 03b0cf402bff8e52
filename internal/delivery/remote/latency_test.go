package remote_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
)

// The round trips of the measurement: far is between the deployment's own region and the
// receiver's, near is within the receiver's region.
const (
	far  = 90 * time.Millisecond
	near = 2 * time.Millisecond
)

// distant returns the address of a loopback listener that forwards to the target with the round
// trip. The kernel accepts connections at once, so the first bytes also wait for the round trip of
// the TCP handshake.
func distant(tb testing.TB, target string, trip time.Duration) string {
	tb.Helper()

	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			open := time.Now().Add(trip)
			go late(out, in, open, trip/2)
			go late(in, out, time.Time{}, trip/2)
		}
	}()
	return listener.Addr().String()
}

// late copies what it reads, each piece after the delay, and nothing before open.
func late(to, from net.Conn, open time.Time, delay time.Duration) {
	type piece struct {
		at    time.Time
		bytes []byte
	}
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			bytes := make([]byte, 32<<10)
			n, err := from.Read(bytes)
			if n > 0 {
				at := time.Now()
				if at.Before(open) {
					at = open
				}
				pieces <- piece{at.Add(delay), bytes[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	_ = to.Close()
}

// crossing invokes a handler over a far connection that is kept open, like the connection to the
// API of Lambda.
type crossing struct {
	client *http.Client
	url    string
}

func (c crossing) Invoke(ctx context.Context, _ string, message []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(string(message)))
	if err != nil {
		return nil, err
	}
	w, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Body.Close() }()
	return io.ReadAll(w.Body)
}

// BenchmarkOrigins measures an attempt to a receiver 90 ms away over delayed loopback: from
// here, and through a sender beside the receiver; with a new connection to the receiver
// for each attempt, and with a kept one. docs/regions.md has the result.
func BenchmarkOrigins(b *testing.B) {
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(receiver.Close)
	address := receiver.Listener.Addr().String()
	sender := func(b *testing.B) *send.Sender {
		b.Helper()
		client := egress.NewClientWith(loopback, egress.Options{RootCAs: roots(receiver)})
		b.Cleanup(client.CloseIdleConnections)
		return &send.Sender{Client: client, Policy: loopback, Now: time.Now}
	}
	for _, kept := range []bool{false, true} {
		name := map[bool]string{false: "new connection", true: "kept connection"}[kept]
		b.Run("from here/"+name, func(b *testing.B) {
			s := sender(b)
			r := request(b, "https://"+distant(b, address, far))
			for b.Loop() {
				if outcome := s.Send(b.Context(), r); outcome.Status != http.StatusOK {
					b.Fatalf("Send() = %+v; want 200", outcome)
				}
				if !kept {
					s.Client.CloseIdleConnections()
				}
			}
		})
		b.Run("from the receiver's region/"+name, func(b *testing.B) {
			origin := sender(b)
			function := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				message, _ := io.ReadAll(r.Body)
				answer, _ := (remote.Handler{Sender: origin}).Handle(r.Context(), message)
				_, _ = w.Write(answer)
			}))
			b.Cleanup(function.Close)
			invoker := crossing{function.Client(), "https://" + distant(b, function.Listener.Addr().String(), far)}
			s := remote.Sender{Signer: sender(b), Invoker: invoker, Now: time.Now}
			r := request(b, "https://"+distant(b, address, near))
			if _, err := s.Send(b.Context(), r); err != nil { // opens the connection to the function
				b.Fatal(err)
			}
			for b.Loop() {
				if !kept {
					origin.Client.CloseIdleConnections()
				}
				if outcome, err := s.Send(b.Context(), r); err != nil || outcome.Status != http.StatusOK {
					b.Fatalf("Send() = %+v, %v; want 200", outcome, err)
				}
			}
		})
	}
}
