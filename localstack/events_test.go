//go:build e2e

package localstack_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// An endpoint gets the events of its filter.
func TestAFilterKeepsEventsBack(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"filter": map[string]any{"$or": []any{map[string]any{"payload": map[string]any{"n": []any{1}}}, map[string]any{"type": []any{"fence"}}}}})
	b.endpoint("b", map[string]any{"filter": map[string]any{"payload": map[string]any{"n": []any{2}}}})
	b.postOne()
	b.onlyA(1)
	if got := world.receiver.Requests(b.path("b")); len(got) != 0 {
		t.Errorf("the endpoint whose filter does not match got %d requests; want none", len(got))
	}
}

func TestAnEventReachesEveryEndpoint(t *testing.T) {
	t.Parallel()

	b := setup(t)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		b.endpoint(name, nil)
	}
	accepted := b.post("order.created", `{"n":1}`)
	if accepted.Deliveries != len(names) || accepted.Duplicate {
		t.Fatalf("accepted = %+v; want %d deliveries, no duplicate", accepted, len(names))
	}
	for _, name := range names {
		got := b.arrivals(name, 1)[0]
		if !got.Genuine() {
			t.Errorf("%s: signature = %v; want a good one", name, got.Verified)
		}
		if id := got.Header.Get("Webhook-Id"); id != accepted.ID {
			t.Errorf("%s: webhook-id = %q; want %q", name, id, accepted.ID)
		}
	}
	for _, queued := range b.deliveries(accepted) {
		if d := b.await(queued.ID, "delivered"); d.Attempts != 1 || d.Last.Status != http.StatusOK {
			t.Errorf("delivery %s = %+v; want one attempt, answered 200", queued.ID, d)
		}
	}
}

func TestAnEndpointGetsTheTypesItSubscribedTo(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ids := map[string]string{}
	for name, types := range map[string][]string{
		"exact":  {"order.created"},
		"prefix": {"order.*"},
		"all":    {"*"},
		"other":  {"invoice.paid", "orders.*"},
	} {
		ids[b.endpoint(name, map[string]any{"event_types": types}).ID] = name
	}

	tests := []struct {
		eventType string
		want      []string
	}{
		{eventType: "order.created", want: []string{"all", "exact", "prefix"}},
		{eventType: "order.paid", want: []string{"all", "prefix"}},
		{eventType: "order", want: []string{"all"}},
		{eventType: "invoice.paid", want: []string{"all", "other"}},
		{eventType: "orders.created", want: []string{"all", "other"}},
	}
	for _, tt := range tests {
		var got []string
		for _, d := range b.deliveries(b.post(tt.eventType, `{}`)) {
			got = append(got, ids[b.await(d.ID, "delivered").Endpoint])
		}
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("endpoints that got %s (-want +got):\n%s", tt.eventType, diff)
		}
	}
}

func TestTheSameIdempotencyKeyIsOneEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	event := map[string]any{"event_type": "order.created", "payload": map[string]any{"n": 1}, "idempotency_key": "k1"}

	var first, second stack.Accepted
	b.call(http.MethodPost, "/events", event, http.StatusAccepted, &first)
	b.await(b.one(first), "delivered")
	b.call(http.MethodPost, "/events", event, http.StatusAccepted, &second)
	if first.Duplicate || !second.Duplicate || first.ID != second.ID {
		t.Errorf("accepted = %+v, then %+v; want the same event, the second time as a duplicate", first, second)
	}
	event["payload"] = map[string]any{"n": 2}
	b.call(http.MethodPost, "/events", event, http.StatusConflict, nil)
	b.onlyA(1)
}

func TestTwoRacingPostsAreOneEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	event := map[string]any{"event_type": "order.created", "payload": 1, "idempotency_key": "race"}

	var answers [2]stack.Accepted
	var errs [2]error
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			errs[i] = world.api.Call(b.ctx, http.MethodPost, "/v1/tenants/"+b.tenant+"/events", event, http.StatusAccepted, &answers[i])
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if answers[0].ID != answers[1].ID || answers[0].Duplicate == answers[1].Duplicate {
		t.Errorf("accepted = %+v and %+v; want the same event, once as a duplicate", answers[0], answers[1])
	}
	b.await(b.one(answers[0]), "delivered")
	b.onlyA(1)
}

func TestABatchAnswersForEachOfItsEvents(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", nil)
	var out struct {
		Data []struct {
			stack.Accepted
			Error json.RawMessage `json:"error"`
		} `json:"data"`
	}
	b.call(http.MethodPost, "/events/batch", map[string]any{"events": []map[string]any{
		{"event_type": "order.created", "payload": 1},
		{"event_type": "no spaces please", "payload": 2},
		{"event_type": "order.created", "payload": 3},
	}}, http.StatusMultiStatus, &out)
	if len(out.Data) != 3 {
		t.Fatalf("results = %+v; want three", out.Data)
	}
	if out.Data[1].Error == nil || out.Data[1].ID != "" {
		t.Errorf("result of the bad event = %+v; want an error and no id", out.Data[1])
	}
	for _, i := range []int{0, 2} {
		if r := out.Data[i]; r.Error != nil || r.Deliveries != 1 {
			t.Errorf("result %d = %+v; want one delivery and no error", i, r)
			continue
		}
		b.await(b.one(out.Data[i].Accepted), "delivered")
	}
	b.onlyA(2)
}

func TestThePayloadArrivesByteForByte(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, payload string }{
		{name: "white space inside", payload: "{ \"a\" :\t1 ,\n  \"b\":[ 1,2 ] }"},
		{name: "unicode escapes", payload: `{"a":"\u00e9\ud83d\ude00\u2028\/"}`},
		{name: "raw unicode", payload: "{\"a\":\"é😀\u2028\u2029<&>\"}"},
		{name: "big numbers", payload: `{"a":12345678901234567890123,"b":0.10000000000000000000001,"c":1.0,"d":1E+2,"e":-0}`},
		{name: "key order", payload: `{"z":1,"a":2,"m":3}`},
		{name: "a string", payload: `"just a string"`},
		{name: "null", payload: `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.endpoint("a", nil)
			body := []byte(`{"event_type":"order.created", "payload": ` + tt.payload + ` }`)
			resp, err := world.api.Do(b.ctx, http.MethodPost, "/v1/tenants/"+b.tenant+"/events", body)
			if err != nil || resp.Status != http.StatusAccepted {
				t.Fatalf("post = %d %s, %v; want 202", resp.Status, resp.Body, err)
			}
			got := b.arrivals("a", 1)[0]
			if string(got.Body) != tt.payload {
				t.Errorf("body = %q; want %q", got.Body, tt.payload)
			}
			if !got.Genuine() {
				t.Errorf("signature = %v; want a good one", got.Verified)
			}
		})
	}
}

// Without a traceparent header in the post, the trace begins with the event: all attempts
// have the trace, each with a parent id of its own.
func TestEveryAttemptCarriesTheTraceOfItsEvent(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.endpoint("a", map[string]any{"retry": schedule("1s")}, receiver.Status(503))
	accepted := b.post("order.created", `{"n":1}`)
	var event struct {
		TraceID string `json:"trace_id"`
	}
	b.call(http.MethodGet, "/events/"+accepted.ID, nil, http.StatusOK, &event)
	form := regexp.MustCompile(`^00-` + event.TraceID + `-([0-9a-f]{16})-02$`)
	parents := map[string]bool{}
	for i, got := range b.arrivals("a", 2) {
		parts := form.FindStringSubmatch(got.Header.Get("Traceparent"))
		if event.TraceID == "" || parts == nil {
			t.Fatalf("traceparent of attempt %d = %q; want the trace %q of the event", i+1, got.Header.Get("Traceparent"), event.TraceID)
		}
		parents[parts[1]] = true
	}
	if len(parents) != 2 {
		t.Errorf("parent ids = %v; want one per attempt", parents)
	}
}
