//go:build e2e

package localstack_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/receiver"
)

func TestAnEndpointThatTakesNothingParks(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, verb, reason string }{
		{name: "paused", verb: "pause", reason: "paused"},
		{name: "disabled", verb: "disable", reason: "disabled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e := b.endpoint("a", nil)
			b.call(http.MethodPost, "/endpoints/"+e.ID+"/"+tt.verb, nil, http.StatusOK, nil)
			if d := b.await(b.postOne(), "parked"); d.Reason != tt.reason || d.Attempts != 0 {
				t.Errorf("delivery = %+v; want it parked as %s without an attempt", d, tt.reason)
			}
			if got := world.receiver.Requests(b.path("a")); len(got) != 0 {
				t.Errorf("the %s endpoint got %d requests; want none", tt.name, len(got))
			}
		})
	}
}

func TestADeletedEndpointCancelsWhatWaitsForIt(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", map[string]any{"retry": schedule("3s")}, receiver.Status(503))
	id := b.postOne()
	b.arrivals("a", 1)
	b.call(http.MethodDelete, "/endpoints/"+e.ID, nil, http.StatusNoContent, nil)
	if d := b.await(id, "cancelled"); d.Reason != "endpoint_deleted" || d.Attempts != 1 {
		t.Errorf("delivery = %+v; want it cancelled after its one attempt", d)
	}
	if accepted := b.post("order.created", `{}`); accepted.Deliveries != 0 {
		t.Errorf("deliveries after the deletion = %d; want none", accepted.Deliveries)
	}
	b.call(http.MethodGet, "/endpoints/"+e.ID, nil, http.StatusNotFound, nil)
}

func TestDuringARotationBothSecretsVerify(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil)
	b.postOne()
	var rotated struct{ Secret string }
	b.call(http.MethodPost, "/endpoints/"+e.ID+"/rotate-secret", map[string]any{"overlap": "1h"}, http.StatusOK, &rotated)
	if rotated.Secret == "" || rotated.Secret == e.Secret {
		t.Fatalf("rotated secret = %q; want a new one", rotated.Secret)
	}
	b.arrivals("a", 1)
	world.receiver.Trust(b.path("a"), e.Secret, rotated.Secret)
	b.postOne()
	got := b.arrivals("a", 2)[1]
	if signatures := strings.Fields(got.Header.Get("Webhook-Signature")); len(signatures) != 2 {
		t.Errorf("webhook-signature = %q; want two", signatures)
	}
	for i, err := range got.Verified {
		if err != nil {
			t.Errorf("secret %d: %v; want it to verify", i+1, err)
		}
	}
}

// TestAReceiverGetsTheCredentials changes the authentication from none to basic to a
// bearer token, and back to none.
func TestAReceiverGetsTheCredentials(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil)
	for i, step := range []struct {
		auth map[string]any
		want string
	}{
		{auth: map[string]any{"type": "none"}, want: ""},
		{auth: map[string]any{"type": "basic", "username": "u", "password": "a:password"}, want: "Basic dTphOnBhc3N3b3Jk"},
		{auth: map[string]any{"type": "bearer", "token": "a-secret-token"}, want: "Bearer a-secret-token"},
		{auth: map[string]any{"type": "none"}, want: ""},
	} {
		var changed map[string]any
		b.call(http.MethodPatch, "/endpoints/"+e.ID, map[string]any{"auth": step.auth}, http.StatusOK, &changed)
		if text, err := json.Marshal(changed); err != nil || strings.Contains(string(text), "a:password") || strings.Contains(string(text), "a-secret-token") {
			t.Errorf("the answer is %s, %v; want the secrets masked", text, err)
		}
		b.postOne()
		if got := b.arrivals("a", i+1)[i].Header.Get("Authorization"); got != step.want {
			t.Errorf("request %d has the authorization %q; want %q", i+1, got, step.want)
		}
	}
}

func TestTheJavaScriptLibraryVerifiesToo(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil)
	b.post("order.created", `{"a": "\u00e9", "b":  1.0}`)
	got := b.arrivals("a", 1)[0]

	tests := []struct {
		name   string
		secret string
		body   []byte
		wantOK bool
	}{
		{name: "as it came", secret: e.Secret, body: got.Body, wantOK: true},
		{name: "a changed body", secret: e.Secret, body: append(bytes.Clone(got.Body), ' ')},
		{name: "another secret", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body: got.Body},
	}
	for _, tt := range tests { // no subtests that wait for others: the library refuses what is five minutes old
		headers := map[string]string{}
		for name := range got.Header {
			headers[strings.ToLower(name)] = got.Header.Get(name)
		}
		in, err := json.Marshal(map[string]any{"secret": tt.secret, "headers": headers, "body": tt.body})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "node", "verify.mjs")
		cmd.Dir = "verify"
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "ERR_MODULE_NOT_FOUND") {
			t.Fatal("the library is not installed: run `npm --prefix localstack/verify ci --ignore-scripts`")
		}
		if (err == nil) != tt.wantOK {
			t.Errorf("%s: verify.mjs = %v, %s; want a good signature: %t", tt.name, err, out, tt.wantOK)
		}
	}
}
