package client_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/client"
)

func TestCall_SendsAsWrittenAndReturnsTheText(t *testing.T) {
	t.Parallel()

	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		got = append(got, r.Method, r.RequestURI, r.Header.Get("If-Match"), r.Header.Get("Authorization"), r.Header.Get("User-Agent"), string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"later": true}`))
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL+"/base/", "shk_x", client.Options{UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Call(t.Context(), client.Call{
		Method: http.MethodPatch, Path: client.Path("/v1/tenants/{tenant}/endpoints/{endpoint}", map[string]string{"tenant": "a/b", "endpoint": "ü"}),
		Query: url.Values{"q": {"1 2"}}, Header: http.Header{"If-Match": {`"1"`}}, Body: []byte(`{"x": 1}`),
	})
	if err != nil || string(answer) != `{"later": true}` {
		t.Errorf("Call = %s, %v; want the text", answer, err)
	}
	want := []string{"PATCH", "/base/v1/tenants/a%2Fb/endpoints/%C3%BC?q=1+2", `"1"`, "Bearer shk_x", "test", `{"x": 1}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCall_NamesTheHostThatDoesNotAnswer(t *testing.T) {
	t.Parallel()

	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	c, err := client.New("http://"+address, "shk_x", client.Options{Wait: time.Nanosecond, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Call(t.Context(), client.Call{Method: http.MethodGet, Path: "/v1/tenants/secret-name/limits"})
	if u, ok := errors.AsType[*client.UnreachableError](err); !ok || u.Address != address || strings.Contains(err.Error(), "secret-name") {
		t.Errorf("err = %v; want an UnreachableError without the path", err)
	}
}

func TestCall_RefusesAPage(t *testing.T) {
	t.Parallel()

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>sign in</p>"))
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, "shk_x")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Events.Get(t.Context(), "acme", "evt_1")
	if p, ok := errors.AsType[*client.Problem](err); !ok || p.Temporary() {
		t.Errorf("err = %v; want a problem", err)
	}
}
