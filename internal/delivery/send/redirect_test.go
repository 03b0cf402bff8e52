package send_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// redirect responds with the status, and with the Location unless it is empty.
func redirect(status int, location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "moved")
	}
}

func TestSender_Send_repeatsThePostWhereItIsRedirected(t *testing.T) {
	t.Parallel()

	for _, status := range []int{301, 302, 307, 308} {
		for name, configure := range map[string]func(*httptest.Server){"HTTP/1.1": withTLS, "HTTP/1.1, although the server has HTTP/2": withHTTP2} {
			t.Run(strconv.Itoa(status)+" over "+name, func(t *testing.T) {
				t.Parallel()

				mux := http.NewServeMux()
				mux.HandleFunc("/a/old", redirect(status, "../new?x=1#part"))
				mux.HandleFunc("/new", answer(http.StatusAccepted))
				server, received := serve(t, mux.ServeHTTP, configure)
				r := request(t, server.URL+"/a/old")
				r.Own = map[string]string{"Authorization": "Bearer abc"}

				outcome := sender(t, server).Send(t.Context(), r)
				want := hook.Outcome{Class: hook.ClassDelivered, Status: http.StatusAccepted, URL: server.URL + "/new?x=1", Body: []byte{}}
				same(t, outcome, want)
				first, second := <-received, <-received
				if second.method != http.MethodPost || second.body != payload || second.path != "/new?x=1" {
					t.Errorf("redirected to %s %s %q; want POST /new?x=1 %q", second.method, second.path, second.body, payload)
				}
				for _, name := range []string{"Webhook-Signature", "Webhook-Id", "Authorization", "Content-Type", "User-Agent"} {
					if got, want := second.header.Get(name), first.header.Get(name); got != want || got == "" {
						t.Errorf("redirected with %s: %q; want %q", name, got, want)
					}
				}
			})
		}
	}
}

func TestSender_Send_redirectsThatEndTheAttempt(t *testing.T) {
	t.Parallel()

	const prefix = "The endpoint redirected to a URL that is refused: it "
	tests := []struct {
		name     string
		status   int
		location string
		class    hook.Class
		text     string
	}{
		{name: "303 asks for a GET", status: 303, location: "/new", class: hook.ClassRedirect, text: "The endpoint answered 303 See Other, which asks for a GET without the event: let it answer 2xx, or redirect with 307 or 308."},
		{name: "300 offers a choice", status: 300, location: "/new", class: hook.ClassRedirect, text: "The endpoint answered 300 Multiple Choices."},
		{name: "304 is for a conditional GET", status: 304, location: "", class: hook.ClassRedirect, text: "The endpoint answered 304 Not Modified."},
		{name: "a missing Location", status: 307, location: "", class: hook.ClassRedirect, text: "The endpoint redirected without a valid Location."},
		{name: "an invalid Location", status: 302, location: "https://%zz/", class: hook.ClassRedirect, text: "The endpoint redirected without a valid Location."},
		{name: "a loop", status: 308, location: "/", class: hook.ClassRedirect, text: "The endpoint redirected more than 3 times."},
		{name: "from https to http", status: 307, location: "http://127.0.0.1/", class: hook.ClassBlocked, text: "The endpoint redirected from https to http."},
		{name: "to another scheme", status: 307, location: "ftp://127.0.0.1/", class: hook.ClassBlocked, text: prefix + "must begin with https://."},
		{name: "to a user", status: 307, location: "https://user:pass@127.0.0.1/", class: hook.ClassBlocked, text: prefix + "must not hold a user name or password."},
		{name: "to instance metadata", status: 301, location: "https://169.254.169.254/latest/", class: hook.ClassBlocked, text: prefix + "must not lead to a private, loopback or otherwise reserved address."},
		{name: "to the runtime API", status: 308, location: "https://127.0.0.1:9001/", class: hook.ClassBlocked, text: prefix + "must not lead to a private, loopback or otherwise reserved address."},
		{name: "to a long URL", status: 302, location: "/" + strings.Repeat("a", hook.MaxURL), class: hook.ClassBlocked, text: prefix + "must be at most 2048 bytes."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, received := serve(t, redirect(tt.status, tt.location), withTLS)
			outcome := sender(t, server).Send(t.Context(), request(t, server.URL+"/"))
			want := hook.Outcome{Class: tt.class, Status: tt.status, Error: tt.text, URL: server.URL + "/", Body: []byte("moved")}
			if tt.status == http.StatusNotModified {
				want.Body = []byte{} // no body
			}
			same(t, outcome, want)
			requests := 1
			if tt.location == "/" {
				requests = 4
			}
			if len(received) != requests {
				t.Errorf("the server received %d requests; want %d", len(received), requests)
			}
		})
	}
}

func TestSender_Send_followsThreeRedirectsAndNotFour(t *testing.T) {
	t.Parallel()

	server, received := serve(t, func(w http.ResponseWriter, r *http.Request) {
		left, _ := strconv.Atoi(r.URL.Path[1:])
		if left == 0 {
			w.WriteHeader(http.StatusOK)
			return
		}
		redirect(307, "/"+strconv.Itoa(left-1))(w, r)
	}, nil)

	if outcome := sender(t).Send(t.Context(), request(t, server.URL+"/3")); outcome.Class != hook.ClassDelivered || len(received) != 4 {
		t.Errorf("Send(3 redirects) = %+v after %d requests; want delivered after 4", outcome, len(received))
	}
	for len(received) > 0 {
		<-received
	}
	outcome := sender(t).Send(t.Context(), request(t, server.URL+"/4"))
	if outcome.Class != hook.ClassRedirect || outcome.Status != 307 || outcome.URL != server.URL+"/1" || len(received) != 4 {
		t.Errorf("Send(4 redirects) = %+v after %d requests; want redirect, 307 at /1 after 4", outcome, len(received))
	}
}

func TestSender_Send_keepsTheEndpointsHeadersFromOtherHosts(t *testing.T) {
	t.Parallel()

	elsewhere := http.NewServeMux()
	other, atOther := serve(t, elsewhere.ServeHTTP, nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/old", redirect(307, other.URL+"/1"))
	mux.HandleFunc("/back", answer(http.StatusOK))
	server, atServer := serve(t, mux.ServeHTTP, nil)
	back := server.URL + "/back"
	elsewhere.HandleFunc("/1", redirect(307, "/2"))
	elsewhere.HandleFunc("/2", redirect(307, back))

	r := request(t, server.URL+"/old")
	r.Own = map[string]string{"Authorization": "Bearer abc", "X-Api-Key": "abc"}
	if outcome := sender(t).Send(t.Context(), r); outcome.Class != hook.ClassDelivered || outcome.URL != back {
		t.Fatalf("Send(...) = %+v; want delivered at %s", outcome, back)
	}

	first := <-atServer
	if first.header.Get("Authorization") != "Bearer abc" || first.header.Get("X-Api-Key") != "abc" {
		t.Errorf("the endpoint got %v; want its own headers", first.header)
	}
	for where, g := range map[string]got{
		"another host": <-atOther, "another host, redirected by itself": <-atOther, "the endpoint after another host": <-atServer,
	} {
		if g.header.Get("Authorization") != "" || g.header.Get("X-Api-Key") != "" {
			t.Errorf("%s got %v; want none of the endpoint's own headers", where, g.header)
		}
		if got, want := g.header.Get("Webhook-Signature"), first.header.Get("Webhook-Signature"); got != want || g.body != payload {
			t.Errorf("%s got %q signed %q; want %q signed %q", where, g.body, got, payload, want)
		}
	}
}

func TestSender_Send_namesTheURLThatDoesNotAnswer(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	mux.HandleFunc("/old", redirect(307, "/new"))
	mux.HandleFunc("/new", func(w http.ResponseWriter, _ *http.Request) { abort(w) })
	server, _ := serve(t, mux.ServeHTTP, func(server *httptest.Server) {
		server.Config.SetKeepAlivesEnabled(false) // so that the transport does not repeat the second request
		server.Start()
	})
	same(t, sender(t).Send(t.Context(), request(t, server.URL+"/old")), hook.Outcome{
		Class: hook.ClassReset, Error: "The endpoint closed the connection before it answered.", URL: server.URL + "/new",
	})
}

// The record shows the request that got the answer: without the headers that a redirect to another
// origin left out, and saying so.
func TestSender_Send_describesTheRequestAfterARedirect(t *testing.T) {
	t.Parallel()

	const away = " It was redirected to another origin, without the endpoint's own headers and client certificate: set the URL to the last one."
	other, _ := serve(t, answer(http.StatusUnauthorized), nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/here", answer(http.StatusUnauthorized))
	mux.HandleFunc("/within", redirect(307, "/here"))
	mux.HandleFunc("/away", redirect(307, other.URL))
	back, _ := serve(t, mux.ServeHTTP, nil)
	there, _ := serve(t, redirect(307, back.URL+"/here"), nil)
	mux.HandleFunc("/and-back", redirect(307, there.URL))
	for _, tt := range []struct {
		path  string
		own   map[string]string
		shown bool
		end   string
	}{
		{path: "/here", own: map[string]string{"X-Key": "hush"}, shown: true, end: "Unauthorized."},
		{path: "/within", own: map[string]string{"X-Key": "hush"}, shown: true, end: "Unauthorized."},
		{path: "/away", own: map[string]string{"X-Key": "hush"}, shown: false, end: "Unauthorized." + away},
		{path: "/and-back", own: map[string]string{"X-Key": "hush"}, shown: false, end: "Unauthorized." + away},
		{path: "/away", own: nil, shown: false, end: "Unauthorized."},
	} {
		r := request(t, back.URL+tt.path)
		r.Own = tt.own
		outcome := sender(t).Send(t.Context(), r)
		if _, shown := outcome.Sent["X-Key"]; shown != tt.shown || outcome.Sent["Webhook-Signature"] == "" || !strings.HasSuffix(outcome.Error, tt.end) {
			t.Errorf("%s: sent %v, %q; want X-Key %t, and an error that ends in %q", tt.path, outcome.Sent, outcome.Error, tt.shown, tt.end)
		}
	}
}

// TestSender_Send_keepsToOneOrigin checks that a receiver that was not asked gets no request where
// receivers are asked: the error names the address whose receiver can be asked.
func TestSender_Send_keepsToOneOrigin(t *testing.T) {
	t.Parallel()

	other, reached := serve(t, answer(http.StatusOK), nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/same", redirect(307, "/new"))
	mux.HandleFunc("/new", answer(http.StatusAccepted))
	mux.HandleFunc("/other", redirect(307, other.URL+"/hooks?x=1"))
	mux.HandleFunc("/twice", redirect(307, "/other"))
	server, received := serve(t, mux.ServeHTTP, nil)
	s := sender(t)
	s.OneOrigin = true
	if outcome := s.Send(t.Context(), request(t, server.URL+"/same")); outcome.Class != hook.ClassDelivered || outcome.URL != server.URL+"/new" {
		t.Errorf("Send of a redirect within the origin = %+v; want it followed", outcome)
	}
	for _, path := range []string{"/other", "/twice"} {
		outcome := s.Send(t.Context(), request(t, server.URL+path))
		want := "The endpoint redirected to another origin, whose receiver has not been asked: set the URL to " + other.URL + "/hooks?x=1"
		if outcome.Class != hook.ClassRedirect || outcome.Error != want || outcome.URL != server.URL+"/other" {
			t.Errorf("Send of a redirect to another origin = %+v; want %q", outcome, want)
		}
	}
	if len(received) != 5 || len(reached) != 0 {
		t.Errorf("%d requests, and %d to the other origin; want 5 and 0", len(received), len(reached))
	}
}
