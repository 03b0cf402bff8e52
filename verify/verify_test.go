package verify_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/verify"
)

func TestVerifier(t *testing.T) {
	t.Parallel()

	private, public := keyPair('a')
	_, foreign := keyPair('b')
	now := time.Now()
	request := func(at time.Time, keys ...any) http.Header { return signed(at, `{"a": 1}`, keys...) }
	tests := []struct {
		name   string
		keys   []string
		header http.Header
		body   string
		want   error
	}{
		{name: "a secret", keys: []string{secret}, header: request(now, secret), body: `{"a": 1}`, want: nil},
		{name: "a public key", keys: []string{public}, header: request(now, private), body: `{"a": 1}`, want: nil},
		{name: "the second of two signatures", keys: []string{secret}, header: request(now, other, secret), body: `{"a": 1}`, want: nil},
		{name: "the second of two secrets", keys: []string{other, secret}, header: request(now, secret), body: `{"a": 1}`, want: nil},
		{name: "another secret", keys: []string{other}, header: request(now, secret), body: `{"a": 1}`, want: verify.ErrSignature},
		{name: "another public key", keys: []string{foreign}, header: request(now, private), body: `{"a": 1}`, want: verify.ErrSignature},
		{name: "another body", keys: []string{secret}, header: request(now, secret), body: `{"a":1}`, want: verify.ErrSignature},
		{name: "another body under a public key", keys: []string{public}, header: request(now, private), body: `{"a":1}`, want: verify.ErrSignature},
		{name: "an old request", keys: []string{secret}, header: request(now.Add(-6*time.Minute), secret), body: `{"a": 1}`, want: verify.ErrTime},
		{name: "a request of the future", keys: []string{secret}, header: request(now.Add(6*time.Minute), secret), body: `{"a": 1}`, want: verify.ErrTime},
		{name: "no headers", keys: []string{secret}, header: http.Header{}, body: `{"a": 1}`, want: verify.ErrHeaders},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			v, err := verify.New(tt.keys...)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Verify(tt.header, []byte(tt.body)); !errors.Is(err, tt.want) {
				t.Errorf("Verify = %v; want %v", err, tt.want)
			}
			passed := ""
			h := v.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				passed = string(raw)
			}))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks", strings.NewReader(tt.body))
			r.Header = tt.header
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); (w.Code == http.StatusOK) != (tt.want == nil) || (passed == tt.body) != (tt.want == nil) {
				t.Errorf("Handler = %d, with the body %q passed on; want %v", w.Code, passed, tt.want)
			}
		})
	}
}

// TestVerifier_Verify_vector has the request of the specification of Standard Webhooks.
func TestVerifier_Verify_vector(t *testing.T) {
	t.Parallel()

	v, err := verify.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{
		"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	}
	verify.At(v, time.Unix(1614265330, 0))
	if err := v.Verify(header, []byte(`{"test": 2432232314}`)); err != nil {
		t.Errorf("Verify = %v; want nil", err)
	}
}

func TestVerifier_Handler_refusesLargeBodies(t *testing.T) {
	t.Parallel()

	v, err := verify.New(secret)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]int{verify.MaxBody: http.StatusUnauthorized, verify.MaxBody + 1: http.StatusBadRequest} {
		w := httptest.NewRecorder()
		v.Handler(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks", strings.NewReader(strings.Repeat("x", size))))
		if w.Code != want {
			t.Errorf("answer to an unsigned body of %d bytes = %d; want %d", size, w.Code, want)
		}
	}
}

func TestNew_refuses(t *testing.T) {
	t.Parallel()

	for _, keys := range [][]string{nil, {""}, {"secret"}, {"whsec_AAAA"}, {"whpk_AAAA"}, {"whsk_" + secret[6:]}} {
		if _, err := verify.New(keys...); err == nil {
			t.Errorf("New(%q) = nil; want an error", keys)
		}
	}
}
