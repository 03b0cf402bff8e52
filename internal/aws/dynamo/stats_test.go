package dynamo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/latency"
	"surehook/internal/rule/stats"
)

func TestStore_Count_AddsAllAttemptsOfABatchInOneUpdate(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	add := stats.Counts{OK: 2, Failed: 3}
	for _, a := range []stats.Attempt{
		{Class: hook.ClassDelivered, Number: 1, Duration: 100 * time.Millisecond, State: hook.StateDelivered, Age: 1500 * time.Millisecond},
		{Class: hook.ClassDelivered, Number: 2, Duration: 101 * time.Millisecond, State: hook.StateDelivered, Age: time.Minute + time.Nanosecond},
		{Class: hook.ClassTimeout, Number: 2, Duration: 10 * time.Second, State: hook.StateRetrying},
		{Class: hook.ClassRedirect, Number: 21, Duration: time.Millisecond, State: hook.StateDead},
		{Class: hook.ClassDNS, Number: 1, Duration: time.Second, State: hook.StateParked}, // no duration is counted
	} {
		add.Count(a)
	}

	w, store := newWire(t, answer{body: `{"Attributes":{"o30":{"N":"2"},"f30":{"N":"3"},"d":{"N":"2"},"h46":{"N":"2"},"n1":{"N":"2"},"cdelivered":{"N":"2"}}}`})
	got, err := store.Count(t.Context(), "acme", endpointID, add, at)
	if want := (circuit.Counts{OK: 2, Failed: 3}); err != nil || got != want {
		t.Errorf("Count() = %+v, %v; want %+v", got, err, want)
	}
	want := request{"UpdateItem", body{
		"TableName": "table",
		"Key":       map[string]any{"pk": s("endpoint#ep_0123456789abcdef"), "sk": s("stats#2026-01-02T03")},
		"UpdateExpression": "SET expires_at = :expires, state_pk = :hour, state_sk = :who ADD o30 :o30, f30 :f30, d :d, d1 :d1, w :w, x :x, " +
			"cdelivered :cdelivered, ctimeout :ctimeout, cdns :cdns, credirect :credirect, n1 :n1, n2 :n2, n21 :n21, " +
			"h0 :h0, h46 :h46, h92 :h92",
		"ExpressionAttributeValues": map[string]any{
			":expires": n("1767499200"), ":hour": s("active#2026-01-02T03#05"), ":who": s("acme#ep_0123456789abcdef"),
			":o30": n("2"), ":f30": n("3"), ":d": n("2"), ":d1": n("1"), ":w": n("61500"), ":x": n("1"),
			":cdelivered": n("2"), ":ctimeout": n("1"), ":cdns": n("1"), ":credirect": n("1"),
			":n1": n("2"), ":n2": n("2"), ":n21": n("1"),
			":h0": n("1"), ":h46": n("2"), ":h92": n("1"),
		},
		"ReturnValues": "ALL_NEW",
	}}
	if diff := cmp.Diff(want, w.only(t), cmp.AllowUnexported(request{})); diff != "" {
		t.Errorf("Count() sent (-want +got):\n%s", diff)
	}
}

// Each batch writes the whole item, at one write unit per kilobyte.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func TestStore_Count_AnHoursItemStaysSmall(t *testing.T) {
	t.Parallel()

	const expressionLimit, most = 4096, 3 * 1024 // bytes

	add := stats.Counts{OK: 123_456, Failed: 123_456, Delivered: 123_456, First: 123_456, Waited: 123_456 * time.Hour, Dead: 123_456}
	for i := range add.Classes {
		add.Classes[i] = 123_456
	}
	for i := range add.Numbers {
		add.Numbers[i] = 123_456
	}
	for bucket := range latency.BucketCount {
		add.Latency.AddN(bucket, 123_456)
	}
	w, store := newWire(t)
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for minute := range 60 {
		if _, err := store.Count(t.Context(), "acme", endpointID, add, start.Add(time.Duration(minute)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}

	item := map[string]int{"pk": len("endpoint#ep_0123456789abcdef"), "sk": len("stats#2026-01-02T03"), "expires_at": 6, "state_pk": 23, "state_sk": 30}
	for _, r := range w.sent() {
		if r.op != "UpdateItem" {
			continue // the hour before
		}
		if update, _ := r.body.at("UpdateExpression").(string); len(update) > expressionLimit {
			t.Fatalf("the update's expression has %d bytes; want at most %d", len(update), expressionLimit)
		}
		values, _ := r.body.at("ExpressionAttributeValues").(map[string]any)
		for name, value := range values {
			if number, ok := value.(map[string]any)["N"].(string); ok && name != ":expires" {
				item[strings.TrimPrefix(name, ":")] = 2 + len(number)/2 // one byte per two digits, and up to two bytes
			}
		}
	}
	size := 0
	for name, value := range item {
		size += len(name) + value
	}
	if len(item) < 120+latency.BucketCount || size > most {
		t.Errorf("the fullest hour has %d attributes in %d bytes; want all, in at most %d", len(item), size, most)
	}
}

func TestStore_Active_QueriesTheIndexAfterTheGivenEndpoint(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		after hook.CircuitCheck
		limit int
		from  string
		want  float64
	}{
		{name: "from the first", after: hook.CircuitCheck{}, limit: 10, from: "#", want: 10},
		{name: "after one", after: hook.CircuitCheck{Tenant: "a-b", Endpoint: endpointID}, limit: 1, from: "a-b#ep_0123456789abcdef#", want: 1},
		{name: "at least one", after: hook.CircuitCheck{}, limit: 0, from: "#", want: 1},
		{name: "of many, twice a shard's part and 16 more", after: hook.CircuitCheck{}, limit: 1000, from: "#", want: 141},
		{name: "at most 1000", after: hook.CircuitCheck{}, limit: 1001, from: "#", want: 141},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			w.reply = func(r request) answer {
				if r.body.at("ExpressionAttributeValues", ":shard", "S") == "active#2026-01-02T03#15" {
					return answer{body: `{"Items":[{"state_sk":{"S":"a.b#ep_0123456789abcdef"}}]}`}
				}
				return answer{body: `{"Items":[]}`}
			}
			got, err := store.Active(t.Context(), epoch, tt.after, tt.limit)
			if diff := cmp.Diff([]hook.CircuitCheck{{Tenant: "a.b", Endpoint: endpointID}}, got); diff != "" || err != nil {
				t.Errorf("Active() = %v, differs (-want +got):\n%s", err, diff)
			}
			wantShards(t, w.sent(), body{
				"TableName": "table", "IndexName": "by_state", "Limit": tt.want,
				"KeyConditionExpression": "state_pk = :shard AND state_sk > :value",
			}, "active#2026-01-02T03", s(tt.from))
		})
	}
}

func TestStore_PutNotification_WritesAnItemByTimeAndKeyFor90Days(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	err := store.PutNotification(t.Context(), hook.Notification{
		Type: hook.NotificationSlow, Tenant: "acme", Endpoint: endpointID, At: epoch.Add(999 * time.Microsecond), Reason: "slow",
		Figures: map[string]float64{"p95_ms": 2500.5}, Key: "slow/1",
	})
	want := request{"PutItem", body{
		"TableName": "table",
		"Item": map[string]any{
			"pk": s("endpoint#ep_0123456789abcdef"), "sk": s("history#2026-01-02T03:04:05.678Z#slow/1"),
			"type": s("surehook.endpoint.slow"), "tenant": s("acme"), "id": s("ep_0123456789abcdef"), "at": n("1767323045678"),
			"reason": s("slow"), "figures": map[string]any{"M": map[string]any{"p95_ms": n("2500.5")}}, "notification_key": s("slow/1"),
			"expires_at": n("1775099045"),
		},
	}}
	if diff := cmp.Diff(want, w.only(t), cmp.AllowUnexported(request{})); diff != "" || err != nil {
		t.Errorf("PutNotification() = %v, sent (-want +got):\n%s", err, diff)
	}
}
