package dev_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/webhook"
)

// The 10,000 events of a storm come in about 100 requests, each event once.
func TestServer_CoalescesAStorm(t *testing.T) {
	t.Parallel()

	const storm, post = 10_000, 100
	w := newWorld(t)
	w.call(http.MethodPost, "/v1/tenants/acme/endpoints", fmt.Sprintf(`{"url": %q, "coalesce": {"window": "1s"}}`, w.receiver.URL+"/storm"), http.StatusCreated, nil)
	body := `{"events": [` + strings.Join(slices.Repeat([]string{`{"event_type": "order.paid", "payload": 1}`}, post), ",") + `]}`
	var want, got []string
	for range storm / post {
		var accepted struct{ Data []struct{ ID string } }
		w.call(http.MethodPost, "/v1/tenants/acme/events/batch", body, http.StatusAccepted, &accepted)
		for _, e := range accepted.Data {
			want = append(want, e.ID)
		}
	}
	requests := 0
	for ; len(got) < storm; requests++ {
		all, err := w.receiver.Await(t.Context(), "/storm", requests+1)
		if err != nil {
			t.Fatal(err)
		}
		events, err := webhook.Events(all[requests].Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, e.ID)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("%d events arrived; want each of the %d once", len(got), len(want))
	}
	t.Logf("%d events: %d requests", storm, requests)
	if requests > storm/20 {
		t.Errorf("%d requests for %d events; want about %d", requests, storm, storm/post)
	}
}
