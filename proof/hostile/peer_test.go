package hostile_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// peer is the receiver's side of a connection. Errors of the connection end the
// script: the client has closed the connection.
type peer struct {
	net.Conn

	in       *bufio.Reader
	requests *atomic.Int64
}

// read reads a request with its body.
func (p *peer) read() {
	if r := p.readHead(); r != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

// readHead reads a request up to its body.
func (p *peer) readHead() *http.Request {
	r, err := http.ReadRequest(p.in)
	if err != nil {
		return nil
	}
	p.requests.Add(1)
	return r
}

func (p *peer) say(text string) bool {
	_, err := io.WriteString(p.Conn, text)
	return err == nil
}

// trickle writes the text byte by byte.
func (p *peer) trickle(text string) bool {
	for i := range len(text) {
		if !p.say(text[i : i+1]) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// repeat writes the text until the client closes the connection.
func (p *peer) repeat(text string, pause time.Duration) {
	for p.say(text) {
		time.Sleep(pause)
	}
}

// wait reads nothing until the end of the attempt.
func (p *peer) wait() { time.Sleep(timeout + 2*slack) }

// listen runs the script for each connection, and returns the address.
func listen(t *testing.T, secured *tls.Config, requests *atomic.Int64, script func(*peer)) string {
	t.Helper()

	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if raw, ok := conn.(*net.TCPConn); ok {
				_ = raw.SetReadBuffer(4 << 10) // a receiver that reads nothing blocks the sender soon
			}
			if secured != nil {
				conn = tls.Server(conn, secured)
			}
			go func() {
				defer func() { _ = conn.Close() }()
				script(&peer{Conn: conn, in: bufio.NewReader(conn), requests: requests})
			}()
		}
	}()
	return l.Addr().String()
}

// reset closes the connection with a TCP reset.
func (p *peer) reset() {
	if raw, ok := p.Conn.(*net.TCPConn); ok {
		_ = raw.SetLinger(0)
	}
	_ = p.Close()
}

// halfClose ends the receiver's side, and waits.
func (p *peer) halfClose() {
	if raw, ok := p.Conn.(*net.TCPConn); ok {
		_ = raw.CloseWrite()
	}
	p.wait()
}

// The scripts of most attacks: read the request, then write.

// saying writes the text and closes.
func saying(text string) func(*peer) {
	return func(p *peer) { p.read(); p.say(text) }
}

// stalling writes the text and waits.
func stalling(text string) func(*peer) {
	return func(p *peer) { p.read(); p.say(text); p.wait() }
}

// trickling writes the text byte by byte.
func trickling(text string) func(*peer) {
	return func(p *peer) { p.read(); p.trickle(text) }
}

// flooding writes head, and then the text again and again.
func flooding(head, text string) func(*peer) {
	return func(p *peer) { p.read(); p.say(head); p.repeat(text, 0) }
}

// dripping writes head, and then the text again and again, with pauses.
func dripping(head, text string) func(*peer) {
	return func(p *peer) { p.read(); p.say(head); p.repeat(text, pause) }
}

// long is text of at least n bytes, with canaries.
func long(n int) string { return strings.Repeat(canary, n/len(canary)+1) }
