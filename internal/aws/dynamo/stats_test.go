package dynamo_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/latency"
	"surehook.example/surehook/internal/rule/stats"
)

func TestStore_Count_AddsAllAttemptsOfABatchInOneUpdate(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)
	add := stats.Counts{OK: 2, Failed: 3, Queued: 2500 * time.Microsecond}
	for _, a := range []stats.Attempt{
		{Class: hook.ClassDelivered, Number: 1, Duration: 100 * time.Millisecond, State: hook.StateDelivered, Age: 1500 * time.Millisecond},
		{Class: hook.ClassDelivered, Number: 2, Duration: 101 * time.Millisecond, State: hook.StateDelivered, Age: time.Minute + time.Nanosecond},
		{Type: "order.paid", Class: hook.ClassTimeout, Number: 2, Duration: 10 * time.Second, State: hook.StateRetrying},
		{Type: "order.paid", Class: hook.ClassRedirect, Number: 21, Duration: time.Millisecond, State: hook.StateDead},
		{Class: hook.ClassDNS, Number: 1, Duration: time.Second, State: hook.StateParked}, // no duration is counted
	} {
		add.Count(a)
	}

	w, store := newWire(t, answer{body: `{"Attributes":{"o30":{"N":"2"},"f30":{"N":"3"},"d":{"N":"2"},"h46":{"N":"2"},"n1":{"N":"2"},"cdelivered":{"N":"2"}}}`})
	got, err := store.Count(t.Context(), "acme", endpointID, &add, at)
	if want := (circuit.Counts{OK: 2, Failed: 3, LastOK: 2, LastFailed: 3}); err != nil || got != want {
		t.Errorf("Count() = %+v, %v; want %+v", got, err, want)
	}
	want := request{"UpdateItem", body{
		"TableName": "table",
		"Key":       map[string]any{"pk": s("endpoint#ep_0123456789abcdef"), "sk": s("stats#2026-01-02T03")},
		"UpdateExpression": "SET p = :passed, r = :with, a = if_not_exists(a, :at), expires_at = :expires, state_pk = :hour, state_sk = :who ADD o30 :n2, f30 :n3, w :n61500, q :n2, d :n2, d1 :n1, x :n1, " +
			"o :n2, f :n3, " +
			"cdelivered :n2, ctimeout :n1, cdns :n1, credirect :n1, n1 :n2, n2 :n2, n21 :n1, " +
			"h0 :n1, h46 :n2, h92 :n1, t :types, " +
			"e8tq2 :n1, e8tq21 :n1, k8tq0 :n1, l8tq0 :n1, l8tq18 :n1, s_1 :n1, s_2 :n1, e_1 :n1, l_9 :n2 " +
			"REMOVE o11, f11, o12, f12, o13, f13, o14, f14, o15, f15, o16, f16, o17, f17, o18, f18, o19, f19, o20, f20",
		"ConditionExpression":                 "(attribute_not_exists(t) OR size(t) <= :room OR (contains(t, :type0)))",
		"ReturnValuesOnConditionCheckFailure": "ALL_OLD",
		"ExpressionAttributeValues": map[string]any{
			":expires": n("1768017600"), ":hour": s("active#2026-01-02T03#05"), ":who": s("acme#ep_0123456789abcdef"),
			":n1": n("1"), ":n2": n("2"), ":n3": n("3"), ":n61500": n("61500"),
			":room": n("7"), ":type0": s("order.paid"), ":types": map[string]any{"SS": []any{"order.paid"}}, ":passed": n("0"), ":with": n("0"), ":at": n("1767324600000"),
		},
		"ReturnValues": "ALL_NEW",
	}}
	if diff := cmp.Diff(want, w.only(t), cmp.AllowUnexported(request{})); diff != "" {
		t.Errorf("Count() sent (-want +got):\n%s", diff)
	}
}

// TestStore_Count_keepsTheNumberOfTypes has an item without room for another type. The failed
// update returns its types, and the process remembers them.
func TestStore_Count_keepsTheNumberOfTypes(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	const full = `"t":{"SS":["a","b","c","d","e","f","g","h"]},"o00":{"N":"5"}`
	w, store := newWire(t,
		answer{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no","Item":{` + full + `}}`},
		answer{body: `{"Attributes":{` + full + `}}`},
	)
	add := stats.Counts{OK: 2}
	add.Count(stats.Attempt{Type: "new", Class: hook.ClassDNS, Number: 1})
	add.Count(stats.Attempt{Type: "a", Class: hook.ClassDNS, Number: 1})
	for range 2 {
		if got, err := store.Count(t.Context(), "acme", endpointID, &add, at); err != nil || got.OK != 5 {
			t.Fatalf("Count() = %+v, %v; want 5 OK", got, err)
		}
	}
	sent := w.sent()
	if len(sent) != 3 {
		t.Fatalf("two counts made %d requests; want 3", len(sent))
	}
	if condition := sent[0].body["ConditionExpression"]; condition != "(attribute_not_exists(t) OR size(t) <= :room OR (contains(t, :type0) AND contains(t, :type1)))" {
		t.Errorf("the first update has the condition %v", condition)
	}
	for i, r := range sent[1:] {
		update, _ := r.body["UpdateExpression"].(string)
		if r.body["ConditionExpression"] != nil || strings.Contains(update, ":types") || !strings.Contains(update, "e_1 :n1") || !strings.Contains(update, "eObh1") {
			t.Errorf("update %d = %v on condition %v; want no new type, the new type as other", i+1, update, r.body["ConditionExpression"])
		}
	}
}

// added returns the numbers that the update adds, by attribute.
func added(t *testing.T, r request) map[string]int {
	t.Helper()

	numbers := make(map[string]int)
	update, _ := r.body["UpdateExpression"].(string)
	_, adds, _ := strings.Cut(update, " ADD ")
	adds, _, _ = strings.Cut(adds, " REMOVE ")
	for term := range strings.SplitSeq(adds, ", ") {
		attribute, value, _ := strings.Cut(term, " ")
		if text, ok := r.body.at("ExpressionAttributeValues", value, "N").(string); ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			numbers[attribute] = n
		}
	}
	return numbers
}

// A busy endpoint with 8 types writes the successes of some seconds at once, of every
// duration. No count is left out.
func TestStore_Count_OneUpdateHoldsAllTypes(t *testing.T) {
	t.Parallel()

	var add stats.Counts
	for i := range stats.MaxTypes {
		for b := range latency.CoarseCount {
			add.OK++
			add.Count(stats.Attempt{
				Type: fmt.Sprintf("type.%d", i), Class: hook.ClassDelivered, Number: 1,
				State: hook.StateDelivered, Duration: latency.Value(5*b + i%5), Age: time.Second,
			})
		}
	}
	w, store := newWire(t, answer{body: `{"Attributes":{}}`})
	if _, err := store.Count(t.Context(), "acme", endpointID, &add, time.Date(2026, 1, 2, 3, 30, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	buckets := 0
	for name, n := range added(t, w.only(t)) {
		if strings.HasPrefix(name, "l") {
			buckets += n
		}
	}
	if want := stats.MaxTypes * latency.CoarseCount; buckets != want {
		t.Errorf("the update has %d durations of types; want %d", buckets, want)
	}
}

// hourSize returns the bytes of the item after the updates.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func hourSize(t *testing.T, updates []request) int {
	t.Helper()

	const expressionLimit = 4096
	numbers, types := make(map[string]int), make(map[string]bool)
	for _, r := range updates {
		if r.op != "UpdateItem" {
			continue // the hour before
		}
		update, _ := r.body["UpdateExpression"].(string)
		if len(update) > expressionLimit {
			t.Fatalf("the update's expression has %d bytes; want at most %d", len(update), expressionLimit)
		}
		values, _ := r.body["ExpressionAttributeValues"].(map[string]any)
		for _, value := range values {
			typed, _ := value.(map[string]any)
			set, _ := typed["SS"].([]any)
			for _, one := range set {
				name, _ := one.(string)
				types[name] = true
			}
		}
		for name, n := range added(t, r) {
			numbers[name] += n
		}
		_, removed, _ := strings.Cut(update, " REMOVE ")
		for name := range strings.SplitSeq(removed, ", ") {
			delete(numbers, name)
		}
	}
	size := len("pk"+"sk"+"expires_at"+"state_pk"+"state_sk") + 6 + len("t")
	for _, text := range []string{"endpoint#ep_0123456789abcdef", "stats#2026-01-02T03", "active#2026-01-02T03#05", "acme#ep_0123456789abcdef"} {
		size += len(text)
	}
	for name, n := range numbers {
		size += len(name) + 1 + (len(strconv.Itoa(n))+1)/2 // one byte per two digits, and one byte
	}
	for name := range types {
		size += len(name)
	}
	return size
}

// Each batch writes the whole item, at one write unit per kilobyte.
func TestStore_Count_AnHoursItemStaysSmall(t *testing.T) {
	t.Parallel()

	const unit, most = 1024, 7 * 1024 // bytes
	fullest := stats.Counts{OK: 123_456, Failed: 123_456, Delivered: 123_456, First: 123_456, Waited: 123_456 * time.Hour, Dead: 123_456}
	for i := range fullest.Classes {
		fullest.Classes[i] = 123_456
	}
	for i := range fullest.Numbers {
		fullest.Numbers[i] = 123_456
	}
	for bucket := range latency.BucketCount {
		fullest.Latency.AddN(bucket, 123_456)
	}
	all := []stats.Counts{fullest}
	for i := range stats.MaxTypes { // every type with every count
		var one stats.Counts
		for number := range hook.MaxAttempts {
			for class := hook.ClassDelivered; class <= hook.ClassUnavailable; class++ {
				one.Count(stats.Attempt{
					Type: fmt.Sprintf("order.%d", i), Class: class, Number: number + 1, State: hook.StateDead,
					Duration: time.Duration(float64(time.Millisecond) * math.Pow(1.65, float64(number))),
				})
			}
		}
		all = append(all, one)
	}
	// 600 successes a minute of 8 types. The durations lie within a factor of 8.
	busy := stats.Counts{OK: 600}
	for i := range 600 {
		took := 60*time.Millisecond + time.Duration(i%100*i%100)*4*time.Millisecond
		busy.Count(stats.Attempt{
			Type:  []string{"order.created", "order.paid", "order.shipped", "order.refunded", "user.created", "user.deleted", "invoice.paid", "ping"}[i%8],
			Class: hook.ClassDelivered, Number: 1, State: hook.StateDelivered, Duration: took, Age: took + time.Second, Queued: time.Second,
		})
	}
	failing := busy
	failing.Failed = 10
	for range failing.Failed {
		failing.Count(stats.Attempt{Type: "ping", Class: hook.ClassUnavailable, Number: 1, State: hook.StateRetrying, Duration: time.Second})
	}
	for name, tt := range map[string]struct {
		adds []stats.Counts
		most int
	}{"fullest": {all, most}, "busy": {[]stats.Counts{busy}, unit}, "some failures": {[]stats.Counts{failing}, unit}} {
		w, store := newWire(t)
		start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
		for minute := range 60 {
			for _, add := range tt.adds {
				if _, err := store.Count(t.Context(), "acme", endpointID, &add, start.Add(time.Duration(minute)*time.Minute)); err != nil {
					t.Fatal(err)
				}
			}
		}
		size := hourSize(t, w.sent())
		if size > tt.most {
			t.Errorf("the hour (%s) has %d bytes; want at most %d", name, size, tt.most)
		}
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
				if r.body.at("ExpressionAttributeValues", ":pk", "S") == "active#2026-01-02T03#15" {
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
				"KeyConditionExpression": "state_pk = :pk AND state_sk > :from",
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
			"type": s("webhook.endpoint.slow"), "tenant": s("acme"), "id": s("ep_0123456789abcdef"), "at": n("1767323045678"),
			"reason": s("slow"), "figures": map[string]any{"M": map[string]any{"p95_ms": n("2500.5")}}, "notification_key": s("slow/1"),
			"expires_at": n("1775099045"),
		},
	}}
	if diff := cmp.Diff(want, w.only(t), cmp.AllowUnexported(request{})); diff != "" || err != nil {
		t.Errorf("PutNotification() = %v, sent (-want +got):\n%s", err, diff)
	}
}
