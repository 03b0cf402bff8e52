package remote_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
	"surehook.example/surehook/internal/rule/sign"
)

var at = time.Unix(1614265330, 5e8)

// got is a received request.
type got struct {
	path, body string
	header     http.Header
}

// receiver is an endpoint that records its requests.
func receiver(t *testing.T, handler http.HandlerFunc) (*httptest.Server, <-chan got) {
	t.Helper()

	received := make(chan got, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- got{r.URL.Path, string(body), r.Header}
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server, received
}

// roots trusts the servers.
func roots(servers ...*httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, server := range servers {
		pool.AddCert(server.Certificate())
	}
	return pool
}

// here returns a sender of this process.
func here(t *testing.T, policy egress.Policy, servers ...*httptest.Server) *send.Sender {
	t.Helper()

	client := egress.NewClientWith(policy, egress.Options{RootCAs: roots(servers...)})
	t.Cleanup(client.CloseIdleConnections)
	return send.New(client, policy, "Surehook/1.2.3", func() time.Time { return at })
}

// elsewhere runs messages in a handler that has no key and no user agent.
type elsewhere struct {
	handler remote.Handler
	region  *string
	message *[]byte
	answer  func([]byte) []byte // nil: as answered
}

func (e elsewhere) Invoke(ctx context.Context, region string, message []byte) ([]byte, error) {
	if e.region != nil {
		*e.region = region
	}
	if e.message != nil {
		*e.message = message
	}
	answer, err := e.handler.Handle(ctx, message)
	if e.answer != nil {
		answer = e.answer(answer)
	}
	return answer, err
}

func request(tb testing.TB, url string) send.Request {
	tb.Helper()

	id, err := hook.ParseDeliveryID("dlv_01h455vb4pex5vsknk084sn02q_0123456789abcdef_2")
	if err != nil {
		tb.Fatal(err)
	}
	key, err := sign.Parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		tb.Fatal(err)
	}
	return send.Request{
		Endpoint: &hook.Endpoint{
			URL: url, Region: "us-east-1", Timeout: hook.MaxTimeout, Profiles: hook.ProfilesNamed(hook.ProfileClassic),
		},
		Own:  map[string]string{"Authorization": "Bearer abc", "Idempotency-Key": "k"},
		Keys: []sign.Key{key}, Delivery: id, Attempt: 3,
		Event:   &hook.Event{ID: "evt_01h455vb4pex5vsknk084sn02q", Type: "order.paid", Payload: []byte("{}")},
		Content: shape.Content{Body: []byte("{\"a\":\"\\u00e9 \xc3\xa9\"}\n"), ContentType: shape.JSON},
	}
}

var loopback = egress.Policy{Loopback: true}

// The endpoint cannot tell origins apart: the headers, their names on the wire, and the bytes are
// the same.
func TestSender_Send_sameRequestFromEveryOrigin(t *testing.T) {
	t.Parallel()

	server, received := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "down \xff")
	})
	for _, profile := range []string{hook.ProfileStandard, hook.ProfileClassic} {
		signer := here(t, loopback, server)
		r := request(t, server.URL+"/hook")
		r.Endpoint.Profiles = hook.ProfilesNamed(profile)
		direct := signer.Send(t.Context(), r)
		origin := here(t, loopback, server)
		origin.UserAgent = ""
		var region string
		s := remote.Sender{Signer: signer, Invoker: elsewhere{handler: remote.Handler{Sender: origin}, region: &region}, Now: signer.Now}
		outcome, err := s.Send(t.Context(), r)
		if err != nil || region != "us-east-1" {
			t.Fatalf("Send() = %v in %q; want us-east-1", err, region)
		}
		want := direct
		want.Region = "us-east-1"
		if diff := cmp.Diff(want, outcome); diff != "" || outcome.RetryAfter != 90*time.Second || outcome.Status != 503 {
			t.Errorf("outcome (-direct +remote):\n%s", diff)
		}
		first, second := <-received, <-received
		if diff := cmp.Diff(first, second, cmp.AllowUnexported(got{})); diff != "" {
			t.Errorf("request in profile %s (-direct +remote):\n%s", profile, diff)
		}
		if second.header.Get("Authorization") != "Bearer abc" || second.header.Get("User-Agent") != "Surehook/1.2.3" {
			t.Errorf("the endpoint got %v; want its own header and the user agent of the signer", second.header)
		}
	}
}

// The origin gets the access token, so the token endpoint and the endpoint see the same source
// address.
func TestSender_Send_accessTokenFromTheOrigin(t *testing.T) {
	t.Parallel()

	server, received := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"t1","token_type":"Bearer","expires_in":3600}`)
		}
	})
	origin := here(t, loopback, server)
	origin.UserAgent = ""
	var message []byte
	s := remote.Sender{Signer: here(t, loopback), Invoker: elsewhere{handler: remote.Handler{Sender: origin}, message: &message}, Now: time.Now}
	r := request(t, server.URL+"/hook")
	r.Own = nil
	r.Grant = &send.Grant{For: "ep_1", Secret: "hush", OAuth: hook.OAuth{
		TokenURL: server.URL + "/token", ClientID: "id", Scope: "a", Audience: "b", InBody: true,
	}}
	for range 2 {
		if outcome, err := s.Send(t.Context(), r); err != nil || outcome.Class != hook.ClassDelivered {
			t.Fatalf("Send() = %+v, %v; want delivered", outcome, err)
		}
	}
	fetch, first, second := <-received, <-received, <-received
	if want := "audience=b&client_id=id&client_secret=hush&grant_type=client_credentials&scope=a"; fetch.path != "/token" || fetch.body != want || fetch.header.Get("User-Agent") != "Surehook/1.2.3" {
		t.Errorf("the token endpoint got %+v; want %s from Surehook/1.2.3", fetch, want)
	}
	for _, post := range []got{first, second} {
		if post.path != "/hook" || post.header.Get("Authorization") != "Bearer t1" {
			t.Errorf("the endpoint got %+v; want Bearer t1", post)
		}
	}
	if !strings.HasPrefix(string(message), `{"version":2,`) {
		t.Errorf("message %.30s...; want version 2: version 1 knows no grant", message)
	}
	r.Grant.TokenURL = server.URL[:len(server.URL)-1] + "x"
	if outcome, err := s.Send(t.Context(), r); err != nil || outcome.Class != hook.ClassToken {
		t.Errorf("Send() = %+v, %v; want the class token from the origin", outcome, err)
	}
}

// The TLS settings travel with the message: the origin trusts the endpoint's authority.
func TestSender_Send_tlsSettingsOfTheOrigin(t *testing.T) {
	t.Parallel()

	server, received := receiver(t, func(http.ResponseWriter, *http.Request) {})
	var message []byte
	s := remote.Sender{Signer: here(t, loopback), Invoker: elsewhere{handler: remote.Handler{Sender: here(t, loopback)}, message: &message}, Now: time.Now}
	r := request(t, server.URL)
	r.TLS = send.TLS{CA: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))}
	if outcome, err := s.Send(t.Context(), r); err != nil || outcome.Class != hook.ClassDelivered || len(received) != 1 {
		t.Errorf("Send() = %+v, %v; want delivered", outcome, err)
	}
	if !strings.HasPrefix(string(message), `{"version":2,`) {
		t.Errorf("message %.30s...; want version 2: version 1 knows no TLS settings", message)
	}
	r.TLS = send.TLS{}
	if outcome, err := s.Send(t.Context(), r); err != nil || outcome.Class != hook.ClassTLS {
		t.Errorf("Send() = %+v, %v; want a certificate of an unknown authority", outcome, err)
	}
}

// The message holds no signing key. The names of headers must arrive unchanged, because net/http
// repeats a POST with the canonical name Idempotency-Key.
func TestSender_Send_messageHoldsNoKey(t *testing.T) {
	t.Parallel()

	server, _ := receiver(t, func(http.ResponseWriter, *http.Request) {})
	var message []byte
	s := remote.Sender{Signer: here(t, loopback), Invoker: elsewhere{handler: remote.Handler{Sender: here(t, loopback, server)}, message: &message}, Now: time.Now}
	if _, err := s.Send(t.Context(), request(t, server.URL)); err != nil {
		t.Fatal(err)
	}
	var m struct {
		Header map[string][]string `json:"header"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(message), "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") {
		t.Error("the message holds the signing secret")
	}
	if _, ok := m.Header["x-idempotency-key"]; !ok {
		t.Errorf("the message has the headers %v; want x-idempotency-key in lower case", maps.Keys(m.Header))
	}
}

// The egress policy holds at the origin: for the URL, redirects, dialed addresses, and the API
// hosts that the message names.
func TestHandler_Handle_guards(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		origin egress.Policy
		own    bool // the receiver is the API of the signer's deployment
		reason string
		posts  int
	}{
		{name: "a strict origin refuses what the signer allows", origin: egress.Policy{}, reason: "must not lead to a private", posts: 0},
		{name: "a redirect to instance metadata", origin: loopback, reason: "redirected to a URL that is refused", posts: 1},
		{name: "the API of the deployment", origin: loopback, own: true, reason: "must not", posts: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, received := receiver(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://169.254.169.254/latest/", http.StatusTemporaryRedirect)
			})
			signer := here(t, loopback)
			if tt.own {
				signer.Policy.Own = []string{strings.TrimPrefix(server.URL, "https://")}
			}
			s := remote.Sender{Signer: signer, Invoker: elsewhere{handler: remote.Handler{Sender: here(t, tt.origin, server)}}, Now: time.Now}
			outcome, err := s.Send(t.Context(), request(t, server.URL))
			if err != nil || outcome.Class != hook.ClassBlocked || !strings.Contains(outcome.Error, tt.reason) || len(received) != tt.posts {
				t.Errorf("Send() = %+v, %v after %d posts; want blocked, %q, after %d", outcome, err, len(received), tt.reason, tt.posts)
			}
		})
	}
}

func TestSender_Send_tellsWhatWasNotSent(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		answer  string
		notSent bool
	}{
		{name: "a refusal", answer: `{"refused":"the message has another version"}`, notSent: true},
		{name: "no JSON", answer: `<html>`, notSent: false},
		{name: "an unknown class", answer: `{"class":"later"}`, notSent: false},
		{name: "nothing", answer: ``, notSent: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, _ := receiver(t, func(http.ResponseWriter, *http.Request) {})
			s := remote.Sender{Signer: here(t, loopback), Now: time.Now, Invoker: elsewhere{
				handler: remote.Handler{Sender: here(t, loopback, server)}, answer: func([]byte) []byte { return []byte(tt.answer) },
			}}
			if _, err := s.Send(t.Context(), request(t, server.URL)); err == nil || errors.Is(err, send.ErrNotSent) != tt.notSent {
				t.Errorf("Send() = %v; want an error, not sent: %t", err, tt.notSent)
			}
		})
	}
}

func TestHandler_Handle_refusesAnUnknownForm(t *testing.T) {
	t.Parallel()

	server, received := receiver(t, func(http.ResponseWriter, *http.Request) {})
	h := remote.Handler{Sender: here(t, loopback, server)}
	for _, message := range []string{
		`{"version":4,"url":"` + server.URL + `","timeout_ms":1000}`, `{"version":3,"url":"` + server.URL + `","timeout_ms":1000}`,
		`{"version":1,"private":"acme","url":"` + server.URL + `","timeout_ms":1000}`, `{"url":"` + server.URL + `"}`, `[]`, `{`,
	} {
		answer, err := h.Handle(t.Context(), []byte(message))
		if err != nil || !strings.HasPrefix(string(answer), `{"refused":`) || len(received) != 0 {
			t.Errorf("Handle(%s) = %s, %v after %d posts; want a refusal without a post", message, answer, err, len(received))
		}
	}
}

// The largest message stays far below the 6 MB of an invocation.
func TestMessage_largest(t *testing.T) {
	t.Parallel()

	var message []byte
	s := remote.Sender{Signer: here(t, loopback), Now: time.Now, Invoker: elsewhere{handler: remote.Handler{Sender: here(t, egress.Policy{})}, message: &message}}
	r := request(t, "https://example.com/"+strings.Repeat("a", hook.MaxURL-20))
	r.Content.Body = []byte(strings.Repeat("x", hook.MaxCoalesceBytes+hook.MaxCoalesceBytes/20))
	r.Own = map[string]string{}
	for i := range hook.MaxHeaders {
		r.Own[strings.Repeat("X", hook.MaxHeaderName-1)+string(rune('a'+i))] = strings.Repeat("v", hook.MaxHeaderValue)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no request
	if _, err := s.Send(ctx, r); err != nil {
		t.Fatal(err)
	}
	if most := 800 << 10; len(message) > most {
		t.Errorf("the largest message has %d bytes; want %d at most", len(message), most)
	}
}
