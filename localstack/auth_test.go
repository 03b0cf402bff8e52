//go:build e2e

package localstack_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/proof/certificate"
)

// TestAReceiverOfAccessTokensGetsThem takes deliveries through the life of an access token. Each
// process of deliver keeps its own tokens, so a test of a kept token posts until a process that
// has one gets the delivery.
func TestAReceiverOfAccessTokensGetsThem(t *testing.T) {
	t.Parallel()

	a := &aviary{bench: setup(t)}
	secret := a.plantSecret("a client secret")
	issuer := &issuer{client: "Basic " + base64.StdEncoding.EncodeToString([]byte("surehook:"+secret))}
	world.receiver.Decide(a.path("token"), issuer.issue)
	world.receiver.Decide(a.path("a"), issuer.admit)
	auth := map[string]any{"type": "oauth2", "token_url": world.receiver.URL + a.path("token"), "client_id": "surehook", "client_secret": secret, "scope": "hooks"}
	e := a.created("a", map[string]any{"auth": auth, "circuit": stubborn()})

	var ids []string
	send := func() (delivery string, requests []receiver.Request) {
		t.Helper()
		delivery = a.postOne()
		ids = append(ids, delivery)
		if d := a.await(delivery, "delivered"); d.Attempts != 1 {
			t.Fatalf("delivery = %+v; want it delivered by one attempt", d)
		}
		return delivery, a.requestsOf("a", delivery)
	}
	a.until("a delivery carries the token of an earlier one", func() bool {
		before := issuer.issued()
		_, got := send()
		return len(got) == 1 && slices.Contains(before, got[0].Header.Get("Authorization"))
	})
	a.renew()
	a.until("a kept token that the receiver refuses is replaced within the attempt", func() bool {
		before := issuer.issued()
		issuer.revoke()
		_, got := send()
		fresh := issuer.issued()[len(before):]
		if len(fresh) != 1 || got[len(got)-1].Header.Get("Authorization") != fresh[0] {
			t.Fatalf("%d tokens for a delivery of %d requests; want one, in the last", len(fresh), len(got))
		}
		return len(got) == 2 && got[0].Answered == http.StatusUnauthorized && slices.Contains(before, got[0].Header.Get("Authorization"))
	})

	a.renew()
	before := issuer.issued()
	world.receiver.Script(a.path("a"), receiver.Status(http.StatusUnauthorized))
	refused := a.postOne()
	if d := a.await(refused, "dead"); d.Reason != "rejected" || d.Attempts != 1 || d.Last.Status != http.StatusUnauthorized {
		t.Errorf("delivery = %+v; want it rejected by the 401 to another token", d)
	}
	if fresh, got := len(issuer.issued())-len(before), len(a.requestsOf("a", refused)); fresh != 1 || got > 2 {
		t.Errorf("%d tokens and %d requests; want one more token, and a request with it", fresh, got)
	}

	world.receiver.Decide(a.path("a"), issuer.admit)
	world.receiver.Script(a.path("token"), receiver.JSON(http.StatusUnauthorized, fmt.Sprintf(`{"error":"invalid_client","error_description":%q}`, "not "+secret)))
	auth["scope"] = "more" // together with the secret, because the stored one is only for the stored scope
	a.ask(http.MethodPatch, "/endpoints/"+e.ID, map[string]any{"auth": auth, "retry": schedule("10m")}, http.StatusOK)
	without := a.postOne()
	// the description repeats the secret, and is left out
	const problem = "No access token: the token endpoint answered 401 Unauthorized, invalid_client."
	if d := a.await(without, "retrying"); d.Last.Class != "token" || d.Last.Error != problem || len(a.requestsOf("a", without)) != 0 {
		t.Errorf("delivery = %+v; want no request without a token", d)
	}

	for _, r := range world.receiver.Requests(a.path("a")) {
		if !r.Genuine() {
			t.Errorf("signature of a request with a token = %v; want a good one", r.Verified)
		}
	}
	for _, authorization := range issuer.issued() {
		a.watch(canary{place: "an access token", text: strings.TrimPrefix(authorization, "Bearer "), secret: true})
	}
	a.keepsSecrets(append(ids, refused, without)...)
}

// issuer is a token endpoint, and checks the tokens for a receiver.
type issuer struct {
	client string // the Authorization of the client

	mu      sync.Mutex
	all     []string // every Authorization header with an issued token
	revoked int      // the first ones of all
}

// issue answers a request for a token.
func (i *issuer) issue(r receiver.Request) receiver.Reply {
	form, err := url.ParseQuery(string(r.Body))
	if err != nil || r.Header.Get("Authorization") != i.client || form.Get("grant_type") != "client_credentials" || form.Get("scope") != "hooks" {
		return receiver.JSON(http.StatusUnauthorized, `{"error":"invalid_client"}`)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	token := rand.Text()
	i.all = append(i.all, "Bearer "+token)
	return receiver.JSON(http.StatusOK, fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, token))
}

// admit answers 200 to a token that is not revoked, otherwise 401.
func (i *issuer) admit(r receiver.Request) receiver.Reply {
	i.mu.Lock()
	defer i.mu.Unlock()
	if slices.Contains(i.all[i.revoked:], r.Header.Get("Authorization")) {
		return receiver.Status(http.StatusOK)
	}
	return receiver.Status(http.StatusUnauthorized)
}

func (i *issuer) issued() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.all)
}

func (i *issuer) revoke() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.revoked = len(i.all)
}

// TestAReceiverWithMutualTLSGetsItsEvents has a receiver with a certificate of its own authority
// that asks for a client certificate. Each delivery needs one more of the settings than the one
// before.
func TestAReceiverWithMutualTLSGetsItsEvents(t *testing.T) {
	t.Parallel()

	a := &aviary{bench: setup(t)}
	theirs, theirsKey := certificate.Authority(t, "theirs")
	ours, oursKey := certificate.Authority(t, "ours")
	a.watch(canary{place: "the key", text: strings.Split(oursKey, "\n")[1], secret: true})
	pair, err := tls.X509KeyPair([]byte(theirs), []byte(theirsKey))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM([]byte(ours))
	mutual, err := receiver.StartTLS(a.ctx, "127.0.0.1", "127.0.0.1", &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mutual.Stop(); err != nil {
			t.Error(err)
		}
	})
	e := a.created("a", map[string]any{"url": mutual.URL + a.path("a"), "retry": schedule("10m"), "circuit": stubborn()})
	mutual.Trust(a.path("a"), e.Secret)

	var ids []string
	for _, step := range []struct {
		change  map[string]any // of tls; nil: none
		problem string         // empty: delivered
	}{
		{nil, "The certificate is self-signed: use one of a known authority, or set its authority in the field ca of tls."},
		{map[string]any{"ca": theirs}, "The endpoint asks for a client certificate and got none: set certificate and key of tls."},
		{map[string]any{"ca": "***", "certificate": ours, "key": oursKey}, ""},
	} {
		if step.change != nil {
			a.ask(http.MethodPatch, "/endpoints/"+e.ID, map[string]any{"tls": step.change}, http.StatusOK)
		}
		id := a.postOne()
		ids = append(ids, id)
		if step.problem == "" {
			a.await(id, "delivered")
		} else if d := a.await(id, "retrying"); d.Last.Class != "tls" || d.Last.Error != step.problem || d.Attempts != 1 {
			t.Errorf("delivery = %+v; want one attempt of class tls, %q", d, step.problem)
		}
	}
	got := mutual.Requests(a.path("a"))
	if len(got) != 1 || got[0].Header.Get("X-Webhook-Delivery") != ids[2] || !got[0].Genuine() || got[0].Client != "CN=ours" {
		t.Errorf("requests = %+v; want one, of %s with the client certificate", got, ids[2])
	}
	a.keepsSecrets(ids...)
}

// created creates an endpoint as the method endpoint does, and keeps the answer.
func (a *aviary) created(name string, settings map[string]any) (e stack.Endpoint) {
	a.Helper()
	in := map[string]any{"url": world.receiver.URL + a.path(name), "event_types": []string{"*"}, "retry": schedule("1s", "1s"), "envelope": "raw"}
	for field, value := range settings {
		in[field] = value
	}
	if err := json.Unmarshal(a.ask(http.MethodPost, "/endpoints", in, http.StatusCreated), &e); err != nil {
		a.Fatal(err)
	}
	world.receiver.Trust(a.path(name), e.Secret)
	return e
}

// ask calls the tenant's part of the API, expects the status, and keeps the answer.
func (a *aviary) ask(method, path string, in any, want int) []byte {
	a.Helper()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			a.Fatal(err)
		}
	}
	resp, err := world.api.Do(a.ctx, method, "/v1/tenants/"+a.tenant+path, body)
	if err != nil || resp.Status != want {
		a.Fatalf("%s %s = %d %s, %v; want %d", method, path, resp.Status, resp.Body, err, want)
	}
	a.answers = append(a.answers, fmt.Sprintf("%v %s", resp.Header, resp.Body))
	return resp.Body
}

// keepsSecrets reads all about the tenant's endpoints and the deliveries. No canary may be
// in an answer or in the functions' logs, and no secret in the table.
func (a *aviary) keepsSecrets(deliveries ...string) {
	a.Helper()
	a.renew()
	for _, path := range []string{"/endpoints", "/audit", "/deliveries"} {
		a.ask(http.MethodGet, path, nil, http.StatusOK)
	}
	var list struct{ Data []stack.Endpoint }
	a.call(http.MethodGet, "/endpoints", nil, http.StatusOK, &list)
	for _, e := range list.Data {
		a.ask(http.MethodGet, "/endpoints/"+e.ID, nil, http.StatusOK)
	}
	for _, id := range deliveries {
		a.ask(http.MethodGet, "/deliveries/"+id, nil, http.StatusOK)
	}
	a.search("an answer of the API", a.answers, a.everything())
	a.search("a line of the functions' logs", a.logs(deliveries...), a.everything())
	a.search("an item of the table", a.table(), a.secrets())
}

// requestsOf returns the requests of a delivery at the test's path of the name.
func (b *bench) requestsOf(name, delivery string) []receiver.Request {
	return slices.DeleteFunc(world.receiver.Requests(b.path(name)), func(r receiver.Request) bool {
		return !strings.EqualFold(r.Header.Get("X-Webhook-Delivery"), delivery)
	})
}
