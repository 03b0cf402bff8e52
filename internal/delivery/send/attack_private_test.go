package send_test

import (
	"net/http"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestAttack_publicSenderTakesPrivate: send.Sender itself does not know that the request of a private
// endpoint is not for its network. Today every caller keeps it away: attempt.Maker by Remote, the
// handlers by senderFor. One line in Post would hold it for each later caller, too.
func TestAttack_publicSenderTakesPrivate(t *testing.T) {
	t.Parallel()

	server, received := serve(t, func(http.ResponseWriter, *http.Request) {}, nil)
	r := request(t, server.URL+"/")
	r.Endpoint.Tenant = "acme"
	r.Endpoint.SetOrigin("", hook.EgressPrivate)
	if outcome := sender(t).Send(t.Context(), r); outcome.Class != hook.ClassBlocked || len(received) != 0 {
		t.Errorf("Send = %s, %d requests; want blocked", outcome.Class, len(received))
	}
}
