package dynamo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
)

// TestStore_DeliveryRows_OneQuery checks that reading a part takes one query: of the partition
// for all states, and of the index for one state.
func TestStore_DeliveryRows_OneQuery(t *testing.T) {
	t.Parallel()

	from := &status.Position{At: epoch.UnixMilli(), DeliveryID: hook.DeliveryID{Event: eventID, Endpoint: endpointID, Generation: 3}}
	const at = "2026-01-02T03:04:05.678Z"
	tests := []struct {
		name     string
		part     status.Part
		span     status.Span
		index    any // nil: the table
		sort     string
		from, to string
	}{
		{name: "all states", sort: "sk", from: "delivery#0", to: "delivery#~"},
		{name: "a shard", part: status.Part{Shard: 7}, sort: "sk", from: "delivery#0", to: "delivery#~"},
		{name: "a state", part: status.Part{State: hook.StateDead}, index: "by_endpoint", sort: "endpoint_sk", from: "dead#0", to: "dead#~"},
		{
			name: "a span", span: status.Span{Since: epoch.Add(-time.Hour), Until: epoch.Add(1)}, sort: "sk",
			from: "delivery#2026-01-02T02:04:05.678Z", to: "delivery#2026-01-02T03:04:05.679Z",
		},
		{
			name: "from a position on", part: status.Part{State: hook.StateParked}, span: status.Span{From: from, Until: epoch.Add(time.Hour)}, index: "by_endpoint",
			sort: "endpoint_sk", from: "parked#0", to: "parked#" + at + "#" + string(eventID) + "#0003",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tt.part.Endpoint = endpointID
			w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
			if _, last, err := store.DeliveryRows(t.Context(), tt.part, tt.span, 25); err != nil || last != nil {
				t.Fatalf("DeliveryRows = %v, %v; want the end", last, err)
			}
			shard := map[int]string{0: "#00", 7: "#07"}[tt.part.Shard]
			want := body{
				"TableName": "table", "Limit": 25.0, "ScanIndexForward": false, "KeyConditionExpression": "pk = :pk AND " + tt.sort + " BETWEEN :from AND :to",
				"ExpressionAttributeValues": map[string]any{
					":pk": map[string]any{"S": "endpoint#" + string(endpointID) + shard}, ":from": map[string]any{"S": tt.from}, ":to": map[string]any{"S": tt.to},
				},
			}
			if tt.index != nil {
				want["IndexName"] = tt.index
			}
			if diff := cmp.Diff(want, w.only(t).body); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStore_DeliveryRows_EmptySpanMakesNoRequest: DynamoDB rejects a query with a lower
// bound above the upper bound.
func TestStore_DeliveryRows_EmptySpanMakesNoRequest(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	for _, span := range []status.Span{{Since: epoch, Until: epoch}, {Since: epoch, Until: epoch.Add(-1)}, {Since: epoch, Until: epoch.Add(-time.Hour)}} {
		if rows, last, err := store.DeliveryRows(t.Context(), status.Part{Endpoint: endpointID}, span, 1); err != nil || last != nil || rows != nil {
			t.Errorf("DeliveryRows(%+v) = %v, %v, %v; want none", span, rows, last, err)
		}
	}
	if sent := w.sent(); len(sent) != 0 {
		t.Errorf("requests = %v; want none", sent)
	}
}

// TestStore_PutEvent_UntargetedOnlyInTheIndex checks that an event with a target has no row in
// the index, so that it costs no additional write.
func TestStore_PutEvent_UntargetedOnlyInTheIndex(t *testing.T) {
	t.Parallel()

	for _, targets := range [][]hook.Target{nil, {{Endpoint: endpointID, Shards: 1}}} {
		w, store := newWire(t)
		e := event()
		e.Targets = targets
		if err := store.PutEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		item := w.only(t).body
		if listed := item.at("Item", "state_pk") != nil && item.at("Item", "state_sk") != nil; listed != (targets == nil) {
			t.Errorf("an event with targets %v has the keys %v and %v; want keys without a target only", targets, item.at("Item", "state_pk"), item.at("Item", "state_sk"))
		}
	}
}

// TestStore_EventHeads_LeavesOutThePayload checks that the request names the attributes and is
// eventually consistent.
func TestStore_EventHeads_LeavesOutThePayload(t *testing.T) {
	t.Parallel()

	w, store := newWire(t, answer{body: `{"Responses":{}}`})
	if _, err := store.EventHeads(t.Context(), []hook.EventID{eventID}); err != nil {
		t.Fatal(err)
	}
	got := w.only(t).body.at("RequestItems", "table")
	const projection = "#pk, #sk, #id, #tenant, #type, #trace_parent, #idempotency_key, #ordering_key, #targets, #numbers, #accepted_at, #expires_at, #erased_at"
	names := make(map[string]any)
	for name := range strings.SplitSeq(projection, ", ") {
		names[name] = strings.TrimPrefix(name, "#")
	}
	want := map[string]any{
		"Keys":                     []any{map[string]any{"pk": map[string]any{"S": "event#" + string(eventID)}, "sk": map[string]any{"S": "event"}}},
		"ConsistentRead":           false,
		"ProjectionExpression":     projection,
		"ExpressionAttributeNames": names,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// Keys have four digits for the year, so the year 10000 would sort before 2026.
func TestStore_AuditRecords_UntilTheEndOfTime(t *testing.T) {
	t.Parallel()

	for _, until := range []time.Time{
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)),
	} {
		w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
		if _, _, err := store.AuditRecords(t.Context(), "acme", hook.AuditSpan{Until: until}, "", 10); err != nil {
			t.Fatalf("AuditRecords(until %v) = %v", until, err)
		}
		const want = "audit#9999-12-31T23:59:59.999Z"
		if got := w.only(t).body.at("ExpressionAttributeValues", ":to", "S"); got != want {
			t.Errorf("AuditRecords(until %v) asks for keys before %v; want %s", until, got, want)
		}
	}
}

// TestStore_UntargetedRows_OneQuery checks that reading a shard takes one query of the index. No
// bound is empty, because DynamoDB rejects empty keys.
func TestStore_UntargetedRows_OneQuery(t *testing.T) {
	t.Parallel()

	w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
	if _, last, err := store.UntargetedRows(t.Context(), "acme", 7, status.Span{}, 25); err != nil || last != nil {
		t.Fatalf("UntargetedRows = %v, %v; want the end", last, err)
	}
	want := body{
		"TableName": "table", "IndexName": "by_state", "Limit": 25.0, "ScanIndexForward": false,
		"KeyConditionExpression": "state_pk = :pk AND state_sk BETWEEN :from AND :to",
		"ExpressionAttributeValues": map[string]any{
			":pk": map[string]any{"S": "untargeted#acme#07"}, ":from": map[string]any{"S": "0"}, ":to": map[string]any{"S": "~"},
		},
	}
	if diff := cmp.Diff(want, w.only(t).body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
