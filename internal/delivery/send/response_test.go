package send_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

func same(t *testing.T, got, want hook.Outcome) {
	t.Helper()

	got.Headers, got.Sent, got.Phases = nil, nil, hook.Phases{} // these have tests of their own
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Send(...) is another outcome (-want +got):\n%s", diff)
	}
}

func TestSender_Send_readsTheAnswer(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("\xff", 5000)
	tests := []struct {
		name       string
		status     int
		retryAfter string
		resetAfter string
		body       string
		want       hook.Outcome
	}{
		{name: "200", status: 200, retryAfter: "", body: "ok", want: hook.Outcome{Class: hook.ClassDelivered, Body: []byte("ok")}},
		{name: "204", status: 204, retryAfter: "", body: "", want: hook.Outcome{Class: hook.ClassDelivered, Body: []byte{}}},
		{name: "a Retry-After that means nothing", status: 200, retryAfter: "60", body: "", want: hook.Outcome{Class: hook.ClassDelivered, Body: []byte{}}},
		{name: "a long body that is no text", status: 200, retryAfter: "", body: long, want: hook.Outcome{Class: hook.ClassDelivered, Body: []byte(long[:1000])}},
		{name: "429 with seconds", status: 429, retryAfter: "60", body: "slow down", want: hook.Outcome{
			Class: hook.ClassThrottled, Body: []byte("slow down"), RetryAfter: time.Minute, Error: "The endpoint answered 429 Too Many Requests.",
		}},
		{name: "503 with a date", status: 503, retryAfter: time.Unix(at.Unix()+90, 0).UTC().Format(http.TimeFormat), body: "", want: hook.Outcome{
			Class: hook.ClassUnavailable, Body: []byte{}, RetryAfter: 89500 * time.Millisecond, Error: "The endpoint answered 503 Service Unavailable.",
		}},
		{name: "429 with seconds, and the right ones", status: 429, retryAfter: "40000", resetAfter: "40.5", want: hook.Outcome{
			Class: hook.ClassThrottled, Body: []byte{}, RetryAfter: 41 * time.Second, Error: "The endpoint answered 429 Too Many Requests.",
		}},
		{name: "503 with the end of the limit alone", status: 503, resetAfter: "7", want: hook.Outcome{
			Class: hook.ClassUnavailable, Body: []byte{}, RetryAfter: 7 * time.Second, Error: "The endpoint answered 503 Service Unavailable.",
		}},
		{name: "429 with an end that is nonsense", status: 429, retryAfter: "60", resetAfter: "-1", want: hook.Outcome{
			Class: hook.ClassThrottled, Body: []byte{}, RetryAfter: time.Minute, Error: "The endpoint answered 429 Too Many Requests.",
		}},
		{name: "500 within a limit", status: 500, resetAfter: "60", want: hook.Outcome{Class: hook.ClassUnavailable, Body: []byte{}, Error: "The endpoint answered 500 Internal Server Error."}},
		{name: "503 with nonsense", status: 503, retryAfter: "soon", body: "", want: hook.Outcome{Class: hook.ClassUnavailable, Body: []byte{}, Error: "The endpoint answered 503 Service Unavailable."}},
		{name: "500", status: 500, retryAfter: "", body: "oops", want: hook.Outcome{Class: hook.ClassUnavailable, Body: []byte("oops"), Error: "The endpoint answered 500 Internal Server Error."}},
		{name: "an unknown status", status: 599, retryAfter: "", body: "", want: hook.Outcome{Class: hook.ClassUnavailable, Body: []byte{}, Error: "The endpoint answered 599."}},
		{name: "408", status: 408, retryAfter: "", body: "", want: hook.Outcome{Class: hook.ClassUnavailable, Body: []byte{}, Error: "The endpoint answered 408 Request Timeout."}},
		{name: "410", status: 410, retryAfter: "", body: "", want: hook.Outcome{Class: hook.ClassGone, Body: []byte{}, Error: "The endpoint answered 410 Gone."}},
		{name: "401", status: 401, retryAfter: "60", body: "who?", want: hook.Outcome{Class: hook.ClassRefused, RetryAfter: time.Minute, Body: []byte("who?"), Error: "The endpoint answered 401 Unauthorized."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if tt.retryAfter != "" {
					w.Header().Set("Retry-After", tt.retryAfter)
				}
				if tt.resetAfter != "" {
					w.Header().Set("X-RateLimit-Reset-After", tt.resetAfter)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}, nil)
			tt.want.Status, tt.want.URL = tt.status, server.URL
			same(t, sender(t).Send(t.Context(), request(t, server.URL)), tt.want)
		})
	}
}

// TestSender_Send_keepsHeaders checks what is kept of the response to a failed attempt, and
// that nothing is kept of a success.
func TestSender_Send_keepsHeaders(t *testing.T) {
	t.Parallel()

	for status, most := range map[int]int{200: 1000, 500: 16 << 10, 404: 16 << 10} {
		server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Server", "nginx\u00e9")
			w.Header().Set("X-Request-Id", strings.Repeat("a", 500))
			w.Header().Set("X-RateLimit-Reset-After", "1.5")
			w.Header().Set("Set-Cookie", "session=secret")
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.Repeat("b", 20<<10))
		}, nil)
		got := sender(t).Send(t.Context(), request(t, server.URL))
		want := map[string]string{"Server": "nginx??", "X-Request-Id": strings.Repeat("a", 200), "X-Ratelimit-Reset-After": "1.5", "Content-Type": "text/html"}
		if status == http.StatusOK {
			want = nil
		}
		if diff := cmp.Diff(want, got.Headers); diff != "" || len(got.Body) != most {
			t.Errorf("%d keeps %d bytes; want %d, and headers (-want +got):\n%s", status, len(got.Body), most, diff)
		}
	}
}

// With record_headers a success keeps what a failure does.
func TestSender_Send_recordsHeaders(t *testing.T) {
	t.Parallel()

	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "42")
		w.WriteHeader(http.StatusNoContent)
	}, nil)
	for _, record := range []bool{false, true} {
		r := request(t, server.URL)
		r.Endpoint.RecordHeaders = record
		got := sender(t).Send(t.Context(), r)
		if got.Class != hook.ClassDelivered || (got.Sent["Webhook-Signature"] != "") != record || (got.Headers["X-Request-Id"] == "42") != record {
			t.Errorf("recorded %t: %v sent %v, answered %v", record, got.Class, got.Sent, got.Headers)
		}
	}
}

// TestSender_Send_describesTheRequest checks that the outcome of a failed attempt has the headers
// that the receiver got, without the values of the owner's headers.
func TestSender_Send_describesTheRequest(t *testing.T) {
	t.Parallel()

	for status, described := range map[int]bool{204: false, 500: true, 302: true} {
		received := make(chan http.Header, 1)
		server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			received <- r.Header
			w.WriteHeader(status)
		}, nil)
		r := request(t, server.URL)
		r.Own = map[string]string{"X-Key": "hush", "X-Idempotency-Key": "not the owner's"}
		r.Content.Headers = map[string]string{"x-kind": "order 7"}
		got := sender(t).Send(t.Context(), r).Sent
		want := make(map[string]string)
		for name, values := range <-received {
			want[name] = values[0]
		}
		for _, name := range []string{"Content-Length", "Accept-Encoding"} { // set by HTTP
			delete(want, name)
		}
		if want["X-Key"] != "hush" || want["X-Kind"] != "order 7" || want["Webhook-Signature"] == "" {
			t.Fatalf("the receiver got %v", want)
		}
		want["X-Key"], want["X-Kind"] = hook.Masked, hook.Masked
		if !described {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Sent of an attempt with %d (-want +got):\n%s", status, diff)
		}
	}
	r := request(t, "http://127.0.0.1:1")
	r.Endpoint.URL = "http://10.0.0.1/"
	if got := sender(t).Send(t.Context(), r); got.Class != hook.ClassBlocked || got.Sent != nil {
		t.Errorf("blocked attempt = %+v; want no headers of a request", got)
	}
}

// TestSender_Send_phases checks how the time of a request is split, with a clock that ticks each
// time it is read.
func TestSender_Send_phases(t *testing.T) {
	t.Parallel()

	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	s := sender(t, server)
	var ticks atomic.Int64
	s.Now = func() time.Time { return at.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
	r := request(t, server.URL)
	p := s.Send(t.Context(), r).Phases
	if p.DNS != 0 || p.Connect <= 0 || p.TLS <= 0 || p.FirstByte <= 0 {
		t.Errorf("phases of a new connection = %+v; want connect, TLS and first byte", p)
	}
	for n := 1; p.Connect != 0 && n < tries; n++ {
		p = s.Send(t.Context(), r).Phases
	}
	if p.DNS != 0 || p.Connect != 0 || p.TLS != 0 || p.FirstByte <= 0 {
		t.Errorf("phases of a kept connection = %+v; want the first byte alone", p)
	}
	r = request(t, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)) // the certificate has no such name
	if got := s.Send(t.Context(), r); got.Class != hook.ClassTLS || got.Phases.DNS <= 0 || got.Phases.Connect <= 0 || got.Phases.TLS != 0 {
		t.Errorf("%s with phases %+v; want a failed handshake after DNS and connect", got.Class, got.Phases)
	}
}

func TestSender_Send_leavesAnEndlessBody(t *testing.T) {
	t.Parallel()

	var opened atomic.Int64
	closed := make(chan int, 1)
	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if opened.Load() > 1 {
			return
		}
		sent := 0
		for chunk := bytes.Repeat([]byte("a"), 8<<10); ; {
			n, err := w.Write(chunk)
			sent += n
			if err != nil {
				closed <- sent
				return
			}
		}
	}, func(server *httptest.Server) { countConnections(server, &opened); server.Start() })

	s := sender(t)
	for want := int64(1); want <= 2; want++ {
		outcome := s.Send(t.Context(), request(t, server.URL))
		if outcome.Class != hook.ClassDelivered || len(outcome.Body) > hook.MaxResponseBody {
			t.Errorf("Send(...) = %s with %d bytes; want delivered with at most %d", outcome.Class, len(outcome.Body), hook.MaxResponseBody)
		}
		if got := opened.Load(); got != want {
			t.Errorf("after %d Sends %d connections were opened; want %d", want, got, want)
		}
	}
	if sent := <-closed; sent < 64<<10 {
		t.Errorf("the connection was closed after %d bytes; want at least 64 KiB to be read", sent)
	}
}

func TestSender_Send_readsAtMost64KiB(t *testing.T) {
	t.Parallel()

	counter := &countingBody{}
	s := sender(t)
	s.Client = &http.Client{Transport: answerWith(counter)}
	s.Send(t.Context(), request(t, "https://example.com"))
	if counter.read != 64<<10 || !counter.closed {
		t.Errorf("Send(...) read %d bytes, closed %t; want 65536, true", counter.read, counter.closed)
	}
}

// countingBody is an endless body.
type countingBody struct {
	read   int
	closed bool
}

func (b *countingBody) Read(p []byte) (int, error) { b.read += len(p); return len(p), nil }

func (b *countingBody) Close() error { b.closed = true; return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answerWith(body io.ReadCloser) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
	}
}

func TestSender_Send_doesNotReadFromASwitchedConnection(t *testing.T) {
	t.Parallel()

	server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("Hijack: %v", err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // returns when the other side closes
		_ = conn.Close()
	}, nil)
	same(t, sender(t).Send(t.Context(), request(t, server.URL)), hook.Outcome{
		Class: hook.ClassRefused, Status: 101, URL: server.URL, Error: "The endpoint answered 101 Switching Protocols.",
	})
}

// The endpoint is a server on in-memory connections in a synctest bubble: the clock
// advances only while all goroutines wait.
func TestSender_Send_deadlines(t *testing.T) {
	t.Parallel()

	const timeout = 10 * time.Second
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	delay := func(r *http.Request, d time.Duration) {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		parent  time.Duration // until the end of the caller's context
		want    hook.Outcome
	}{
		{name: "no answer", handler: hang, parent: time.Hour, want: hook.Outcome{
			Class: hook.ClassTimeout, Error: "The endpoint did not answer in time.", Duration: timeout,
		}},
		{name: "no answer before our own end", handler: hang, parent: 4 * time.Second, want: hook.Outcome{
			Class: hook.ClassTimeout, Error: "The attempt was cut short before the endpoint answered.", Duration: 4 * time.Second,
		}},
		{name: "an answer in the last moment", handler: func(_ http.ResponseWriter, r *http.Request) { delay(r, timeout-1) }, parent: time.Hour, want: hook.Outcome{
			Class: hook.ClassDelivered, Status: 200, Body: []byte{}, Duration: timeout - 1,
		}},
		{name: "a body that stalls", handler: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		}, parent: time.Hour, want: hook.Outcome{Class: hook.ClassDelivered, Status: 200, Body: []byte("begun"), Duration: timeout}},
		{name: "a failure whose body stalls", handler: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		}, parent: time.Hour, want: hook.Outcome{
			Class: hook.ClassUnavailable, Status: 503, Body: []byte{}, Error: "The endpoint answered 503 Service Unavailable.", Duration: timeout,
		}},
		{name: "redirects have one deadline together", handler: func(w http.ResponseWriter, r *http.Request) {
			delay(r, 4*time.Second)
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, parent: time.Hour, want: hook.Outcome{Class: hook.ClassTimeout, Error: "The endpoint did not answer in time.", Duration: timeout}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				transport := inMemory(t, tt.handler)
				s := &send.Sender{Client: &http.Client{Transport: transport}, Policy: loopback, Now: time.Now}
				r := request(t, "http://example.com/")
				r.Endpoint.Timeout = timeout
				ctx, cancel := context.WithTimeout(t.Context(), tt.parent)
				defer cancel()

				tt.want.URL = r.Endpoint.URL
				same(t, s.Send(ctx, r), tt.want)
			})
		})
	}
}

// inMemory serves on pipes and returns a transport that connects through them.
func inMemory(t *testing.T, handler http.HandlerFunc) *http.Transport {
	t.Helper()

	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice a closed client
		handler(w, r)
	})}
	go func() { _ = server.Serve(l) }()
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	return transport
}

// pipes is a listener of in-memory connections.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.done); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }
