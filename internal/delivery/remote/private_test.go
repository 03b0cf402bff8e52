package remote_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/private"
)

// network is the private network: it answers requests that the policy let out. Package egress and the
// end-to-end tests hold the dials themselves.
type network struct {
	asked  []string
	answer func(r *http.Request) *http.Response
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.asked = append(n.asked, r.URL.String())
	return n.answer(r), nil
}

func answered(status int, location, body string) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if location != "" {
		header.Set("Location", location)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// handlerIn returns a handler in the network, with one rule for all tenants and one of acme.
func handlerIn(t *testing.T, n *network) remote.Handler {
	t.Helper()

	list, err := private.Parse([]byte(`[
		{"cidrs": ["10.20.0.0/16"], "hosts": ["corp.internal"], "ports": [443]},
		{"cidrs": ["10.30.0.0/16"], "hosts": ["acme.example"], "ports": [9443], "tenants": ["acme"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	return remote.NewPrivate(list, egress.Policy{}, func(p egress.Policy) *send.Sender {
		return send.New(&http.Client{Transport: n}, p, "", time.Now)
	})
}

// TestHandler_Handle_private sends requests of private endpoints, and sees which of them, of their
// redirects and of their token requests leave.
func TestHandler_Handle_private(t *testing.T) {
	t.Parallel()

	const (
		erp    = "https://erp.corp.internal/hooks"
		listed = "must lead to a host and port that the deployment lists for private receivers"
	)
	tests := []struct {
		name, tenant, url, token, location string
		class                              hook.Class
		text                               string
		asked                              []string
	}{
		{name: "a listed receiver", url: erp, class: hook.ClassDelivered, asked: []string{erp}},
		{name: "a public receiver", url: "https://example.com/", class: hook.ClassBlocked, text: listed},
		{name: "metadata", url: "https://169.254.169.254/latest/", class: hook.ClassBlocked, text: listed},
		{name: "a name of AWS", url: "https://sqs.eu-west-1.amazonaws.com/", class: hook.ClassBlocked, text: listed},
		{name: "the receiver of another tenant", url: "https://acme.example:9443/", class: hook.ClassBlocked, text: listed},
		{name: "the receiver of its tenant", tenant: "acme", url: "https://acme.example:9443/", class: hook.ClassDelivered, asked: []string{"https://acme.example:9443/"}},
		{name: "the port of another rule", tenant: "acme", url: "https://erp.corp.internal:9443/", class: hook.ClassBlocked, text: listed},

		{name: "a redirect to a listed receiver", url: erp, location: "https://new.corp.internal/", class: hook.ClassDelivered, asked: []string{erp, "https://new.corp.internal/"}},
		{name: "a redirect to the internet", url: erp, location: "https://example.com/", class: hook.ClassBlocked, text: listed, asked: []string{erp}},
		{name: "a redirect to metadata", url: erp, location: "https://169.254.169.254/", class: hook.ClassBlocked, text: listed, asked: []string{erp}},
		{name: "a redirect to metadata over IPv6", url: erp, location: "https://[fd00:ec2::254]/", class: hook.ClassBlocked, text: listed, asked: []string{erp}},
		{name: "a redirect to a name that ends alike", url: erp, location: "https://evilcorp.internal/", class: hook.ClassBlocked, text: listed, asked: []string{erp}},
		{name: "a redirect to a name of AWS", url: erp, location: "https://sts.amazonaws.com/", class: hook.ClassBlocked, text: listed, asked: []string{erp}},
		{name: "a redirect to http", url: erp, location: "http://erp.corp.internal/", class: hook.ClassBlocked, text: "from https to http", asked: []string{erp}},
		{name: "a redirect to the receiver of another tenant", url: erp, location: "https://acme.example:9443/", class: hook.ClassBlocked, text: listed, asked: []string{erp}},

		{name: "a listed token endpoint", url: erp, token: "https://login.corp.internal/token", class: hook.ClassDelivered, asked: []string{"https://login.corp.internal/token", erp}},
		{name: "a public token endpoint", url: erp, token: "https://login.example.com/token", class: hook.ClassToken, text: listed},
		{name: "a token endpoint at metadata", url: erp, token: "https://169.254.169.254/token", class: hook.ClassToken, text: listed},
		{name: "the token alone, for a challenge", token: "https://login.example.com/token", class: hook.ClassToken, text: listed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			n := &network{answer: func(r *http.Request) *http.Response {
				switch {
				case r.URL.String() == tt.token:
					return answered(http.StatusOK, "", `{"access_token":"abc","token_type":"Bearer"}`)
				case r.URL.String() == tt.url && tt.location != "":
					return answered(http.StatusTemporaryRedirect, tt.location, "")
				}
				return answered(http.StatusOK, "", "")
			}}
			signer := here(t, egress.Policy{Own: []string{"api.example.com"}})
			r := request(t, tt.url)
			r.Endpoint.Tenant = "globex"
			if tt.tenant != "" {
				r.Endpoint.Tenant = hook.TenantID(tt.tenant)
			}
			r.Endpoint.SetOrigin("", hook.EgressPrivate)
			r.Own = nil
			if tt.token != "" {
				r.Grant = &send.Grant{For: "ep_1", Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: tt.token}}
			}
			var region string
			s := remote.Sender{Signer: signer, Now: time.Now, Invoker: elsewhere{handler: handlerIn(t, n), region: &region}}
			outcome, err := s.Send(t.Context(), r)
			if err != nil || outcome.Class != tt.class || !strings.Contains(outcome.Error, tt.text) || region != hook.PrivateRegion {
				t.Errorf("Send = %s, %q, %v from %q; want %s, %q from the private network", outcome.Class, outcome.Error, err, region, tt.class, tt.text)
			}
			if !slices.Equal(n.asked, tt.asked) {
				t.Errorf("requests left to %v; want %v", n.asked, tt.asked)
			}
		})
	}
}

// TestHandler_Handle_otherNetwork checks that no sender makes the requests of the other network, of
// whatever build it is: the message did not run.
func TestHandler_Handle_otherNetwork(t *testing.T) {
	t.Parallel()

	n := &network{answer: func(*http.Request) *http.Response { return answered(http.StatusOK, "", "") }}
	server, received := receiver(t, func(http.ResponseWriter, *http.Request) {})
	for name, tt := range map[string]struct {
		egress  hook.Egress
		handler remote.Handler
	}{
		"a private endpoint over the internet":   {hook.EgressPrivate, remote.Handler{Sender: here(t, loopback, server)}},
		"a public endpoint over private network": {hook.EgressFixed, handlerIn(t, n)},
	} {
		var message []byte
		s := remote.Sender{Signer: here(t, loopback, server), Now: time.Now, Invoker: elsewhere{handler: tt.handler, message: &message}}
		r := request(t, server.URL)
		r.Endpoint.Tenant = "acme"
		r.Endpoint.SetOrigin("", tt.egress)
		r.TLS.CA = "a secret setting, which has a version of its own"
		if _, err := s.Send(t.Context(), r); !errors.Is(err, send.ErrNotSent) || len(n.asked)+len(received) != 0 {
			t.Errorf("%s: Send = %v after %d requests; want it not sent", name, err, len(n.asked)+len(received))
		}
		var form struct {
			Version int `json:"version"`
		}
		if err := json.Unmarshal(message, &form); err != nil || (form.Version == 3) != (tt.egress == hook.EgressPrivate) {
			t.Errorf("%s: the message has version %d, %v; want 3, which older builds refuse, for private endpoints alone", name, form.Version, err)
		}
	}
}

// TestHandler_Handle_publicToPrivate checks that a redirect of a public receiver cannot lead to a
// private one, whatever the private network lists.
func TestHandler_Handle_publicToPrivate(t *testing.T) {
	t.Parallel()

	for _, location := range []string{"https://10.20.0.1/", "https://erp.corp.internal/", "https://[fd12:3456::1]/", "https://100.64.0.1/"} {
		server, _ := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		s := remote.Sender{Signer: here(t, loopback), Now: time.Now, Invoker: elsewhere{handler: remote.Handler{Sender: here(t, loopback, server)}}}
		if outcome, err := s.Send(t.Context(), request(t, server.URL)); err != nil || outcome.Class != hook.ClassBlocked {
			t.Errorf("Send, redirected to %s = %s, %v; want blocked", location, outcome.Class, err)
		}
	}
}
