package verify_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/verify"
)

func TestChallenge_answersOnlyChallenges(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"type":"webhook.challenge","timestamp":"2026-11-21T09:30:00.000Z","data":{"challenge":"K7QX"}}`: `{"challenge":"K7QX"}`,
		`{"type":"order.paid","data":{"challenge":"K7QX"}}`:                                               ``,
		`{"type":"webhook.challenge","data":{"challenge":1}}`:                                             ``,
		`{"type":"webhook.challenge","data":{}}`:                                                          ``,
		`{"challenge":"K7QX"}`:                                                                            ``,
		`[]`:                                                                                              ``,
		``:                                                                                                ``,
	} {
		if got := string(verify.Challenge(http.Header{"X-Webhook-Event": {verify.ChallengeType}}, []byte(body))); got != want {
			t.Errorf("Challenge(%s) = %s; want %s", body, got, want)
		}
	}
}

// The handler itself answers challenges with a valid signature, and nothing else. It passes on an
// event whose payload looks like a challenge, because the payload may repeat what a stranger wrote.
func TestVerifier_Handler_answersChallenges(t *testing.T) {
	t.Parallel()

	const body = `{"type":"webhook.challenge","data":{"challenge":"K7QX"}}`
	v, err := verify.New(secret)
	if err != nil {
		t.Fatal(err)
	}
	handler := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "passed on") }))
	for _, tt := range []struct{ key, event, want string }{
		{secret, verify.ChallengeType, `200 {"challenge":"K7QX"}`},
		{secret, "order.paid", `200 passed on`},
		{secret, "", `200 passed on`},
		{other, verify.ChallengeType, "401 no signature is valid\n"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header = signed(time.Now(), body, tt.key)
		r.Header.Set("X-Webhook-Event", tt.event)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := fmt.Sprintf("%d %s", w.Code, w.Body); got != tt.want {
			t.Errorf("answer to %q = %s; want %s", tt.event, got, tt.want)
		}
	}
}
