//go:build e2e

package localstack_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/localstack/stack"
	"surehook.example/surehook/localstack/webhook"
)

// A storm reaches an endpoint without coalescing in a request per event, and an endpoint
// with coalescing in few requests, each event once. STORM is the number of events, a
// multiple of 100.
//
// Before the storm both endpoints prove that they are fast: a new endpoint gets its
// events in few in-flight slots.
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
	b.endpoint("together", map[string]any{"event_types": []string{"order.created"}, "coalesce": map[string]any{"window": "5s"}})
	const proof = 200
	posted := b.postStorm(proof)
	b.stormArrives("together", proof)
	b.plainArrive(proof)
	before := map[string]int{"plain": proof, "together": len(world.receiver.Requests(b.path("together")))}

	began := time.Now()
	posted = append(posted, b.postStorm(storm)...)
	t.Logf("%d events accepted within %.1f s", storm, time.Since(began).Seconds())
	arrived := b.stormArrives("together", proof+storm)
	b.plainArrive(proof + storm)
	slices.Sort(posted)
	slices.Sort(arrived)
	if !slices.Equal(posted, slices.Compact(arrived)) {
		t.Errorf("%d events arrived; want the %d of the proof and the storm", len(arrived), len(posted))
	}
	requests := map[string]int{}
	for name, earlier := range before {
		got := world.receiver.Requests(b.path(name))
		requests[name] = len(got) - earlier
		t.Logf("%s: %d requests, the last %.1f s after the first post", name, requests[name], got[len(got)-1].At.Sub(began).Seconds())
	}
	if requests["together"] > storm/5 {
		t.Errorf("%d requests for %d events; want a fifth at most", requests["together"], storm)
	}
}

// postStorm posts the events, 100 per request and four requests at a time, and returns
// the ids.
func (b *bench) postStorm(storm int) []string {
	b.Helper()
	const size, posters = 100, 4
	events := slices.Repeat([]map[string]any{{"event_type": "order.created", "payload": map[string]any{"order": 4711}}}, size)
	posted := make([][]stack.Accepted, storm/size)
	var group errgroup.Group
	group.SetLimit(posters)
	for i := range posted {
		group.Go(func() error {
			var out struct{ Data []stack.Accepted }
			err := world.api.Call(b.Context(), http.MethodPost, "/v1/tenants/"+b.tenant+"/events/batch", map[string]any{"events": events}, http.StatusAccepted, &out)
			posted[i] = out.Data
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	var ids []string
	for _, accepted := range slices.Concat(posted...) {
		ids = append(ids, accepted.ID)
	}
	return ids
}

// plainArrive waits until endpoint "plain" has got n requests. The wait is over when no
// 100 more arrive within the limit.
func (b *bench) plainArrive(n int) {
	b.Helper()
	for wanted := 100; wanted <= n; wanted += 100 {
		b.renew()
		b.arrivals("plain", wanted)
	}
}

// stormArrives waits until the endpoint has got n events in batches, and returns their
// ids. The wait is over when no 100 events more arrive within the limit.
func (b *bench) stormArrives(name string, n int) (ids []string) {
	b.Helper()
	read := 0
	for wanted := 100; wanted <= n; wanted += 100 {
		b.renew()
		b.until(fmt.Sprintf("%d events arrive at %s", wanted, name), func() bool {
			for _, r := range world.receiver.Requests(b.path(name))[read:] {
				read++
				events, err := webhook.Events(r.Body)
				if err != nil || !r.Genuine() {
					b.Fatalf("request %d: %v, signature %v; want a signed batch", read, err, r.Verified)
				}
				for _, e := range events {
					ids = append(ids, e.ID)
				}
			}
			return len(ids) >= wanted
		})
	}
	return ids
}
