//go:build e2e

package localstack_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

func TestTwoFailuresThenSuccess(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil, receiver.Status(503), receiver.Status(500), receiver.Status(200))
	id := b.postOne()
	for i, r := range b.arrivals("a", 3) {
		if !r.Genuine() {
			t.Errorf("signature of attempt %d = %v; want a good one", i+1, r.Verified)
		}
	}
	if d := b.await(id, "delivered"); d.Attempts != 3 {
		t.Errorf("attempts = %d; want 3", d.Attempts)
	}
}

func TestTheLastFailureIsADeadLetter(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"retry": schedule("1s")}, receiver.Status(503))
	id := b.postOne()
	if d := b.await(id, "dead"); d.Reason != "exhausted" || d.Attempts != 2 {
		t.Errorf("delivery = %+v; want it exhausted after 2 attempts", d)
	}
	b.wantDeadLetter(id, "exhausted", 2, http.StatusServiceUnavailable)
}

func TestARejectionIsDeadAtOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil, receiver.Status(404))
	id := b.postOne()
	if d := b.await(id, "dead"); d.Reason != "rejected" || d.Attempts != 1 || d.Last.Status != http.StatusNotFound {
		t.Errorf("delivery = %+v; want it rejected by the first attempt's 404", d)
	}
	b.wantDeadLetter(id, "rejected", 1, http.StatusNotFound)
	b.onlyA(1)
}

func TestListsOfStatusesDecideAboutRetries(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"retry_on": []int{404}, "give_up_on": []int{501}}, receiver.Status(404), receiver.Status(501))
	id := b.postOne()
	if d := b.await(id, "dead"); d.Reason != "rejected" || d.Attempts != 2 || d.Last.Status != http.StatusNotImplemented {
		t.Errorf("delivery = %+v; want a retry after 404, and it rejected by the second attempt's 501", d)
	}
	b.wantDeadLetter(id, "rejected", 2, http.StatusNotImplemented)
}

func TestAnEndpointThatIsGoneIsDisabled(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil, receiver.Status(410))
	id := b.postOne()
	if d := b.await(id, "dead"); d.Reason != "gone" {
		t.Errorf("reason = %q; want gone", d.Reason)
	}
	b.wantDeadLetter(id, "gone", 1, http.StatusGone)
	var got stack.Endpoint
	b.call(http.MethodGet, "/endpoints/"+e.ID, nil, http.StatusOK, &got)
	if got.Status != "disabled" || got.Reason != "gone" {
		t.Errorf("endpoint = %+v; want it disabled, gone", got)
	}
	b.await(b.postOne(), "parked")
}

// wantDeadLetter waits for the delivery's one dead letter.
func (b *bench) wantDeadLetter(delivery, reason string, attempts, status int) {
	b.Helper()
	got, err := world.deadLetters.await(b.ctx, delivery)
	if err != nil {
		b.Fatal(err)
	}
	if l := got[0]; len(got) != 1 || l.Reason != reason || l.Attempts != attempts || l.LastStatus != status || l.Tenant != b.tenant {
		b.Errorf("dead letters of %s = %+v; want one: %s after %d attempts, status %d", delivery, got, reason, attempts, status)
	}
}

func TestRetryAfterIsHonored(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const wait = 4 * time.Second
	b.endpoint("a", nil, receiver.RetryAfter(429, wait), receiver.Status(200))
	id := b.postOne()
	got := b.arrivals("a", 2)
	if apart := got[1].At.Sub(got[0].At); apart < wait {
		t.Errorf("the second attempt came %v after the first; want %v or more, as asked", apart, wait)
	}
	b.await(id, "delivered")
}

func TestARedirectIsFollowedWithTheSameBody(t *testing.T) {
	t.Parallel()

	for _, status := range []int{302, 307} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e := b.endpoint("old", nil, receiver.Redirect(status, b.path("new")))
			world.receiver.Trust(b.path("new"), e.Secret)
			id := b.postOne()
			got := b.arrivals("new", 1)[0]
			if got.Method != http.MethodPost || string(got.Body) != `{"n":1}` || !got.Genuine() {
				t.Errorf("redirected request = %s %q, signature %v; want the same signed POST", got.Method, got.Body, got.Verified)
			}
			if d := b.await(id, "delivered"); !strings.HasSuffix(d.Last.URL, b.path("new")) || d.Attempts != 1 {
				t.Errorf("delivery = %+v; want one attempt, answered by %s", d, b.path("new"))
			}
		})
	}
}

func TestASlowEndpointIsCutAndItsNeighboursAreNot(t *testing.T) {
	t.Parallel()

	b := setup(t)
	slow := b.endpoint("slow", map[string]any{"timeout": "1s", "retry": schedule("10m")}, receiver.Hang(time.Minute))
	b.endpoint("left", nil)
	b.endpoint("right", nil)
	for _, queued := range b.deliveries(b.post("order.created", `{}`)) {
		if queued.Endpoint != slow.ID {
			b.await(queued.ID, "delivered")
			continue
		}
		if d := b.await(queued.ID, "retrying"); d.Last.Class != "timeout" || d.Attempts != 1 {
			t.Errorf("slow delivery = %+v; want one attempt, cut", d)
		}
	}
	b.arrivals("left", 1)
	b.arrivals("right", 1)
}
