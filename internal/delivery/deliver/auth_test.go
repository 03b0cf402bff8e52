package deliver_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/world"
)

// authenticated gives the endpoint the authentication with the sealed text.
func authenticated(t *testing.T, e *hook.Endpoint, a hook.Auth, text string) {
	t.Helper()

	sealed, err := memory.Vault{}.Seal(t.Context(), text, e.Tenant, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.Auth = a
	e.Auth.Sealed = sealed
}

// Every request carries the credentials in addition to the endpoint's own headers, also the
// request of a process that takes over after a crash.
func TestProcessBatch_AuthenticatesAfterAnyCrash(t *testing.T) {
	t.Parallel()

	want := map[string]string{"Authorization": "Basic dTpwOnc=", "X-Env": "prod"} // u:p:w
	for at := range 13 {
		t.Run(fmt.Sprintf("dies at %d", at), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.InTurn(503, 200)
			id := w.Post(w.Endpoint(func(e *hook.Endpoint) {
				authenticated(t, e, hook.Auth{Type: hook.AuthBasic, Username: "u"}, hook.AuthText(hook.AuthBasic, "p:w"))
				e.SealedHeaders = map[string][]byte{"X-Env": sealHeader(t, e, "X-Env", "prod")}
			}))[0]
			w.Crash.Arm((at+1)/2, at%2 == 0)
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) < 2 || len(w.Posts) > 3 {
				t.Errorf("delivery is %s after %d requests; want it delivered after two, and one more after a crash", d.State, len(w.Posts))
			}
			for i, post := range w.Posts {
				if diff := cmp.Diff(want, post.Own); diff != "" {
					t.Errorf("headers of request %d (-want +got):\n%s", i+1, diff)
				}
			}
		})
	}
}

// Every request carries the grant of the access token, also the request of a process that takes
// over after a crash. If there is no task, the attempt fails: it is recorded with the reason,
// and retried.
func TestProcessBatch_GrantsAnAccessTokenAfterAnyCrash(t *testing.T) {
	t.Parallel()

	oauth := hook.OAuth{TokenURL: "https://id.example.com/token", ClientID: "c", Scope: "s"}
	for at := range 13 {
		t.Run(fmt.Sprintf("dies at %d", at), func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			first := true
			w.Answer = func(send.Request) hook.Outcome {
				if first {
					first = false
					return hook.Outcome{Class: hook.ClassToken, Error: "No access token: the token endpoint answered 401 Unauthorized.", URL: oauth.TokenURL}
				}
				return hook.Outcome{Class: hook.ClassDelivered, Status: 200}
			}
			var endpoint hook.EndpointID
			id := w.Post(w.Endpoint(func(e *hook.Endpoint) {
				endpoint = e.ID
				authenticated(t, e, hook.Auth{Type: hook.AuthOAuth2, OAuth: oauth}, hook.AuthText(hook.AuthOAuth2, "hush"))
			}))[0]
			w.Crash.Arm((at+1)/2, at%2 == 0)
			w.Run()
			if d := w.Delivery(id); d.State != hook.StateDelivered || len(w.Posts) < 2 || len(w.Posts) > 3 {
				t.Errorf("delivery is %s after %d requests; want it delivered after two, and one more after a crash", d.State, len(w.Posts))
			}
			for i, post := range w.Posts {
				if diff := cmp.Diff(&send.Grant{For: endpoint, OAuth: oauth, Secret: "hush"}, post.Grant); diff != "" {
					t.Errorf("grant of request %d (-want +got):\n%s", i+1, diff)
				}
				if len(post.Own) != 0 {
					t.Errorf("headers of request %d are %v; want none", i+1, post.Own)
				}
			}
		})
	}
}

// The table was changed by hand: a text that was sealed for something else is never sent.
func TestProcessBatch_SendsNoTextOfAnotherAuthentication(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"another type": hook.AuthText(hook.AuthBasic, "p"), "a header": hook.HeaderText("Authorization", "x"), "a signing secret": "whsec_x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Answer = world.Always(200)
			w.Post(w.Endpoint(func(e *hook.Endpoint) { authenticated(t, e, hook.Auth{Type: hook.AuthBearer}, text) }))
			if _, failed := w.Invoke(hook.QueueLive); len(w.Posts) != 0 || failed != 1 {
				t.Errorf("%d requests, %d failed messages; want no request and a failed message", len(w.Posts), failed)
			}
		})
	}
}
