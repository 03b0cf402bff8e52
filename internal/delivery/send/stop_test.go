package send_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

// The receiver reads the request, and then nothing more. On an in-memory pipe the alert at the
// end of a TLS connection blocks at once, as on a socket whose buffers are full, and crypto/tls
// waits 5 seconds for it. The clock is virtual.
func TestSender_Send_endsWithAReceiverThatStopsReading(t *testing.T) {
	t.Parallel()

	certified := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(certified.Close)
	config := &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12}
	trusting, ok := certified.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("the server's client has another transport")
	}

	tests := []struct {
		name   string
		answer string
		class  hook.Class
	}{
		{name: "before the status", answer: "", class: hook.ClassTimeout},
		{name: "in the header", answer: "HTTP/1.1 200 OK\r\nX-A: ", class: hook.ClassTimeout},
		{name: "in the body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", class: hook.ClassDelivered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				defer func() { _ = server.Close() }()
				go func() {
					secured := tls.Server(server, config)
					if r, err := http.ReadRequest(bufio.NewReader(secured)); err == nil {
						_, _ = io.Copy(io.Discard, r.Body)
					}
					_, _ = io.WriteString(secured, tt.answer)
				}()
				transport := &http.Transport{
					TLSClientConfig: &tls.Config{RootCAs: trusting.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12},
					DialContext:     func(context.Context, string, string) (net.Conn, error) { return client, nil },
				}
				s := &send.Sender{Client: &http.Client{Transport: transport}, Policy: loopback, Now: time.Now}
				r := request(t, "https://example.com/")
				r.Endpoint.Timeout = 10 * time.Second

				outcome := s.Send(t.Context(), r)
				if outcome.Class != tt.class {
					t.Errorf("Send(...) = %+v; want %s", outcome, tt.class)
				}
				if limit := r.Endpoint.Timeout + 100*time.Millisecond; outcome.Duration > limit {
					t.Errorf("Send(...) took %s; want at most %s", outcome.Duration, limit)
				}
			})
		})
	}
}
