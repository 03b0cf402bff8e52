//go:build e2e

package localstack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// TestAnOutageParksAndReleases takes an endpoint through a whole outage. Five failures open the
// circuit, the next forty events cause no requests, one probe fails, and the next one succeeds.
// Then everything arrives.
func TestAnOutageParksAndReleases(t *testing.T) {
	t.Parallel()

	const failures, backlog = 5, 40
	b := setup(t)
	replies := []receiver.Reply{}
	for range failures + 1 { // failures to open the circuit, and the first probe
		replies = append(replies, receiver.Status(http.StatusServiceUnavailable))
	}
	replies = append(replies, receiver.Status(http.StatusOK))
	e := b.endpoint("a", map[string]any{
		"retry":   schedule("5s", "5s", "5s", "5s"),
		"circuit": map[string]any{"failures": failures, "cooldown": "15s", "max_cooldown": "60s"},
	}, replies...)

	var events []string // by age
	for range failures {
		events = append(events, b.post("order.created", `{}`).ID)
		b.arrivals("a", len(events))
	}
	b.awaitCircuit(e.ID, "open")
	events = append(events, b.postMany(backlog)...)

	// The five retries are due after 5 s, and are parked, too. No request is made until the
	// probe.
	parked := b.awaitParked(e.ID, failures+backlog)
	if got := len(world.receiver.Requests(b.path("a"))); got != failures {
		t.Errorf("%d requests while %d deliveries were parked; want the %d that opened the circuit", got, len(parked), failures)
	}

	requests := b.arrivals("a", failures+1+len(events))
	b.awaitCircuit(e.ID, "closed")
	arrived := requests[failures+1:]
	if gap := arrived[0].At.Sub(requests[failures].At); gap < 22*time.Second {
		t.Errorf("second probe %v after the first; want the cooldown of 22.5 s, half as long again", gap)
	}
	b.eachOnce(events, arrived)

	probed := 0 // any delivery may be the probe that failed
	for i, event := range events {
		want := 1 // of the backlog
		if i < failures {
			want = 2
		}
		d := b.await(b.one(stack.Accepted{ID: event, Deliveries: 1}), "delivered")
		if d.Attempts == want+1 {
			probed++
		} else if d.Attempts != want {
			t.Errorf("event %d was delivered after %d attempts; want %d, or one more for the probe that failed", i, d.Attempts, want)
		}
	}
	if probed != 1 {
		t.Errorf("%d deliveries were the probe that failed; want 1", probed)
	}
	b.onlyA(failures + 1 + len(events))
}

// eachOnce checks that each event arrived once. In-flight slots do not keep the order.
func (b *bench) eachOnce(events []string, arrived []receiver.Request) {
	b.Helper()
	position := make(map[string]int)
	for i, r := range arrived {
		id := r.Header.Get("Webhook-Id")
		if _, twice := position[id]; twice {
			b.Errorf("event %s arrived twice", id)
		}
		position[id] = i
	}
	for i := range events {
		if _, ok := position[events[i]]; !ok {
			b.Fatalf("event %d never arrived", i)
		}
	}
}

func TestResumeReleasesWhatWasParked(t *testing.T) {
	t.Parallel()

	for _, verbs := range [][2]string{{"pause", "resume"}, {"disable", "enable"}} {
		t.Run(verbs[0], func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			e := b.endpoint("a", nil)
			b.call(http.MethodPost, "/endpoints/"+e.ID+"/"+verbs[0], nil, http.StatusOK, nil)
			b.postMany(4)
			b.awaitParked(e.ID, 4)
			if got := len(world.receiver.Requests(b.path("a"))); got != 0 {
				t.Errorf("%d requests; want none", got)
			}
			b.call(http.MethodPost, "/endpoints/"+e.ID+"/"+verbs[1], nil, http.StatusOK, nil)
			b.onlyA(4)
		})
	}
}

func TestTheCircuitByHand(t *testing.T) {
	t.Parallel()

	b := setup(t)
	e := b.endpoint("a", nil)
	b.call(http.MethodPost, "/endpoints/"+e.ID+"/circuit/open", nil, http.StatusOK, nil)
	id := b.postOne()
	if d := b.await(id, "parked"); d.Reason != "circuit_open" {
		t.Errorf("reason = %q; want circuit_open", d.Reason)
	}
	b.call(http.MethodPost, "/endpoints/"+e.ID+"/circuit/reset", nil, http.StatusOK, nil)
	b.await(id, "delivered")
}

func TestTheRateLimitPaces(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"rate_per_second": 1})
	b.postMany(4)
	got := b.arrivals("a", 4)
	if took := got[3].At.Sub(got[0].At); took < 2*time.Second {
		t.Errorf("4 requests within %v; want them a second apart", took)
	}
}

// postMany posts n events in one batch and returns their ids by age.
func (b *bench) postMany(n int) []string {
	b.Helper()
	var events []map[string]any
	for i := range n {
		events = append(events, map[string]any{"event_type": "order.created", "payload": i})
	}
	var out struct{ Data []stack.Accepted }
	b.call(http.MethodPost, "/events/batch", map[string]any{"events": events}, http.StatusAccepted, &out)
	var ids []string
	for _, accepted := range out.Data {
		ids = append(ids, accepted.ID)
	}
	return ids
}

// awaitCircuit waits until the endpoint's circuit is in the state.
func (b *bench) awaitCircuit(endpoint, state string) {
	b.Helper()
	b.until(fmt.Sprintf("the circuit of %s is %s", endpoint, state), func() bool {
		var got struct {
			Circuit struct {
				State string `json:"state"`
			} `json:"circuit_state"`
		}
		b.call(http.MethodGet, "/endpoints/"+endpoint, nil, http.StatusOK, &got)
		return got.Circuit.State == state
	})
}

// awaitParked waits until n deliveries of the endpoint are parked.
func (b *bench) awaitParked(endpoint string, n int) []stack.Delivery {
	b.Helper()
	return b.awaitListed(endpoint, "parked", n)
}

// awaitListed waits until n deliveries of the endpoint are in the state.
func (b *bench) awaitListed(endpoint, state string, n int) []stack.Delivery {
	b.Helper()
	var page struct{ Data []stack.Delivery }
	b.until(fmt.Sprintf("%d deliveries of %s are %s", n, endpoint, state), func() bool {
		query := url.Values{"state": {state}, "limit": {"100"}}
		b.call(http.MethodGet, "/endpoints/"+endpoint+"/deliveries?"+query.Encode(), nil, http.StatusOK, &page)
		return len(page.Data) == n
	})
	return page.Data
}
