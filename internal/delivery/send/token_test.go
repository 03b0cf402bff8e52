package send_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

const clientSecret = "hush+/:&="

// authority is a token endpoint and a receiver of its tokens.
type authority struct {
	token, receiver *httptest.Server
	fetches, posts  <-chan got
	sender          *send.Sender

	mu    sync.Mutex
	now   time.Time
	issue func() (status int, body string) // of the token endpoint
	valid string                           // the only token accepted; empty: every request is delivered
}

// authorize returns an authority that issues the tokens t1, t2, ..., valid for an hour.
func authorize(t *testing.T) *authority {
	t.Helper()

	a := &authority{now: at}
	given := 0
	a.issue = func() (int, string) {
		given++
		return http.StatusOK, fmt.Sprintf(`{"access_token":"t%d","token_type":"bearer","expires_in":3600}`, given)
	}
	a.token, a.fetches = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		status, body := a.issue()
		a.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}, withTLS)
	a.receiver, a.posts = serve(t, func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.valid != "" && r.Header.Get("Authorization") != "Bearer "+a.valid {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}, withTLS)
	a.sender = sender(t, a.token, a.receiver)
	a.sender.Now = func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.now
	}
	return a
}

func (a *authority) request(t *testing.T) send.Request {
	t.Helper()

	r := request(t, a.receiver.URL)
	r.Grant = &send.Grant{For: "ep_1", OAuth: hook.OAuth{TokenURL: a.token.URL + "/token", ClientID: "id+1"}, Secret: clientSecret}
	return r
}

// set changes the authority between two attempts.
func (a *authority) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// tokens returns the tokens of the posts so far.
func (a *authority) tokens() []string {
	var tokens []string
	for len(a.posts) > 0 {
		tokens = append(tokens, strings.TrimPrefix((<-a.posts).header.Get("Authorization"), "Bearer "))
	}
	return tokens
}

// The request of RFC 6749, section 4.4.2, with both ways of section 2.3.1.
func TestSender_Send_asksForATokenByClientCredentials(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name          string
		oauth         hook.OAuth
		authorization string
		body          string
	}{
		{name: "by HTTP basic", oauth: hook.OAuth{}, authorization: "Basic aWQlMkIxOmh1c2glMkIlMkYlM0ElMjYlM0Q=", body: "grant_type=client_credentials"},
		{
			name: "in the body, with scope and audience", oauth: hook.OAuth{InBody: true, Scope: "a b", Audience: "https://api"}, authorization: "",
			body: "audience=https%3A%2F%2Fapi&client_id=id%2B1&client_secret=hush%2B%2F%3A%26%3D&grant_type=client_credentials&scope=a+b",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := authorize(t)
			r := a.request(t)
			tt.oauth.TokenURL, tt.oauth.ClientID = r.Grant.TokenURL, r.Grant.ClientID
			r.Grant.OAuth = tt.oauth
			r.Own = map[string]string{"X-Env": "prod"}
			if outcome := a.sender.Send(t.Context(), r); outcome.Class != hook.ClassDelivered {
				t.Fatalf("Send() = %+v; want delivered", outcome)
			}
			fetch, post := <-a.fetches, <-a.posts
			if fetch.method != http.MethodPost || fetch.path != "/token" || fetch.body != tt.body ||
				fetch.header.Get("Authorization") != tt.authorization || fetch.header.Get("User-Agent") != "Surehook/1.2.3" ||
				fetch.header.Get("Content-Type") != "application/x-www-form-urlencoded" {
				t.Errorf("the token endpoint got %+v; want %q with %q", fetch, tt.body, tt.authorization)
			}
			if post.header.Get("Authorization") != "Bearer t1" || post.header.Get("X-Env") != "prod" || post.body != payload {
				t.Errorf("the endpoint got %+v; want the event with Bearer t1 and the own header", post)
			}
			if len(r.Own) != 1 {
				t.Errorf("the headers of the request are %v; want them unchanged: other attempts share them", r.Own)
			}
		})
	}
}

// A token is used again until shortly before its end, but only for the same endpoint and grant.
// asked has the steps at which the token endpoint is asked.
func TestSender_Send_keepsTheToken(t *testing.T) {
	t.Parallel()

	a := authorize(t)
	r := a.request(t)
	changed := func(change func(*send.Grant)) send.Request {
		r := a.request(t)
		change(r.Grant)
		return r
	}
	for _, step := range []struct {
		name    string
		request send.Request
		after   time.Duration // since the first attempt
		want    string
	}{
		{name: "the first attempt", request: r, after: 0, want: "t1"},
		{name: "another attempt", request: r, after: time.Minute, want: "t1"},
		{name: "another endpoint", request: changed(func(g *send.Grant) { g.For = "ep_2" }), after: time.Minute, want: "t2"},
		{name: "another secret", request: changed(func(g *send.Grant) { g.Secret = "new" }), after: time.Minute, want: "t3"},
		{name: "another scope", request: changed(func(g *send.Grant) { g.Scope = "a" }), after: time.Minute, want: "t4"},
		{name: "before the end", request: r, after: time.Hour - 31*time.Second, want: "t1"},
		{name: "shortly before the end", request: r, after: time.Hour - 29*time.Second, want: "t5"},
		{name: "after the end", request: r, after: 3 * time.Hour, want: "t6"},
	} {
		a.set(func() { a.now = at.Add(step.after) })
		if outcome := a.sender.Send(t.Context(), step.request); outcome.Class != hook.ClassDelivered {
			t.Fatalf("%s: Send() = %+v; want delivered", step.name, outcome)
		}
		if got := a.tokens(); !slices.Equal(got, []string{step.want}) {
			t.Errorf("%s: posts with %v; want %s", step.name, got, step.want)
		}
	}
	if len(a.fetches) != 6 {
		t.Errorf("the token endpoint got %d requests; want 6", len(a.fetches))
	}
}

// The endpoint accepts only one of the tokens t1, t2, ... A kept token is replaced once; if a
// token that was requested for the attempt is answered with 401, that is the outcome.
func TestSender_Send_replacesARefusedTokenOnce(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		valid   []string // in the attempts
		posts   [][]string
		classes []hook.Class
	}{
		{name: "a kept token is refused", valid: []string{"t1", "t2", "t2"}, posts: [][]string{{"t1"}, {"t1", "t2"}, {"t2"}}, classes: []hook.Class{hook.ClassDelivered, hook.ClassDelivered, hook.ClassDelivered}},
		{name: "the new token is refused", valid: []string{"t1", "t9", "t3"}, posts: [][]string{{"t1"}, {"t1", "t2"}, {"t2", "t3"}}, classes: []hook.Class{hook.ClassDelivered, hook.ClassRefused, hook.ClassDelivered}},
		{name: "the first token is refused", valid: []string{"t9"}, posts: [][]string{{"t1"}}, classes: []hook.Class{hook.ClassRefused}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := authorize(t)
			for i, valid := range tt.valid {
				a.set(func() { a.valid = valid })
				outcome := a.sender.Send(t.Context(), a.request(t))
				if got := a.tokens(); !slices.Equal(got, tt.posts[i]) || outcome.Class != tt.classes[i] {
					t.Errorf("attempt %d posts with %v and is %+v; want %v and %s", i+1, got, outcome, tt.posts[i], tt.classes[i])
				}
			}
		})
	}
}

// The 401 comes from a server that never got the token.
func TestSender_Send_keepsTheTokenRefusedElsewhere(t *testing.T) {
	t.Parallel()

	a := authorize(t)
	other, posts := serve(t, answer(http.StatusUnauthorized), withTLS)
	moved, _ := serve(t, redirect(http.StatusTemporaryRedirect, other.URL), withTLS)
	s := sender(t, a.token, moved, other)
	for range 2 {
		r := a.request(t)
		r.Endpoint.URL = moved.URL
		if outcome := s.Send(t.Context(), r); outcome.Status != http.StatusUnauthorized {
			t.Errorf("Send() = %+v; want 401", outcome)
		}
		if post := <-posts; post.header.Get("Authorization") != "" {
			t.Errorf("another origin got %v; want no token", post.header)
		}
	}
	if len(a.fetches) != 1 || len(posts) != 0 {
		t.Errorf("%d requests for tokens, %d more posts; want one, none", len(a.fetches), len(posts))
	}
}

// Concurrent attempts of one endpoint share the request for a token.
func TestSender_Send_asksForOneTokenAtATime(t *testing.T) {
	t.Parallel()

	const attempts = 10
	a := authorize(t)
	waiting := make(chan struct{}, attempts)
	clock := a.sender.Now
	a.sender.Now = func() time.Time { // called by each attempt as its first step
		select {
		case waiting <- struct{}{}:
		default:
		}
		return clock()
	}
	issue, first := a.issue, sync.OnceFunc(func() {
		for range attempts {
			<-waiting
		}
	})
	a.issue = func() (int, string) {
		first()
		return issue()
	}
	var wg sync.WaitGroup
	for range attempts {
		r := a.request(t)
		wg.Go(func() {
			if outcome := a.sender.Post(t.Context(), a.sender.Prepare(r)); outcome.Class != hook.ClassDelivered {
				t.Errorf("Send() = %+v; want delivered", outcome)
			}
		})
	}
	wg.Wait()
	for _, token := range a.tokens() {
		if token != "t1" {
			t.Errorf("a post with %s; want t1 in every post", token)
		}
	}
	if len(a.fetches) != 1 {
		t.Errorf("the token endpoint got %d requests; want 1", len(a.fetches))
	}
}

// The attempt that asked for the token ends, because its time is over. Another attempt that waits
// for the same token has time left, and asks itself.
func TestSender_Send_asksAgainAfterTheEndOfAnotherAttempt(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		asked := 0
		transport := func(r *http.Request) (*http.Response, error) {
			body := "{}"
			if r.URL.Host == "token.example.com" {
				if asked++; asked == 1 {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				body = `{"access_token":"t1","token_type":"Bearer"}`
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}
		s := send.New(&http.Client{Transport: roundTrip(transport)}, egress.Policy{}, "", time.Now)
		attempt := func(timeout time.Duration) hook.Class {
			r := request(t, "https://receiver.example.com/")
			r.Grant = &send.Grant{For: "ep_1", OAuth: hook.OAuth{TokenURL: "https://token.example.com/", ClientID: "c"}, Secret: clientSecret}
			r.Endpoint.Timeout = timeout
			return s.Send(t.Context(), r).Class
		}
		first := make(chan hook.Class, 1)
		go func() { first <- attempt(time.Second) }()
		synctest.Wait() // the first attempt asks
		if class := attempt(10 * time.Second); class != hook.ClassDelivered {
			t.Errorf("the waiting attempt is %s; want delivered", class)
		}
		if class := <-first; class != hook.ClassToken {
			t.Errorf("the first attempt is %s; want token", class)
		}
	})
}

// Each failure is a transient outcome with a reason, which never contains the secret. No request
// reaches the endpoint.
func TestSender_Send_tellsWhyThereIsNoToken(t *testing.T) {
	t.Parallel()

	token := func(fields string) string { return `{"token_type":"Bearer",` + fields + `}` }
	const unreadable = "the token endpoint answered without a token in JSON."
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{name: "a refusal", status: 401, body: `{"error":"invalid_client","error_description":"hush+/:&="}`, want: "the token endpoint answered 401 Unauthorized, invalid_client."},
		{name: "a refusal with the secret", status: 400, body: `{"error":"hush+/:&="}`, want: "the token endpoint answered 400 Bad Request."},
		{name: "a refusal with status 200", status: 200, body: `{"error":"invalid_scope"}`, want: "the token endpoint answered 200 OK, invalid_scope."},
		{name: "a refusal with a description", status: 400, body: `{"error":"invalid_scope","error_description":"Scope hooks is unknown."}`, want: "the token endpoint answered 400 Bad Request, invalid_scope: Scope hooks is unknown."},
		{name: "a description of another kind", status: 400, body: `{"error":"AADSTS7000215","error_description":"no\n` + strings.Repeat("x", 300) + `"}`, want: "the token endpoint answered 400 Bad Request, AADSTS7000215: no?" + strings.Repeat("x", 197) + "."},
		{name: "a description with the secret in the form of a query", status: 400, body: `{"error":"invalid_client","error_description":"secret=hush%2B%2F%3A%26%3D"}`, want: "the token endpoint answered 400 Bad Request, invalid_client."},
		{name: "a description with the secret in the form of a header", status: 400, body: `{"error":"invalid_client","error_description":"Basic aWQlMkIxOmh1c2glMkIlMkYlM0ElMjYlM0Q="}`, want: "the token endpoint answered 400 Bad Request, invalid_client."},
		{name: "a description with the secret in base64", status: 400, body: `{"error":"invalid_client","error_description":"aHVzaCsvOiY9"}`, want: "the token endpoint answered 400 Bad Request, invalid_client."},
		{name: "a description with the secret in a header of another encoding", status: 400, body: `{"error":"invalid_client","error_description":"aWQrMTpodXNoKy86Jj0 is wrong"}`, want: "the token endpoint answered 400 Bad Request, invalid_client."},
		{name: "a description with most of the secret", status: 400, body: `{"error":"invalid_client","error_description":"hush+/:&*"}`, want: "the token endpoint answered 400 Bad Request, invalid_client."},
		{name: "a description with the secret in lower escapes", status: 400, body: `{"error":"invalid_client","error_description":"HUSH%2b%2f%3a%26%3d"}`, want: "the token endpoint answered 400 Bad Request, invalid_client."},
		{name: "an outage", status: 503, body: `<html>`, want: "the token endpoint answered 503 Service Unavailable."},
		{name: "an unknown status", status: 599, body: ``, want: "the token endpoint answered 599."},
		{name: "a redirect", status: 307, body: ``, want: "the token endpoint answered 307 Temporary Redirect."},
		{name: "no JSON", status: 200, body: `<html>`, want: unreadable},
		{name: "no token", status: 200, body: `{"token_type":"Bearer"}`, want: unreadable},
		{name: "a huge answer", status: 200, body: token(`"pad":"` + strings.Repeat("x", 64<<10) + `","access_token":"t"`), want: unreadable},
		{name: "another type", status: 200, body: `{"access_token":"t","token_type":"DPoP"}`, want: "the token endpoint answered with a token of another type than Bearer."},
		{name: "a header within the token", status: 200, body: token(`"access_token":"t\r\nX-Other: y"`), want: "the token endpoint answered with a token that does not fit into a header."},
		{name: "a huge token", status: 200, body: token(`"access_token":"` + strings.Repeat("t", 8<<10+1) + `"`), want: "the token endpoint answered with a token that does not fit into a header."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a := authorize(t)
			a.issue = func() (int, string) { return tt.status, tt.body }
			r := a.request(t)
			same(t, a.sender.Send(t.Context(), r), hook.Outcome{Class: hook.ClassToken, Error: "No access token: " + tt.want, URL: r.Grant.TokenURL})
			if len(a.posts) != 0 || len(a.fetches) != 1 {
				t.Errorf("%d posts, %d requests for a token; want none, one", len(a.posts), len(a.fetches))
			}
		})
	}
}

func TestSender_Send_guardsTheTokenEndpoint(t *testing.T) {
	t.Parallel()

	a := authorize(t)
	tests := []struct {
		name  string
		url   string
		guard func(*send.Sender)
		want  string
	}{
		{name: "a private address", url: "https://10.0.0.1/token", guard: func(*send.Sender) {}, want: "token_url must not lead to a private, loopback or otherwise reserved address."},
		{name: "the API of Surehook", url: a.token.URL, guard: func(s *send.Sender) { s.Policy.Own = []string{strings.TrimPrefix(a.token.URL, "https://")} }, want: "token_url must not lead to the API of Surehook itself."},
		{name: "a dialed address", url: a.token.URL, guard: func(s *send.Sender) { s.Client = egress.NewClient(egress.Policy{}) }, want: "the URL's host leads to an address that may not be dialed."},
		{name: "a port where nothing listens", url: nobody(t), guard: func(*send.Sender) {}, want: "the token endpoint refused the connection."},
		{name: "a certificate of an unknown authority", url: a.token.URL, guard: func(s *send.Sender) { s.Client = egress.NewClient(loopback) }, want: "the certificate is self-signed."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := sender(t, a.token, a.receiver)
			tt.guard(s)
			r := a.request(t)
			r.Grant.TokenURL = tt.url
			same(t, s.Send(t.Context(), r), hook.Outcome{Class: hook.ClassToken, Error: "No access token: " + tt.want, URL: tt.url})
		})
	}
	if len(a.fetches)+len(a.posts) != 0 {
		t.Errorf("%d requests for tokens, %d posts; want none", len(a.fetches), len(a.posts))
	}
}

// The next attempt waits for as long as the token endpoint asks.
func TestSender_Send_keepsTheWaitOfTheTokenEndpoint(t *testing.T) {
	t.Parallel()

	limited, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	}, withTLS)
	a := authorize(t)
	r := a.request(t)
	r.Grant.TokenURL = limited.URL
	same(t, sender(t, limited).Send(t.Context(), r), hook.Outcome{
		Class: hook.ClassToken, Error: "No access token: the token endpoint answered 429 Too Many Requests.", URL: limited.URL, RetryAfter: 7 * time.Second,
	})
}

// A silent token endpoint ends the attempt at the endpoint's timeout.
func TestSender_Send_waitsForTheTokenWithinTheTimeout(t *testing.T) {
	t.Parallel()

	a := authorize(t)
	silent, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, withTLS)
	s := sender(t, silent, a.receiver)
	r := a.request(t)
	r.Grant.TokenURL = silent.URL
	r.Endpoint.Timeout = 50 * time.Millisecond
	same(t, s.Send(t.Context(), r), hook.Outcome{Class: hook.ClassToken, Error: "No access token: the token endpoint did not answer in time.", URL: silent.URL})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Endpoint.Timeout = hook.MaxTimeout
	want := "No access token: the attempt was cut short before the token endpoint answered."
	same(t, s.Send(ctx, r), hook.Outcome{Class: hook.ClassToken, Error: want, URL: silent.URL})
}

// A token that lives shortly, or for an unknown time, is still used for more than one attempt. The
// type and the life come in several forms.
func TestSender_Send_keepsTokensOfAnyLife(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		life      string
		kept, new time.Duration
		kind      string // Bearer if empty
	}{
		{life: `,"expires_in":10`, kept: 4 * time.Second, new: 6 * time.Second},
		{life: `,"expires_in":"600"`, kept: 9 * time.Minute, new: 10 * time.Minute},
		{life: `,"expires_in" : "never"`, kept: 4 * time.Minute, new: 5 * time.Minute},
		{life: `,"expires_in": 600.75`, kept: 9 * time.Minute, new: 10 * time.Minute},
		{life: `,"expires_in":"600.0"`, kept: 9 * time.Minute, new: 10 * time.Minute},
		{life: ``, kept: 4 * time.Minute, new: 5 * time.Minute},
		{life: `,"expires_in":"600"`, kept: 9 * time.Minute, new: 10 * time.Minute, kind: "BearerToken"},
		{life: `,"expires_in":600`, kept: 9 * time.Minute, new: 10 * time.Minute, kind: "BEARER"},
	} {
		t.Run(strconv.Quote(tt.life+tt.kind), func(t *testing.T) {
			t.Parallel()

			a := authorize(t)
			a.issue = func() (int, string) {
				return 200, "\ufeff" + `{"access_token":"t","token_type":"` + cmp.Or(tt.kind, "Bearer") + `"` + tt.life + `}`
			}
			for _, step := range []struct {
				after   time.Duration
				fetches int
			}{{0, 1}, {tt.kept, 1}, {tt.new, 2}} {
				a.set(func() { a.now = at.Add(step.after) })
				if outcome := a.sender.Send(t.Context(), a.request(t)); outcome.Class != hook.ClassDelivered || len(a.fetches) != step.fetches {
					t.Errorf("after %s: %+v, %d requests for tokens; want delivered, %d", step.after, outcome, len(a.fetches), step.fetches)
				}
			}
		})
	}
}
