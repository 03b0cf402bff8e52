package verify_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/rule/sign"
	"surehook.example/surehook/verify"
)

func TestVerifier(t *testing.T) {
	t.Parallel()

	secret, other := sign.NewSecret(), sign.NewSecret()
	private, public := sign.NewKeyPair()
	_, foreign := sign.NewKeyPair()
	now := time.Now()
	request := func(at time.Time, texts ...string) http.Header {
		var keys []sign.Key
		for _, text := range texts {
			k, err := sign.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k)
		}
		h := make(http.Header)
		h.Set("Webhook-Id", "evt_1")
		h.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
		h.Set("Webhook-Signature", sign.Standard(keys, sign.Message{ID: "evt_1", Timestamp: at, Body: []byte(`{"a": 1}`)}))
		return h
	}
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

func TestVerifier_Handler_refusesLargeBodies(t *testing.T) {
	t.Parallel()

	v, err := verify.New(sign.NewSecret())
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

	private, _ := sign.NewKeyPair()
	for _, keys := range [][]string{nil, {""}, {"secret"}, {"whsec_AAAA"}, {"whpk_AAAA"}, {private}} {
		if _, err := verify.New(keys...); err == nil {
			t.Errorf("New(%q) = nil; want an error", keys)
		}
	}
}

// TestDependencies checks that a receiver gets neither the AWS SDK nor another part of Surehook than
// the signing code and the domain words.
func TestDependencies(t *testing.T) {
	t.Parallel()

	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(string(out)), "github.com/gofrs/uuid/v5 surehook.example/surehook/internal/hook surehook.example/surehook/internal/rule/sign surehook.example/surehook/verify"; strings.Join(got, " ") != want {
		t.Errorf("dependencies = %q; want %s", got, want)
	}
}
