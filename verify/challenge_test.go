package verify_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/sign"
	"surehook.example/surehook/verify"
)

func TestChallenge(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"type":"surehook.challenge","timestamp":"2026-11-21T09:30:00.000Z","data":{"challenge":"K7QX"}}`: `{"challenge":"K7QX"}`,
		`{"type":"order.paid","data":{"challenge":"K7QX"}}`:                                                ``,
		`{"type":"surehook.challenge","data":{"challenge":1}}`:                                             ``,
		`{"type":"surehook.challenge","data":{}}`:                                                          ``,
		`{"challenge":"K7QX"}`: ``,
		`[]`:                   ``,
		``:                     ``,
	} {
		if got := string(verify.Challenge([]byte(body))); got != want {
			t.Errorf("Challenge(%s) = %s; want %s", body, got, want)
		}
	}
}

// The handler answers challenges with a valid signature itself, and no others.
func TestVerifier_Handler_answersChallenges(t *testing.T) {
	t.Parallel()

	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	const body = `{"type":"surehook.challenge","data":{"challenge":"K7QX"}}`
	v, err := verify.New(secret)
	if err != nil {
		t.Fatal(err)
	}
	handler := v.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a challenge was passed on") }))
	for key, want := range map[string]string{secret: `200 {"challenge":"K7QX"}`, sign.NewSecret(): "401 no signature is valid\n"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		signing, err := sign.Parse(key)
		if err != nil {
			t.Fatal(err)
		}
		sign.Headers([]hook.SignatureProfile{{Name: hook.ProfileStandard}}, []sign.Key{signing}, sign.Request{ID: "evt_1", Timestamp: time.Now(), Body: []byte(body)}, r.Header.Set)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := fmt.Sprintf("%d %s", w.Code, w.Body); got != want {
			t.Errorf("answer = %s; want %s", got, want)
		}
	}
}
