package ownership_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/admin/ownership"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/remote"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/localstack/webhook"
)

var epoch = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// setup returns a prover that may ask receivers on loopback. The sender in us-east-1 is this
// process.
func setup(now func() time.Time) *ownership.Prover {
	policy := egress.Policy{Loopback: true}
	sender := send.New(egress.NewClient(policy), policy, "Surehook/test", time.Now)
	senders := memory.Senders{"us-east-1": remote.Handler{Sender: sender}}
	return &ownership.Prover{
		Limits: memory.NewStore(), Sender: sender, Remote: &remote.Sender{Signer: sender, Invoker: senders, Now: time.Now}, Now: now,
	}
}

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// received is a request to a receiver.
type received struct {
	header http.Header
	Type   string    `json:"type"`
	Time   time.Time `json:"timestamp"`
	Data   struct {
		Challenge string `json:"challenge"`
	} `json:"data"`
}

func read(t *testing.T, r *http.Request) received {
	t.Helper()

	got := received{header: r.Header}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &got)
	}
	if err != nil || r.Method != http.MethodPost {
		t.Errorf("%s %s, %v; want a POST of JSON", r.Method, body, err)
	}
	return got
}

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()

	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func endpointAt(url string) hook.Endpoint {
	return hook.Endpoint{
		ID: hook.NewEndpointID(), Tenant: "acme", URL: url, Timeout: 10 * time.Second, Envelope: hook.EnvelopeRaw,
		Schemes: []hook.Scheme{hook.SchemeV1}, Profiles: []hook.SignatureProfile{{Name: hook.ProfileStandard}},
	}
}

// problemOf returns the message at the field url of an error with CodeUnverified.
func problemOf(t *testing.T, err error) string {
	t.Helper()

	known, ok := errors.AsType[*hook.Error](err)
	if !ok || known.Code != hook.CodeUnverified || len(known.Fields) != 1 || known.Fields[0].Field != "url" {
		t.Fatalf("Prove = %v; want url_not_verified of the url", err)
	}
	return known.Fields[0].Message
}

func TestProver_Prove(t *testing.T) {
	t.Parallel()

	const expects = `without the challenge of the request, which it must answer as {"challenge": "..."}`
	tests := []struct {
		name   string
		status int
		answer string // CHALLENGE stands for the challenge
		want   string // after "could not be verified: "; empty for a proof
	}{
		{name: "the challenge", status: 200, answer: `{"challenge":"CHALLENGE"}`},
		{name: "the challenge with more, and spaces", status: 201, answer: " {\n \"ok\": true, \"challenge\" : \"CHALLENGE\" }\n"},
		{name: "another challenge", status: 200, answer: `{"challenge":"x"}`, want: "the endpoint answered 200 " + expects},
		{name: "a challenge that is longer", status: 200, answer: `{"challenge":"CHALLENGEx"}`, want: "the endpoint answered 200 " + expects},
		{name: "a number", status: 200, answer: `{"challenge":1}`, want: "the endpoint answered 200 " + expects},
		{name: "the request itself", status: 200, answer: `{"type":"webhook.challenge","data":{"challenge":"CHALLENGE"}}`, want: "the endpoint answered 200 " + expects},
		{name: "the bare text", status: 200, answer: `CHALLENGE`, want: "the endpoint answered 200 " + expects},
		{name: "nothing", status: 204, want: "the endpoint answered 204 " + expects},
		{name: "the challenge after the bytes that are read", status: 200, answer: `{"a":"` + strings.Repeat("x", 1000) + `","challenge":"CHALLENGE"}`, want: "the endpoint answered 200 " + expects},
		{name: "a failure with the challenge", status: 500, answer: `{"challenge":"CHALLENGE"}`, want: "the endpoint answered 500 Internal Server Error"},
		{name: "a page of an error", status: 404, answer: `<secret>`, want: "the endpoint answered 404 Not Found"},
		{name: "gone", status: 410, want: "the endpoint answered 410 Gone"},
	}
	for _, region := range []string{"", "us-east-1"} {
		for _, tt := range tests {
			t.Run(tt.name+" "+region, func(t *testing.T) {
				t.Parallel()

				url := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, strings.ReplaceAll(tt.answer, "CHALLENGE", read(t, r).Data.Challenge))
				})
				e := endpointAt(url)
				e.Region = region
				err := setup(time.Now).Prove(t.Context(), e, "")
				if tt.want == "" {
					if err != nil {
						t.Errorf("Prove = %v; want a proof", err)
					}
					return
				}
				if got := problemOf(t, err); got != "could not be verified: "+tt.want {
					t.Errorf("Prove = %q; want %q", got, tt.want)
				}
			})
		}
	}
}

// The request is made like a delivery, always in the standard envelope, and cannot be a call of
// Surehook's own API.
func TestProver_Prove_request(t *testing.T) {
	t.Parallel()

	var got []received
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, read(t, r))
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": got[len(got)-1].Data.Challenge})
	})
	p := setup(at(epoch))
	e := endpointAt(url)
	e.Headers = map[string]string{"X-Team": "crm"}
	e.Auth = hook.Auth{Type: hook.AuthBearer, Secret: "token"}
	e.Transformation = `{"body": "none"}`
	for range 2 {
		if err := p.Prove(t.Context(), e, ""); err != nil {
			t.Fatalf("Prove = %v", err)
		}
	}
	first := got[0]
	if first.Type != hook.ChallengeType || !first.Time.Equal(epoch) || len(first.Data.Challenge) < 26 || first.Data.Challenge == got[1].Data.Challenge {
		t.Errorf("requests = %+v, %+v; want the type, the time, and challenges of their own", first, got[1])
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Surehook/test", "X-Webhook-Event": hook.ChallengeType,
		"X-Team": "", "Authorization": "",
	} {
		if value := first.header.Get(name); value != want {
			t.Errorf("%s = %q; want %q", name, value, want)
		}
	}
	if _, err := hook.ParseDeliveryID(first.header.Get(hook.DeliveryHeader)); err != nil {
		t.Errorf("%s: %v; want a delivery id, which the API refuses as a loop", hook.DeliveryHeader, err)
	}
	if len(e.Headers) != 1 {
		t.Errorf("headers of the endpoint = %v; want them unchanged", e.Headers)
	}
}

// A new endpoint's secret signs the request. Without a secret, or with one that signs nothing,
// no header looks like a signature.
func TestProver_Prove_signs(t *testing.T) {
	t.Parallel()

	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var header http.Header
	var valid error
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		header, valid = r.Header, verifier.Verify(body, r.Header)
		_, _ = w.Write(webhook.Challenge(r.Header, body))
	})
	github := []hook.SignatureProfile{{Name: "github"}}
	tests := []struct {
		name   string
		edit   func(*hook.Endpoint)
		secret string
		valid  bool
		others bool // a header of the profile github
	}{
		{name: "the secret", edit: func(*hook.Endpoint) {}, secret: secret, valid: true},
		{name: "no secret", edit: func(*hook.Endpoint) {}},
		{name: "another profile", edit: func(e *hook.Endpoint) { e.Profiles = github }, secret: secret, others: true},
		{name: "another profile without the secret", edit: func(e *hook.Endpoint) { e.Profiles = github }},
		{name: "a key pair alone", edit: func(e *hook.Endpoint) { e.Schemes = []hook.Scheme{hook.SchemeV1a} }, secret: secret},
	}
	for _, tt := range tests {
		e := endpointAt(url)
		tt.edit(&e)
		if err := setup(time.Now).Prove(t.Context(), e, tt.secret); err != nil {
			t.Errorf("Prove with %s = %v", tt.name, err)
		}
		_, standard := header["Webhook-Signature"]
		_, others := header["X-Hub-Signature-256"]
		if (valid == nil) != tt.valid || standard != tt.valid || others != tt.others {
			t.Errorf("with %s, the request has %v (%v); want a valid signature: %t, of github: %t", tt.name, header, valid, tt.valid, tt.others)
		}
	}
}

func TestProver_Prove_refusesAnotherReceiver(t *testing.T) {
	t.Parallel()

	echo := func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": read(t, r).Data.Challenge})
	}
	var asked atomic.Int32
	t.Cleanup(func() {
		if n := asked.Load(); n != 0 {
			t.Errorf("receivers of other origins got %d requests; want none", n)
		}
	})
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		echo(w, r)
	})
	redirecting := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	failing := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	})
	toFailing := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, failing, http.StatusTemporaryRedirect)
	})
	closed := httptest.NewServer(http.HandlerFunc(echo))
	closed.Close()
	within := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
			return
		}
		echo(w, r)
	})
	const elsewhere = "the endpoint redirected to another origin, whose receiver has not been asked: set the URL to "
	tests := []struct{ name, url, want string }{
		{name: "a redirect to a receiver that echoes", url: redirecting, want: elsewhere + other},
		{name: "a redirect to a receiver that fails", url: toFailing, want: elsewhere + failing},
		{name: "a redirect to another path that echoes", url: within + "/", want: "the endpoint redirects to another address"},
		{name: "a port without a server", url: closed.URL, want: "the endpoint refused the connection"},
		{name: "a private address", url: "http://10.0.0.1/", want: "the endpoint's URL must not lead to a private, loopback or otherwise reserved address"},
		{name: "metadata of the machine", url: "http://169.254.169.254/", want: "the endpoint's URL must not lead to a private, loopback or otherwise reserved address"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := endpointAt(tt.url)
			e.Region = []string{"us-east-1", ""}[i%2]
			if got := problemOf(t, setup(time.Now).Prove(t.Context(), e, "")); !strings.HasPrefix(got, "could not be verified: "+tt.want) {
				t.Errorf("Prove = %q; want %q", got, tt.want)
			}
		})
	}
}

// TestProver_ProveToken checks that the token endpoint alone is asked, from here or the endpoint's
// region, and that only a token is a proof.
func TestProver_ProveToken(t *testing.T) {
	t.Parallel()

	receiver := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the receiver got a request; want none") })
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string // empty for a proof
	}{
		{name: "a token", answer: func(w http.ResponseWriter, r *http.Request) {
			if client, secret, _ := r.BasicAuth(); client != "crm" || secret != "secret" {
				t.Errorf("client = %q with %q; want the endpoint's", client, secret)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"abc","token_type":"Bearer"}`)
		}},
		{name: "an echo", answer: func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }, want: "no access token: the token endpoint answered without a token in JSON"},
		{name: "another server", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, want: "no access token: the token endpoint answered 404 Not Found"},
		{name: "a redirect", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, receiver, http.StatusTemporaryRedirect)
		}, want: "no access token: the token endpoint answered 307 Temporary Redirect"},
	}
	for _, region := range []string{"", "us-east-1"} {
		for _, tt := range tests {
			e := endpointAt(receiver)
			e.Region = region
			e.Auth = hook.Auth{Type: hook.AuthOAuth2, Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: serve(t, tt.answer)}}
			err := setup(time.Now).ProveToken(t.Context(), e)
			if tt.want == "" {
				if err != nil {
					t.Errorf("ProveToken of %s from %q = %v; want a proof", tt.name, region, err)
				}
				continue
			}
			known, ok := errors.AsType[*hook.Error](err)
			if !ok || known.Code != hook.CodeUnverified || len(known.Fields) != 1 || known.Fields[0] != (hook.FieldError{Field: "auth.token_url", Message: "could not be verified: " + tt.want}) {
				t.Errorf("ProveToken of %s from %q = %v; want %q", tt.name, region, err, tt.want)
			}
		}
	}
}

func TestProver_Prove_namesWhatIsNotSent(t *testing.T) {
	t.Parallel()

	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for name, edit := range map[string]func(*hook.Endpoint){
		"a header in clear": func(e *hook.Endpoint) { e.Headers = map[string]string{"X-Key": "1"} },
		"a header":          func(e *hook.Endpoint) { e.SealedHeaders = map[string][]byte{"X-Key": {1}} },
		"a token":           func(e *hook.Endpoint) { e.Auth = hook.Auth{Type: hook.AuthBearer, Sealed: []byte{1}} },
		"a client's key": func(e *hook.Endpoint) {
			e.TLS = hook.TLS{ID: "1", Client: true, Material: &hook.Material{Certificate: "x"}}
		},
		"nothing": func(*hook.Endpoint) {},
	} {
		e := endpointAt(url)
		edit(&e)
		want := map[string]string{
			"nothing": "the endpoint answered 401 Unauthorized", "a client's key": "; a stored client key is not used for the challenge: give it again in this request",
		}[name]
		if want == "" {
			want = "; the challenge carries no headers and no credentials of the endpoint: the receiver must answer it without"
		}
		if got := problemOf(t, setup(time.Now).Prove(t.Context(), e, "")); !strings.HasSuffix(got, want) {
			t.Errorf("Prove with %s = %q; want %q at the end", name, got, want)
		}
	}
}

// TestProver_Prove_limit asks for one tenant ten times in a moment, and for another one.
func TestProver_Prove_limit(t *testing.T) {
	t.Parallel()

	now, asked := epoch, 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": read(t, r).Data.Challenge})
	})
	p := setup(func() time.Time { return now })
	e, other := endpointAt(url), endpointAt(url)
	other.Tenant = "globex"
	for range ownership.PerMinute {
		if err := p.Prove(t.Context(), e, ""); err != nil {
			t.Fatalf("Prove = %v", err)
		}
	}
	err := p.Prove(t.Context(), e, "")
	if known, ok := errors.AsType[*hook.Error](err); !ok || known.Code != hook.CodeThrottled || known.RetryAfter != 6*time.Second || asked != ownership.PerMinute {
		t.Errorf("Prove past the limit = %v after %d requests; want throttled for 6s, without a request", err, asked)
	}
	if err := p.Prove(t.Context(), other, ""); err != nil {
		t.Errorf("Prove for another tenant = %v", err)
	}
	now = now.Add(6 * time.Second)
	if err := p.Prove(t.Context(), e, ""); err != nil {
		t.Errorf("Prove 6 s later = %v", err)
	}
}

// posts is the private network's sender: it sees where the requests go, and answers none.
type posts struct {
	regions []string
	all     []send.Prepared
}

func (s *posts) Post(_ context.Context, region string, p send.Prepared) (hook.Outcome, error) {
	s.regions, s.all = append(s.regions, region), append(s.all, p)
	return hook.Outcome{}, errors.New("lost")
}

// nobody is the sender of this process, which must make no request.
type nobody struct {
	ownership.Sender
	*testing.T
}

func (n nobody) Post(context.Context, send.Prepared) hook.Outcome {
	n.Error("the request is made from here; want it in the private network")
	return hook.Outcome{}
}

// TestProver_Prove_private checks that the challenge, and the question for a token, go through the
// private network alone.
func TestProver_Prove_private(t *testing.T) {
	t.Parallel()

	p, s := setup(time.Now), new(posts)
	p.Remote, p.Sender = s, nobody{p.Sender, t}
	e := endpointAt("https://erp.corp.internal/hooks")
	e.SetOrigin("", hook.EgressPrivate)
	e.Auth = hook.Auth{Type: hook.AuthOAuth2, Secret: "secret", OAuth: hook.OAuth{ClientID: "crm", TokenURL: "https://login.corp.internal/token"}}
	for name, err := range map[string]error{"Prove": p.Prove(t.Context(), e, ""), "ProveToken": p.ProveToken(t.Context(), e)} {
		if hook.CodeOf(err) != hook.CodeUnavailable {
			t.Errorf("%s = %v; want unavailable", name, err)
		}
	}
	if len(s.all) != 2 || s.all[0].Private != e.Tenant || s.all[1].Private != e.Tenant || s.regions[0] != hook.PrivateRegion || s.regions[1] != hook.PrivateRegion {
		t.Errorf("the requests go to %v for %+v; want both in the private network for %s", s.regions, s.all, e.Tenant)
	}
}

// silent is a sender of another region without an answer.
type silent struct{ deadline time.Duration }

func (s *silent) Post(ctx context.Context, _ string, _ send.Prepared) (hook.Outcome, error) {
	if end, ok := ctx.Deadline(); ok {
		s.deadline = time.Until(end)
	}
	return hook.Outcome{}, errors.New("lost")
}

func TestProver_Prove_withoutTheSender(t *testing.T) {
	t.Parallel()

	p, s := setup(time.Now), new(silent)
	p.Remote = s
	e := endpointAt("https://example.com/")
	e.Fixed = true
	if err := p.Prove(t.Context(), e, ""); hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Prove = %v; want unavailable", err)
	}
	if most := ownership.Timeout + send.Transit; s.deadline <= 0 || s.deadline > most {
		t.Errorf("the sender has %v; want at most %v", s.deadline, most)
	}
}
