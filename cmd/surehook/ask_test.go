package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/client"
)

// On a terminal a person is asked before an endpoint goes, and learns where and what that cancels.
func TestDelete_asks(t *testing.T) {
	t.Parallel()

	const deleted = "DELETE /v1/tenants/acme/endpoints/orders"
	tests := []struct {
		name, answer string
		terminal     bool
		args         []string
		want         int
		deletes      bool
		health       string // the answer; empty: the key may not read
		asked        string
	}{
		{"no on a terminal", "n\n", true, nil, exitFailed, false, `{"complete":true,"deliveries":{"retrying":3,"parked":9}}`, "12 waiting deliveries are"},
		{"yes on a terminal", "y\n", true, nil, exitOK, true, `{"complete":true,"deliveries":{"parked":1}}`, "1 waiting delivery is"},
		{"more than were counted", "y\n", true, nil, exitOK, true, `{"deliveries":{"parked":10000}}`, "at least 10000 waiting deliveries are"},
		{"a key that may not read", "y\n", true, nil, exitOK, true, "", "What waits is"},
		{"--yes on a terminal", "", true, []string{"--yes"}, exitOK, true, "", ""},
		{"without a terminal", "", false, nil, exitOK, true, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var calls []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls = append(calls, r.Method+" "+r.URL.Path)
				if r.Method == http.MethodDelete {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				if r.URL.Path == "/v1/openapi.yaml" {
					w.Header().Set("Content-Type", "application/yaml")
					fmt.Fprint(w, "openapi: 3.1.0\ninfo:\n  title: Surehook\n")
					return
				}
				w.Header().Set("Content-Type", "application/json")
				if tt.health == "" {
					w.WriteHeader(http.StatusForbidden)
				}
				fmt.Fprint(w, cmp.Or(tt.health, `{"status":403,"code":"forbidden","title":"forbidden","detail":"the key lacks the scope read"}`))
			}))
			defer server.Close()
			var errs bytes.Buffer
			p := &program{
				In: strings.NewReader(tt.answer), Out: new(bytes.Buffer), Err: &errs, Now: time.Now, HTTP: server.Client(),
				Lookup: func(name string) (string, bool) {
					value, ok := map[string]string{envURL: server.URL, envKey: "shk_" + strings.Repeat("x", 43), envTenant: "acme"}[name]
					return value, ok
				},
				Home: func() (string, error) { return t.TempDir(), nil }, Cache: func() (string, error) { return t.TempDir(), nil },
			}
			if tt.terminal {
				p.Secret = func(context.Context) (string, error) { return "", nil }
			}
			code := p.run(t.Context(), append([]string{"endpoints", "delete", "orders"}, tt.args...))
			if got := strings.Contains(strings.Join(calls, "\n"), deleted); code != tt.want || got != tt.deletes {
				t.Errorf("delete = %d after %q, %s; want %d, deleted %t", code, calls, &errs, tt.want, tt.deletes)
			}
			question := fmt.Sprintf("Delete the endpoint orders? %s cancelled. [tenant acme, %s] [y/N]", tt.asked, server.URL)
			if asked := strings.Contains(errs.String(), question); asked != (tt.answer != "") {
				t.Errorf("printed %q; want the question %q: %t", errs.String(), question, tt.answer != "")
			}
		})
	}
}

// A question counts what the call ends, if one request can count it.
func TestEffect_said(t *testing.T) {
	t.Parallel()

	waits := `{"state":"queued"},{"state":"parked"},{"state":"retrying"},{"state":"delivered"},{"state":"dead"}`
	tests := []struct {
		name     string
		of       *effect
		request  string
		answer   string
		refusing bool
		want     string
	}{
		{"an event", unsettledOf(), "/v1/tenants/acme/events/x1/deliveries?limit=100", `{"data":[` + waits + `],"next_cursor":null}`, false, "3 waiting deliveries are cancelled."},
		{"an event of more deliveries", unsettledOf(), "/v1/tenants/acme/events/x1/deliveries?limit=100", `{"data":[` + waits + `],"next_cursor":"c"}`, false, "at least 3 waiting deliveries are cancelled."},
		{"an event, unread", unsettledOf(), "/v1/tenants/acme/events/x1/deliveries?limit=100", ``, true, "What waits is cancelled."},
		{"a job", sentBy(), "/v1/tenants/acme/replays/x1", `{"enqueued":298,"expected":300}`, false, "298 of 300 are sent, and go on."},
		{"a tenant", endpointsOfTenant(), "/v1/tenants?limit=1&prefix=x1", `{"data":[{"id":"x1","endpoints":13}]}`, false, "13 endpoints go; its events are not counted."},
		{"a tenant whose name begins like another's", endpointsOfTenant(), "/v1/tenants?limit=1&prefix=x1", `{"data":[{"id":"x12","endpoints":13}]}`, false, "0 endpoints go; its events are not counted."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.String()
				w.Header().Set("Content-Type", "application/json")
				if tt.refusing {
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, `{"status":403,"code":"forbidden","title":"forbidden","detail":"the key lacks the scope read"}`)
					return
				}
				fmt.Fprint(w, tt.answer)
			}))
			defer server.Close()
			api, err := client.New(server.URL, "shk_"+strings.Repeat("x", 43))
			if err != nil {
				t.Fatal(err)
			}
			got, err := tt.of.said(t.Context(), api, "acme", "x1")
			if err != nil || got != tt.want || asked != tt.request {
				t.Errorf("said = %q, %v after %s; want %q after %s", got, err, asked, tt.want, tt.request)
			}
		})
	}
}

// Every command that ends or takes away something asks, and --yes spares the question.
func TestOperations_ask(t *testing.T) {
	t.Parallel()

	ends := regexp.MustCompile(`^(delete|erase|end|cancel|discard|revoke|rotate)\b`)
	for _, group := range new(program).groups() {
		for _, o := range group.operations {
			if (o.method == remove || ends.MatchString(o.use)) != (o.ask != "") {
				t.Errorf("%s %s asks %q", group.use, o.use, o.ask)
			}
		}
	}
}
