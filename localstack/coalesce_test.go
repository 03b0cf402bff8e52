//go:build e2e

package localstack_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"

	"surehook/verify"
)

// A storm reaches an endpoint without coalescing in a request per event, and an endpoint
// with coalescing in few requests, each event once. Of the events with one key, only the
// newest arrives. STORM is the number of events, a multiple of 100.
func TestAStormIsCoalesced(t *testing.T) {
	t.Parallel()

	b := setup(t)
	storm := 300
	if size := os.Getenv("STORM"); size != "" {
		var err error
		if storm, err = strconv.Atoi(size); err != nil || storm < 100 || storm%100 != 0 {
			t.Fatalf("STORM is %q; want a multiple of 100", size)
		}
	}
	b.endpoint("plain", map[string]any{"event_types": []string{"order.created"}})
	together := b.endpoint("together", map[string]any{"event_types": []string{"order.created"}, "coalesce": map[string]any{"window": "5s"}})
	var posted []string
	for range storm / 100 {
		b.renew()
		posted = append(posted, b.postMany(100)...)
	}
	for n := 100; n <= storm; n += 100 {
		b.renew()
		b.arrivals("plain", n)
	}
	wanted := 100
	var arrived []string
	more := func() bool {
		arrived = nil
		for _, r := range world.receiver.Requests(b.path("together")) {
			events, err := verify.Events(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range r.Verified {
				if err != nil {
					t.Error(err)
				}
			}
			for _, e := range events {
				arrived = append(arrived, e.ID)
			}
		}
		return len(arrived) >= wanted
	}
	for ; wanted <= storm; wanted += 100 {
		b.renew()
		b.until("more events of the storm arrive", more)
	}
	slices.Sort(posted)
	slices.Sort(arrived)
	if !slices.Equal(posted, slices.Compact(arrived)) {
		t.Errorf("%d events arrived; want the %d of the storm", len(arrived), storm)
	}
	requests := len(world.receiver.Requests(b.path("together")))
	t.Logf("%d events: %d requests without coalescing, %d with", storm, len(world.receiver.Requests(b.path("plain"))), requests)
	if requests > storm/5 {
		t.Errorf("%d requests for %d events; want a fifth at most", requests, storm)
	}

	b.call(http.MethodPatch, "/endpoints/"+together.ID, map[string]any{"event_types": []string{"stock.changed"}, "coalesce": map[string]any{"window": "5s", "key": "/sku"}}, http.StatusOK, nil)
	var events []map[string]any
	for i := range 10 {
		events = append(events, map[string]any{"event_type": "stock.changed", "payload": map[string]any{"sku": "a", "left": i}})
	}
	b.renew()
	b.call(http.MethodPost, "/events/batch", map[string]any{"events": events}, http.StatusAccepted, nil)
	b.awaitListed(together.ID, "superseded", 9)
	got := b.arrivals("together", requests+1)
	newest, err := verify.Events(got[requests].Body)
	if err != nil || len(newest) != 1 {
		t.Fatalf("the last request has %d events, %v; want the newest alone", len(newest), err)
	}
	var stock struct {
		SKU string `json:"sku"`
	}
	if err := json.Unmarshal(newest[0].Payload, &stock); err != nil || stock.SKU != "a" {
		t.Errorf("the payload is %s, %v; want one of the key", newest[0].Payload, err)
	}
}
