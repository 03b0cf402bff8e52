package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
)

// Lambda's input goes to package remote, and its output goes back, unchanged.
func TestHandle(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "tea")
	}))
	t.Cleanup(server.Close)
	policy := egress.Policy{Loopback: true}
	h := remote.Handler{Sender: &send.Sender{Client: egress.NewClient(policy), Policy: policy, Now: func() time.Time { return time.Unix(1, 0) }}} // with a stopped clock, there are no phases
	message, err := json.Marshal(map[string]any{"version": 1, "url": server.URL, "header": http.Header{}, "body": []byte("{}"), "timeout_ms": 30_000})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := lambda.NewHandler(h.Handle).Invoke(t.Context(), message)
	want := `{"class":"refused","status":418,"error":"The endpoint answered 418 I'm a teapot.","url":"` + server.URL + `","body":"dGVh","headers":{"Content-Type":"text/plain; charset=utf-8"}}`
	if err != nil || string(answer) != want {
		t.Errorf("Handle() = %s, %v; want %s", answer, err, want)
	}
}
