package receiver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/proof/certificate"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	other  = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

func TestReceiver_answersByItsScript(t *testing.T) {
	t.Parallel()

	ended := make(chan struct{})
	close(ended)
	tests := []struct {
		name    string
		replies []receiver.Reply
		want    []int
		header  string
		value   string
	}{
		{name: "without a script the answer is 200", want: []int{200, 200}},
		{name: "the last reply repeats", replies: []receiver.Reply{receiver.Status(503), receiver.Status(503), receiver.Status(200)}, want: []int{503, 503, 200, 200}},
		{name: "Retry-After is in seconds", replies: []receiver.Reply{receiver.RetryAfter(429, 3*time.Second)}, want: []int{429}, header: "Retry-After", value: "3"},
		{name: "a redirect names its target", replies: []receiver.Reply{receiver.Redirect(307, "/b")}, want: []int{307}, header: "Location", value: "/b"},
		{name: "JSON names its type", replies: []receiver.Reply{receiver.JSON(200, "{}")}, want: []int{200}, header: "Content-Type", value: "application/json"},
		{name: "raw bytes are the whole answer", replies: []receiver.Reply{receiver.Raw("HTTP/1.1 418 raw\r\nX-Raw: yes\r\nContent-Length: 0\r\n\r\n")}, want: []int{418}, header: "X-Raw", value: "yes"},
		{name: "a hang ends in 200", replies: []receiver.Reply{receiver.Hang(time.Millisecond)}, want: []int{200}},
		{name: "a wait ends in 200", replies: []receiver.Reply{receiver.Until(ended)}, want: []int{200}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			r := start(t)
			r.Script("/a", tt.replies...)
			for i, want := range tt.want {
				resp := post(t, r.URL+"/a", nil, "{}")
				if resp.status != want {
					t.Errorf("answer %d = %d; want %d", i+1, resp.status, want)
				}
				if got := resp.header.Get(tt.header); tt.header != "" && got != tt.value {
					t.Errorf("%s = %q; want %q", tt.header, got, tt.value)
				}
			}
		})
	}
}

func TestReceiver_decidesByTheRequestAndRecordsTheAnswer(t *testing.T) {
	t.Parallel()

	r := start(t)
	r.Decide("/a", func(req receiver.Request) receiver.Reply {
		if req.Header.Get("Attempt") == "1" {
			return receiver.Reset()
		}
		return receiver.Status(http.StatusTeapot)
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL+"/a", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Attempt", "1")
	if resp, err := new(http.Transport).RoundTrip(req); !errors.Is(err, syscall.ECONNRESET) {
		if err == nil {
			err = resp.Body.Close()
		}
		t.Errorf("answer = %v, %v; want a reset", resp, err)
	}
	post(t, r.URL+"/a", http.Header{"Attempt": {"2"}}, "{}")

	var got []int
	for _, each := range r.Requests("/a") {
		got = append(got, each.Answered)
	}
	if want := []int{0, http.StatusTeapot}; !slices.Equal(got, want) {
		t.Errorf("Answered = %v; want %v", got, want)
	}
}

func TestReceiver_verifiesWithThePublicLibrary(t *testing.T) {
	t.Parallel()

	r := start(t)
	r.Trust("/a", other, secret)
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"a": 1,  "b":"\u00e9"}`
	now := time.Now()
	signature, err := hook.Sign("evt_1", now, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Signature": {signature}, "Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)}}
	post(t, r.URL+"/a", header, body)
	post(t, r.URL+"/a", header, body+" ")

	got, err := r.Await(t.Context(), "/a", 2)
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0].Body) != body {
		t.Errorf("body = %q; want %q", got[0].Body, body)
	}
	if v := got[0].Verified; len(v) != 2 || v[0] == nil || v[1] != nil || !got[0].Genuine() {
		t.Errorf("Verified = %v; want an error for the other secret and nil for the right one", v)
	}
	if got[1].Genuine() {
		t.Error("a changed body verifies; want an invalid signature")
	}
}

func TestReceiver_Await_endsWithItsContext(t *testing.T) {
	t.Parallel()

	r := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Await(ctx, "/never", 1); err == nil {
		t.Error("Await of a request that never came = nil; want an error")
	}
}

func TestReceiver_namesTheClientCertificate(t *testing.T) {
	t.Parallel()

	cert, key := certificate.Authority(t, "acme")
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(cert))
	r, err := receiver.StartTLS(t.Context(), "127.0.0.1", "127.0.0.1", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12})
	stopped(t, r, err)
	for _, own := range [][]tls.Certificate{nil, {pair}} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: own, MinVersion: tls.VersionTLS12}}}
		resp, err := client.Get(r.URL + "/a") //nolint:noctx // the test waits for the answer
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	got := r.Requests("/a")
	if len(got) != 2 || got[0].Client != "" || got[1].Client != "CN=acme" {
		t.Errorf("requests = %+v; want the second with the subject", got)
	}
}

func start(t *testing.T) *receiver.Receiver {
	t.Helper()
	r, err := receiver.Start(t.Context(), "127.0.0.1", "127.0.0.1")
	stopped(t, r, err)
	return r
}

// stopped stops the started receiver at the end of the test.
func stopped(t *testing.T, r *receiver.Receiver, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
}

type answer struct {
	status int
	header http.Header
}

func post(t *testing.T, url string, header http.Header, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header.Clone()
	}
	resp, err := new(http.Transport).RoundTrip(req) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header}
}

// A request counts until its answer begins.
func TestReceiver_countsRequestsAtOnce(t *testing.T) {
	t.Parallel()

	r := start(t)
	r.Script("/a", receiver.Hang(time.Minute), receiver.Hang(time.Minute), receiver.Status(200))
	if got := r.AtOnce("/a"); got != 0 {
		t.Errorf("AtOnce() without a request = %d; want 0", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		go func() {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/a", nil)
			if err != nil {
				t.Error(err)
				return
			}
			if resp, err := http.DefaultClient.Do(request); err == nil {
				_ = resp.Body.Close()
			}
		}()
	}
	if _, err := r.Await(t.Context(), "/a", 2); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		post(t, r.URL+"/a", nil, "{}")
		post(t, r.URL+"/b", nil, "{}")
	}
	if a, b := r.AtOnce("/a"), r.AtOnce("/b"); a != 3 || b != 1 {
		t.Errorf("AtOnce() = %d and %d; want 3 and 1", a, b)
	}
}
