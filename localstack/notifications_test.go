//go:build e2e

package localstack_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/webhook"
)

// TestNotificationsAndTestEventsCoalesce takes what is not posted by the tenant to an
// endpoint that gets the events of a window together: the death of a delivery after a
// rejection (function deliver), of a parked delivery that grew too old (function breaker),
// and a test event (function manage).
func TestNotificationsAndTestEventsCoalesce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ops := b.endpoint("ops", map[string]any{"event_types": []string{"webhook.delivery.dead"}, "coalesce": map[string]any{"window": "1s"}})
	b.endpoint("rejects", map[string]any{"event_types": []string{"order.rejected"}}, receiver.Status(http.StatusNotFound))
	paused := b.endpoint("paused", map[string]any{"event_types": []string{"order.parked"}, "max_age": "1s"})
	b.call(http.MethodPost, "/endpoints/"+paused.ID+"/pause", nil, http.StatusOK, nil)

	parked := b.one(b.post("order.parked", `{}`))
	posted := time.Now() // at the latest
	b.await(parked, "parked")
	b.await(b.one(b.post("order.rejected", `{}`)), "dead")
	b.until("the parked delivery is too old", func() bool { return time.Since(posted) > 2*time.Second })
	b.call(http.MethodPost, "/endpoints/"+paused.ID+"/resume", nil, http.StatusOK, nil)
	if old := b.await(parked, "dead"); old.Reason != "expired" || old.Attempts != 0 {
		t.Errorf("the parked delivery = %+v; want it expired without an attempt", old)
	}
	b.call(http.MethodPost, "/endpoints/"+ops.ID+"/test", nil, http.StatusAccepted, nil)

	want := []string{"webhook.delivery.dead", "webhook.delivery.dead", "webhook.test"}
	var got []string
	b.until("ops gets both deaths and the test event", func() bool {
		got = nil
		for _, r := range world.receiver.Requests(b.path("ops")) {
			events, err := webhook.Events(r.Body)
			if err != nil || !r.Genuine() {
				t.Fatalf("request %s: %v, signature %v; want a signed batch", r.Body, err, r.Verified)
			}
			for _, e := range events {
				got = append(got, e.Type)
			}
		}
		return len(got) >= len(want)
	})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("ops got %v; want %v", got, want)
	}
	if n := len(world.receiver.Requests(b.path("paused"))); n != 0 {
		t.Errorf("the endpoint that was paused got %d requests; want none", n)
	}
}
