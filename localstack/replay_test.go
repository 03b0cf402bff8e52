//go:build e2e

package localstack_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// stubborn is a circuit with a high threshold, closed throughout the test.
func stubborn() map[string]any { return map[string]any{"failures": 100, "minimum": 1000} }

// TestReplayAfterAnOutage takes thirty dead deliveries of three endpoints from
// their analysis to the replay of the repaired endpoint's deliveries.
//
// The test reads the depth of a shared queue, so it runs before the concurrent
// tests.
func TestReplayAfterAnOutage(t *testing.T) { //nolint:paralleltest // see above
	const each = 10
	b := setup(t)
	ids := map[string]string{}
	for name, reply := range map[string]receiver.Reply{
		"unknown": receiver.Status(http.StatusUnauthorized),
		"down":    receiver.Status(http.StatusInternalServerError),
		"busy":    receiver.RetryAfter(http.StatusTooManyRequests, time.Second),
	} {
		ids[name] = b.endpoint(name, map[string]any{"retry": schedule("1s"), "circuit": stubborn()}, reply).ID
	}
	payloads := map[string]string{} // by the event's id
	for i := range each {
		payload := fmt.Sprintf("{ \"n\":\t%d, \"word\": \"\\u00e9\" }", i)
		payloads[b.post("order.created", payload).ID] = payload
	}
	began := time.Now()
	for _, id := range ids {
		b.awaitListed(id, "dead", each)
	}
	t.Logf("%d deliveries died within %v", 3*each, time.Since(began))
	b.renew()
	b.wantAnalysis(analysis{Period: "24h", Total: 3 * each, Complete: true, Groups: []group{
		{Endpoint: ids["unknown"], Class: "refused", Status: 401, Reason: "rejected", Count: each, MeanAttempts: 1, Pattern: "credentials"},
		{Endpoint: ids["down"], Class: "unavailable", Status: 500, Reason: "exhausted", Count: each, MeanAttempts: 2, Pattern: "outage"},
		{Endpoint: ids["busy"], Class: "throttled", Status: 429, Reason: "exhausted", Count: each, MeanAttempts: 2, Pattern: "throttled"},
	}})

	world.receiver.Script(b.path("down"), receiver.Status(http.StatusOK))
	b.wantPreview(map[string]any{"state": "dead"}, map[string]int{ids["unknown"]: each, ids["down"]: each, ids["busy"]: each})
	filter := map[string]any{"endpoint": ids["down"]}
	b.wantPreview(filter, map[string]int{ids["down"]: each})

	dead := b.awaitListed(ids["down"], "dead", each)
	b.replayBesideLiveTraffic(filter, each)
	b.wantTheSameAgain("down", payloads)
	b.wantPreview(filter, map[string]int{})
	for _, d := range dead {
		b.refusedAs(http.StatusConflict, "already_replayed", "/deliveries/"+d.ID+"/replay", nil)
	}

	b.renew()
	b.reconciled()
	for name, want := range map[string]int{"unknown": each, "down": 0, "busy": each} {
		b.awaitListed(ids[name], "dead", want)
	}
}

// TestALateEndpointGetsPastEvents adds an endpoint to earlier events: to one with a target,
// and to one that had no endpoint at all.
func TestALateEndpointGetsPastEvents(t *testing.T) {
	t.Parallel()

	b := setup(t)
	lonely := b.post("order.created", `{"n":1}`)
	b.endpoint("early", nil)
	shared := b.post("order.created", `{"n":2}`)
	b.await(b.one(shared), "delivered")
	late := b.endpoint("late", map[string]any{"event_types": []string{"order.*"}})

	var started, got job
	b.call(http.MethodPost, "/replays", map[string]any{"add_to": late.ID, "filter": map[string]any{}, "rate_per_second": 10}, http.StatusAccepted, &started)
	b.until(started.ID+" is finished", func() bool {
		b.call(http.MethodGet, "/replays/"+started.ID, nil, http.StatusOK, &got)
		return got.State == "finished" && got.InProgress == 0
	})
	want := job{ID: started.ID, State: "finished", Selected: 2, Enqueued: 2, Delivered: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the job differs (-want +got):\n%s", diff)
	}
	came := map[string]bool{}
	for _, r := range b.arrivals("late", 2) {
		came[r.Header.Get("Webhook-Id")] = r.Genuine()
	}
	if !came[lonely.ID] || !came[shared.ID] {
		t.Errorf("the late endpoint got %v; want %s and %s, well signed", came, lonely.ID, shared.ID)
	}
}

// replayBesideLiveTraffic replays the filter's deliveries at ten per second and
// waits until all n are delivered. Meanwhile another tenant's events arrive.
func (b *bench) replayBesideLiveTraffic(filter map[string]any, n int) {
	b.Helper()
	live := *b
	live.tenant += ".neighbour"
	live.endpoint("live", nil)
	var before, during []time.Duration
	for range 5 {
		before = append(before, live.latency())
	}

	began := time.Now()
	var started, got job
	b.call(http.MethodPost, "/replays", map[string]any{"filter": filter, "rate_per_second": 10}, http.StatusAccepted, &started)
	b.until(fmt.Sprintf("%s delivers all %d", started.ID, n), func() bool {
		during = append(during, live.latency())
		b.call(http.MethodGet, "/replays/"+started.ID, nil, http.StatusOK, &got)
		return got.State == "finished" && got.InProgress == 0 && got.Delivered == n
	})
	want := job{ID: started.ID, State: "finished", Selected: n, Enqueued: n, Delivered: n}
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("the job differs (-want +got):\n%s", diff)
	}
	b.Logf("the job took %v; a neighbour's events took %v before it, %v beside it", time.Since(began), before, during)
}

// job is the test's part of a replay.
type job struct {
	ID         string `json:"id"`
	State      string `json:"state"`
	Selected   int    `json:"selected"`
	Enqueued   int    `json:"enqueued"`
	Skipped    int    `json:"skipped"`
	Delivered  int    `json:"delivered"`
	Dead       int    `json:"dead"`
	Cancelled  int    `json:"cancelled"`
	InProgress int    `json:"in_progress"`
}

// latency posts an event and returns the time from the post to the receiver.
func (b *bench) latency() time.Duration {
	b.Helper()
	had := len(world.receiver.Requests(b.path("live")))
	posted := time.Now()
	accepted := b.post("order.created", `{}`)
	got := b.arrivals("live", had+1)[had]
	if got.Header.Get("Webhook-Id") != accepted.ID {
		b.Errorf("the neighbour got event %s; want %s", got.Header.Get("Webhook-Id"), accepted.ID)
	}
	return got.At.Sub(posted).Round(time.Millisecond)
}

// wantTheSameAgain checks that each event came to the endpoint three times,
// twice at first and then as a replay, with the same id and the same bytes.
func (b *bench) wantTheSameAgain(name string, payloads map[string]string) {
	b.Helper()
	came := map[string][]string{} // as attempt n of delivery d
	for _, r := range world.receiver.Requests(b.path(name)) {
		event := r.Header.Get("Webhook-Id")
		came[event] = append(came[event], r.Header.Get("X-Webhook-Delivery")+" "+r.Header.Get("X-Webhook-Attempt"))
		if string(r.Body) != payloads[event] || !r.Genuine() {
			b.Errorf("request of event %s = %q, signature %v; want %q, well signed", event, r.Body, r.Verified, payloads[event])
		}
	}
	want := map[string][]string{}
	for event := range payloads {
		for _, d := range b.deliveries(stack.Accepted{ID: event, Deliveries: 4}) { // three, and a replay
			if first := came[event]; len(first) == 3 && d.State == "delivered" {
				replayed := d.ID[:len(d.ID)-1] + "1"
				want[event] = []string{replayed + " 1", replayed + " 2", d.ID + " 1"}
			}
		}
	}
	if len(want) != len(payloads) {
		b.Errorf("%d events were replayed and delivered; want %d", len(want), len(payloads))
	}
	if diff := cmp.Diff(want, came); diff != "" {
		b.Errorf("the attempts differ (-want +got):\n%s", diff)
	}
}

// analysis is the test's part of an analysis of dead letters.
type analysis struct {
	Period   string  `json:"period"`
	Total    int     `json:"total"`
	Complete bool    `json:"complete"`
	Groups   []group `json:"groups"`
}

type group struct {
	Endpoint     string  `json:"endpoint_id"`
	Class        string  `json:"class"`
	Status       int     `json:"status"`
	Reason       string  `json:"reason"`
	Count        int     `json:"count"`
	MeanAttempts float64 `json:"mean_attempts"`
	Pattern      string  `json:"pattern"`
}

// wantAnalysis checks the analysis of the last day. Groups of equal size are
// sorted by endpoint id.
func (b *bench) wantAnalysis(want analysis) {
	b.Helper()
	slices.SortFunc(want.Groups, func(x, y group) int { return strings.Compare(x.Endpoint, y.Endpoint) })
	var got analysis
	b.call(http.MethodGet, "/dead-letters/analysis?period=24h", nil, http.StatusOK, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("the analysis differs (-want +got):\n%s", diff)
	}
}

// wantPreview checks a dry run's counts by endpoint and the sample.
func (b *bench) wantPreview(filter map[string]any, want map[string]int) {
	b.Helper()
	var got struct {
		Total    int  `json:"total"`
		Complete bool `json:"complete"`
		Counts   []struct {
			Endpoint string `json:"endpoint_id"`
			Count    int    `json:"count"`
		} `json:"by_endpoint"`
		Sample []stack.Delivery `json:"sample"`
	}
	b.call(http.MethodPost, "/replays", map[string]any{"filter": filter, "dry_run": true}, http.StatusOK, &got)
	counts, total := map[string]int{}, 0
	for _, c := range got.Counts {
		counts[c.Endpoint] = c.Count
	}
	for n := range maps.Values(want) {
		total += n
	}
	if diff := cmp.Diff(want, counts); diff != "" || got.Total != total || !got.Complete || len(got.Sample) != min(total, 10) {
		b.Errorf("dry run of %v = %+v; want %d, all of them counted, with a sample", filter, got, total)
	}
	for _, d := range got.Sample {
		if want[d.Endpoint] == 0 || d.State != "dead" {
			b.Errorf("sample of %v = %+v; want a dead delivery of %v", filter, d, want)
		}
	}
}

// refusedAs posts and expects a problem with the status and code.
func (b *bench) refusedAs(status int, code, path string, body []byte) {
	b.Helper()
	resp, err := world.api.Do(b.ctx, http.MethodPost, "/v1/tenants/"+b.tenant+path, body)
	if err != nil {
		b.Fatal(err)
	}
	wantProblem(b.T, resp, status, code, "")
}

// reconciled runs the breaker's reconciliation until the queue's depth equals
// the number of dead deliveries in the table. A reconciliation hides the
// remaining messages for a minute, and a concurrent run does not see hidden
// messages.
func (b *bench) reconciled() {
	b.Helper()
	before, err := world.deadLetters.depth(b.ctx)
	if err != nil {
		b.Fatal(err)
	}
	var depth, dead int
	b.until("there are as many dead letters as dead deliveries", func() bool {
		if err = world.stack.Invoke(b.ctx, "breaker", map[string]bool{"reconcile": true}); err != nil {
			b.Fatal(err)
		}
		if depth, err = world.deadLetters.depth(b.ctx); err != nil {
			b.Fatal(err)
		}
		dead = b.deadInTable()
		return depth == dead
	})
	b.Logf("reconciliation: from %d dead letters to %d, for %d dead deliveries", before, depth, dead)
}

// deadInTable counts the dead deliveries of all tenants.
func (b *bench) deadInTable() int {
	b.Helper()
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(world.stack.AWS), &dynamodb.ScanInput{
		TableName: &world.stack.TableName, Select: dbtypes.SelectCount,
		FilterExpression:         aws.String("begins_with(#sk, :delivery) AND #state = :dead"),
		ExpressionAttributeNames: map[string]string{"#sk": names.SortKey, "#state": "state"},
		ExpressionAttributeValues: map[string]dbtypes.AttributeValue{
			":delivery": &dbtypes.AttributeValueMemberS{Value: "delivery#"},
			":dead":     &dbtypes.AttributeValueMemberS{Value: "dead"},
		},
	})
	n := 0
	for pages.HasMorePages() {
		page, err := pages.NextPage(b.ctx)
		if err != nil {
			b.Fatal(err)
		}
		n += int(page.Count)
	}
	return n
}
