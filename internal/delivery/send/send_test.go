package send_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
	"surehook.example/surehook/internal/rule/trace"
)

const (
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	eventID  = "evt_01h455vb4pex5vsknk084sn02q"
	delivery = "dlv_01h455vb4pex5vsknk084sn02q_0123456789abcdef_2"
	payload  = "{\"b\" : 1.0,\n \"a\":\"\\u00e9 \xc3\xa9\"}\n"
)

var (
	loopback = egress.Policy{Loopback: true}
	at       = time.Unix(1614265330, 5e8)
)

// sender returns a Sender with the loopback policy and a stopped clock, which trusts the httptest
// servers.
func sender(tb testing.TB, servers ...*httptest.Server) *send.Sender {
	tb.Helper()

	roots := x509.NewCertPool()
	for _, server := range servers {
		if cert := server.Certificate(); cert != nil {
			roots.AddCert(cert)
		}
	}
	client := egress.NewClientWith(loopback, egress.Options{RootCAs: roots})
	tb.Cleanup(client.CloseIdleConnections)
	return send.New(client, loopback, "Surehook/1.2.3", func() time.Time { return at })
}

func request(tb testing.TB, url string) send.Request {
	tb.Helper()

	id, err := hook.ParseDeliveryID(delivery)
	if err != nil {
		tb.Fatalf("ParseDeliveryID: %v", err)
	}
	return send.Request{
		Endpoint: &hook.Endpoint{URL: url, Timeout: hook.MaxTimeout, Profiles: hook.ProfilesNamed(hook.ProfileStandard)},
		Keys:     []sign.Key{key(tb, secret)},
		Event:    &hook.Event{ID: eventID, Type: "order.paid", Payload: []byte(payload)},
		Content:  shape.Content{Body: []byte(payload), ContentType: shape.JSON},
		Delivery: id,
		Attempt:  3,
	}
}

func key(tb testing.TB, text string) sign.Key {
	tb.Helper()

	k, err := sign.Parse(text)
	if err != nil {
		tb.Fatalf("Parse key: %v", err)
	}
	return k
}

// got is a received request.
type got struct {
	method, path, proto, body string
	header                    http.Header
}

// serve starts a server that puts each request on the channel and responds with the handler.
// configure may be nil.
func serve(tb testing.TB, handler http.HandlerFunc, configure func(*httptest.Server)) (*httptest.Server, <-chan got) {
	tb.Helper()

	received := make(chan got, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			tb.Errorf("read request: %v", err)
		}
		received <- got{r.Method, r.URL.RequestURI(), r.Proto, string(body), r.Header}
		handler(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if configure != nil {
		configure(server)
	} else {
		server.Start()
	}
	tb.Cleanup(server.Close)
	return server, received
}

func withTLS(server *httptest.Server) { server.StartTLS() }

func withHTTP2(server *httptest.Server) {
	server.EnableHTTP2 = true
	server.StartTLS()
}

func answer(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func TestSender_Send_headers(t *testing.T) {
	t.Parallel()

	always := http.Header{
		"Content-Type":       {"application/json"},
		"Content-Length":     {strconv.Itoa(len(payload))},
		"User-Agent":         {"Surehook/1.2.3"},
		"Accept":             {"*/*"},
		"X-Webhook-Event":    {"order.paid"},
		"X-Webhook-Delivery": {delivery},
		"X-Webhook-Attempt":  {"3"},
		"Traceparent":        {trace.Of(&hook.Event{ID: eventID}).Under(trace.Attempt(request(t, "").Delivery, 3))},
	}
	standard := http.Header{
		"Webhook-Id":        {eventID},
		"Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {sign.Standard([]sign.Key{key(t, secret)}, sign.Message{ID: eventID, Timestamp: at, Body: []byte(payload)})},
	}
	classic := http.Header{
		"X-Webhook-Id":        {eventID},
		"X-Webhook-Timestamp": {"1614265330"},
		"X-Webhook-Signature": {"sha256=" + hexHMAC(t, secret, payload)},
		"X-Event-Id":          {eventID},
		"X-Idempotency-Key":   {eventID},
	}
	document, err := os.ReadFile("../../../docs/receiving.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, headers := range []http.Header{always, standard, classic} {
		for name := range headers {
			if name != "Content-Length" && !strings.Contains(strings.ToLower(string(document)), "`"+strings.ToLower(name)) {
				t.Errorf("docs/receiving.md does not name the header %s", name)
			}
		}
	}
	tests := []struct {
		name   string
		change func(*send.Request)
		want   []http.Header
	}{
		{name: "profile standard", change: func(*send.Request) {}, want: []http.Header{standard}},
		{
			name: "two profiles",
			change: func(r *send.Request) {
				r.Endpoint.Profiles = hook.ProfilesNamed(hook.ProfileStandard, hook.ProfileClassic)
			},
			want: []http.Header{standard, classic},
		},
		{
			name: "content and headers of a transformation, below the endpoint's own",
			change: func(r *send.Request) {
				r.Content.ContentType, r.Content.Headers = "text/html", map[string]string{"x-shop": "9", "x-kind": "a"}
				r.Own = map[string]string{"X-Shop": "7"}
			},
			want: []http.Header{standard, {"Content-Type": {"text/html"}, "X-Shop": {"7"}, "X-Kind": {"a"}}},
		},
		{name: "profile classic", change: func(r *send.Request) { r.Endpoint.Profiles = hook.ProfilesNamed(hook.ProfileClassic) }, want: []http.Header{classic}},
		{
			name: "profile classic with an idempotency key",
			change: func(r *send.Request) {
				r.Endpoint.Profiles, r.Event.IdempotencyKey = hook.ProfilesNamed(hook.ProfileClassic), "pay-1"
			},
			want: []http.Header{classic, {"X-Idempotency-Key": {"pay-1"}}},
		},
		{
			name: "profile classic signs with the oldest v1 key",
			change: func(r *send.Request) {
				private, _ := sign.NewKeyPair()
				r.Endpoint.Profiles = hook.ProfilesNamed(hook.ProfileClassic)
				r.Keys = []sign.Key{key(t, private), key(t, sign.NewSecret()), key(t, secret)}
			},
			want: []http.Header{classic},
		},
		{
			name:   "a given trace is passed on",
			change: func(r *send.Request) { r.Event.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
			want:   []http.Header{standard, {"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}},
		},
		{
			name: "the endpoint's own headers",
			change: func(r *send.Request) {
				r.Own = map[string]string{"authorization": "Bearer abc", "X-Shop": "7", "accept": "application/json"}
			},
			want: []http.Header{standard, {"Authorization": {"Bearer abc"}, "X-Shop": {"7"}, "Accept": {"application/json"}}},
		},
		{
			name: "the endpoint's own headers cannot override ours",
			change: func(r *send.Request) {
				r.Own = map[string]string{
					"webhook-id": "evt_forged", "Webhook-Signature": "v1,forged", "x-webhook-event": "forged", "X-Webhook-Signature": "forged",
					"user-agent": "forged", "content-type": "text/plain", "Host": "forged.example", "Content-Length": "1", "x-idempotency-key": "forged",
					"Transfer-Encoding": "chunked", "Connection": "close", "traceparent": "forged", "accept-encoding": "gzip",
				}
			},
			want: []http.Header{standard},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, received := serve(t, answer(http.StatusOK), nil)
			r := request(t, server.URL+"/hooks?a=b")
			tt.change(&r)
			outcome := sender(t).Send(t.Context(), r)
			if outcome.Class != hook.ClassDelivered {
				t.Fatalf("Send(...) = %+v; want delivered", outcome)
			}

			want := always.Clone()
			for _, headers := range tt.want {
				for name, values := range headers {
					want[name] = values
				}
			}
			g := <-received
			if diff := cmp.Diff(want, g.header); diff != "" {
				t.Errorf("Send(...) sent other headers (-want +got):\n%s", diff)
			}
			if g.method != http.MethodPost || g.path != "/hooks?a=b" || g.body != payload {
				t.Errorf("Send(...) sent %s %s %q; want POST /hooks?a=b %q", g.method, g.path, g.body, payload)
			}
		})
	}
}

func TestSender_Send_isVerifiedByThePublicLibrary(t *testing.T) {
	t.Parallel()

	older := sign.NewSecret()
	server, received := serve(t, answer(http.StatusNoContent), withTLS)
	s := sender(t, server)
	s.Now = time.Now
	r := request(t, server.URL)
	r.Keys = append(r.Keys, key(t, older))
	if outcome := s.Send(t.Context(), r); outcome.Class != hook.ClassDelivered {
		t.Fatalf("Send(...) = %+v; want delivered", outcome)
	}

	g := <-received
	for name, text := range map[string]string{"the newest": secret, "the one before": older} {
		webhook, err := standardwebhooks.NewWebhook(text)
		if err != nil {
			t.Fatalf("NewWebhook: %v", err)
		}
		if err := webhook.Verify([]byte(g.body), g.header); err != nil {
			t.Errorf("Verify with %s secret = %v; want nil", name, err)
		}
		if err := webhook.Verify([]byte(g.body+" "), g.header); err == nil {
			t.Errorf("Verify of another body with %s secret = nil; want an error", name)
		}
	}
}

// A server that also offers h2 is a server of HTTP/1.1 (docs/adr/07).
func TestSender_Send_speaksHTTP1ToAServerOfBoth(t *testing.T) {
	t.Parallel()

	server, received := serve(t, answer(http.StatusOK), withHTTP2)
	if outcome := sender(t, server).Send(t.Context(), request(t, server.URL)); outcome.Class != hook.ClassDelivered {
		t.Fatalf("Send(...) = %+v; want delivered", outcome)
	}
	if g := <-received; g.proto != "HTTP/1.1" || g.body != payload {
		t.Errorf("Send(...) sent %q over %s; want %q over HTTP/1.1", g.body, g.proto, payload)
	}
}

func TestSender_Send_reusesConnections(t *testing.T) {
	t.Parallel()

	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable, http.StatusNotFound} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()

			var opened atomic.Int64
			server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, strings.Repeat("a", 60<<10))
			}, func(server *httptest.Server) { countConnections(server, &opened); server.Start() })

			s := sender(t)
			for sent := int64(1); opened.Load() == sent-1; sent++ {
				if sent > tries {
					t.Fatalf("%d Sends opened %d connections; want a kept one", sent-1, opened.Load())
				}
				s.Send(t.Context(), request(t, server.URL))
			}
		})
	}
}

func countConnections(server *httptest.Server, opened *atomic.Int64) {
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
}

// The receiver keeps several connections open, and then closes each one after its next request.
// net/http would send a repeatable request on all of them.
func TestSender_Send_sendsNoRequestTwice(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(*send.Request)
	}{
		{name: "profile standard", change: func(*send.Request) {}},
		{name: "profile classic", change: func(r *send.Request) { r.Endpoint.Profiles = hook.ProfilesNamed(hook.ProfileClassic) }},
		{name: "an event with an idempotency key", change: func(r *send.Request) {
			r.Endpoint.Profiles, r.Event.IdempotencyKey = hook.ProfilesNamed(hook.ProfileClassic), "pay-1"
		}},
		{name: "an endpoint with a header Idempotency-Key", change: func(r *send.Request) {
			r.Own = map[string]string{"idempotency-key": "always"}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			const kept = 5
			var open sync.WaitGroup // the first requests wait for each other, so that each has a connection
			open.Add(kept)
			var requests atomic.Int64
			server, received := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if requests.Add(1) > kept {
					abort(w)
				}
				open.Done()
				open.Wait()
			}, nil)
			s := sender(t)
			r := request(t, server.URL)
			tt.change(&r)
			var sends sync.WaitGroup
			for range kept {
				sends.Go(func() { s.Send(t.Context(), r) })
			}
			sends.Wait()

			if outcome := s.Send(t.Context(), r); outcome.Class != hook.ClassReset {
				t.Errorf("Send(...) on a connection that is closed = %+v; want reset", outcome)
			}
			if len(received) != kept+1 {
				t.Errorf("the server received %d requests of %d attempts; want one of each", len(received), kept+1)
			}
		})
	}
}

// abort closes the connection of a request without a response.
func abort(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func BenchmarkSender_Send(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(server.Close)
	s, r := sender(b), request(b, server.URL)
	b.ReportAllocs()
	for b.Loop() {
		if outcome := s.Send(b.Context(), r); outcome.Class != hook.ClassDelivered {
			b.Fatalf("Send(...) = %+v; want delivered", outcome)
		}
	}
}

// hexHMAC returns the signature of the profile classic, without its prefix.
func hexHMAC(tb testing.TB, secret, body string) string {
	tb.Helper()

	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		tb.Fatal(err)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}
