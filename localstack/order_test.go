//go:build e2e

package localstack_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

func TestEventsOfAKeyComeInOrder(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"ordered": true}, receiver.Status(404), receiver.Status(503), receiver.Status(200))
	event := func(n int) map[string]any {
		return map[string]any{"event_type": "order.created", "payload": map[string]int{"n": n}, "ordering_key": "order-7"}
	}
	var first stack.Accepted
	b.call(http.MethodPost, "/events", event(1), http.StatusAccepted, &first)
	head := b.one(first)
	b.await(head, "dead")
	const last = 20
	var others []map[string]any
	for n := 2; n <= last; n++ {
		others = append(others, event(n))
	}
	b.call(http.MethodPost, "/events/batch", map[string]any{"events": others}, http.StatusAccepted, nil)
	b.call(http.MethodPost, "/deliveries/"+head+"/discard", map[string]any{"note": "they left"}, http.StatusOK, nil)

	for i, r := range b.arrivals("a", last+1) { // the second one is tried twice
		n := max(1, i)
		if i == 1 {
			n = 2
		}
		if got := r.Header.Get("X-Webhook-Ordering-Number"); string(r.Body) != fmt.Sprintf(`{"n":%d}`, n) || got != strconv.Itoa(n) {
			t.Errorf("request %d has number %q and body %s; want those of event %d", i+1, got, r.Body, n)
		}
		if got, want := r.Header.Get("X-Webhook-Ordering-Skipped"), map[bool]string{true: "1"}[n == 2]; got != want {
			t.Errorf("request %d names %q as skipped; want %q", i+1, got, want)
		}
	}
}
