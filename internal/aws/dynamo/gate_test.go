package dynamo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

func s(v string) any { return map[string]any{"S": v} }

func n(v string) any { return map[string]any{"N": v} }

func TestStore_SaveCircuit_WritesTheIndexKeysOnlyWithAnAttendAt(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name       string
		at         time.Time
		hash, sort any
	}{
		{name: "a time", at: epoch, hash: s("circuit#05"), sort: s("2026-01-02T03:04:05.678Z#ep_0123456789abcdef")},
		{name: "a whole second, in another zone", at: epoch.Truncate(time.Second).In(time.FixedZone("", 3600)), hash: s("circuit#05"), sort: s("2026-01-02T03:04:05.000Z#ep_0123456789abcdef")},
		{name: "never", at: time.Time{}, hash: nil, sort: nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			r := record(0)
			r.AttendAt = tt.at
			if err := store.SaveCircuit(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			item := w.only(t).body
			if hash, sort := item.at("Item", "state_pk"), item.at("Item", "state_sk"); !cmp.Equal(hash, tt.hash) || !cmp.Equal(sort, tt.sort) {
				t.Errorf("SaveCircuit(attend at %s) wrote the index keys %v, %v; want %v, %v", tt.at, hash, sort, tt.hash, tt.sort)
			}
			if item.at("Item", "endpoint_id") != nil || item.at("Item", "endpoint_sk") != nil {
				t.Errorf("SaveCircuit() wrote %v; want no keys of the deliveries' index", item.at("Item"))
			}
		})
	}
}

func TestStore_ChangeLimits_IsOneConditionalUpdate(t *testing.T) {
	t.Parallel()

	lease := func(nonce string) admission.Lease {
		return admission.Lease{Nonce: nonce, Until: epoch.Add(2 * time.Minute)}
	}
	stored := admission.Limits{RateSlot: epoch, Rate: 0.5, Leases: map[string]admission.Lease{"dlv_1": lease("n1"), "dlv_2": lease("n2")}}
	handed := admission.Limits{Most: 5, Leases: map[string]admission.Lease{"dlv_2": {Nonce: "n2", Until: epoch.Add(3 * time.Minute), Run: "r"}, "dlv_3": lease("n3")}}
	handed.RateSlot, handed.Rate = stored.RateSlot, stored.Rate
	handed.Score, handed.ScoreAt, handed.Slots, handed.NarrowedAt = 7, epoch, 9, epoch
	ended := stored.End(admission.Held{Key: "dlv_1", Lease: lease("n1")})
	late := stored.CountLate(2, epoch)
	reserved, _ := stored.Reserve(0.5, epoch)
	first, _ := admission.Limits{}.Reserve(1000, epoch)
	tests := []struct {
		name              string
		before, after     admission.Limits
		condition, update string
		names             map[string]any
		values            map[string]any
	}{
		{
			name: "the first lease writes the map, and is kept a day after its end", after: admission.Limits{Most: 5, Leases: map[string]admission.Lease{"dlv_1": lease("n1")}},
			condition: "attribute_not_exists(leases)", update: "SET leases = :leases, expires_at = :expires",
			values: map[string]any{":leases": map[string]any{"M": map[string]any{"dlv_1": s("1767323165678 n1 ")}}, ":expires": n("1767409565")},
		},
		{
			name: "a hand-over changes what differs, within the slots", before: stored, after: handed,
			condition: "leases.#l0 = :old0 AND leases.#l1 = :old1 AND attribute_not_exists(leases.#l2) AND size(leases) <= :room",
			update:    "SET leases.#l1 = :new1, leases.#l2 = :new2, score = :score, score_at = :score_at, slots = :slots, narrowed_at = :narrowed_at, expires_at = :expires REMOVE leases.#l0",
			names:     map[string]any{"#l0": "dlv_1", "#l1": "dlv_2", "#l2": "dlv_3"},
			values: map[string]any{
				":old0": s("1767323165678 n1 "), ":old1": s("1767323165678 n2 "), ":new1": s("1767323225678 n2 r"), ":new2": s("1767323165678 n3 "),
				":room": n("5"), ":score": n("7"), ":score_at": n("1767323045678"), ":slots": n("9"), ":narrowed_at": n("1767323045678"), ":expires": n("1767409625"),
			},
		},
		{
			name: "an end leaves the time of removal as it is", before: stored, after: ended,
			condition: "leases.#l0 = :old0", update: "REMOVE leases.#l0",
			names: map[string]any{"#l0": "dlv_1"}, values: map[string]any{":old0": s("1767323165678 n1 ")},
		},
		{
			name: "the first rate slot", after: first,
			condition: "attribute_not_exists(rate_slot_ns)", update: "SET rate_slot_ns = :rate_slot_ns, rate = :rate, expires_at = :expires",
			values: map[string]any{":rate_slot_ns": n("1767323045679000000"), ":rate": n("1000"), ":expires": n("1767409445")},
		},
		{
			name: "a later rate slot replaces the slot that was read", before: stored, after: reserved,
			condition: "rate_slot_ns = :last AND rate = :before", update: "SET rate_slot_ns = :rate_slot_ns, rate = :rate, expires_at = :expires",
			values: map[string]any{
				":last": n("1767323045678000000"), ":before": n("0.5"), ":rate_slot_ns": n("1767323047678000000"), ":rate": n("0.5"), ":expires": n("1767409565"),
			},
		},
		{
			name: "late attempts have no condition", before: stored, after: late,
			update: "SET late = :late, late_at = :late_at, expires_at = :expires",
			values: map[string]any{":late": n("2"), ":late_at": n("1767323040000"), ":expires": n("1767409565")},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			if err := store.ChangeLimits(t.Context(), endpointID, tt.before, tt.after); err != nil {
				t.Fatal(err)
			}
			want := body{
				"TableName":                 "table",
				"Key":                       map[string]any{"pk": s("endpoint#ep_0123456789abcdef"), "sk": s("limits")},
				"UpdateExpression":          tt.update,
				"ExpressionAttributeValues": tt.values,
			}
			if tt.condition != "" {
				want["ConditionExpression"] = tt.condition
			}
			if tt.names != nil {
				want["ExpressionAttributeNames"] = tt.names
			}
			if diff := cmp.Diff(request{"UpdateItem", want}, w.only(t), cmp.AllowUnexported(request{})); diff != "" {
				t.Errorf("ChangeLimits() sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStore_Count_IsOneUpdateOfTheHour(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 2, 3, 9, 59, 999, time.UTC)
	const set = "SET expires_at = :expires, state_pk = :hour, state_sk = :who"
	values := func(amounts ...string) map[string]any {
		all := map[string]any{
			":expires": n("1768017600"), // 192 hours after 04:00
			":hour":    s("active#2026-01-02T03#05"),
			":who":     s("acme#ep_0123456789abcdef"),
		}
		for _, amount := range amounts {
			all[":n"+amount] = n(amount)
		}
		return all
	}
	tests := []struct {
		name   string
		add    circuit.Counts
		at     time.Time
		update string
		values map[string]any
	}{
		{name: "failures", add: circuit.Counts{Failed: 3}, at: at, update: set + " ADD f09 :n3, f :n3", values: values("3")},
		{name: "successes", add: circuit.Counts{OK: 2}, at: at, update: set + " ADD o09 :n2, o :n2", values: values("2")},
		{
			name: "both",
			add:  circuit.Counts{OK: 2, Failed: 3},
			at:   at, update: set + " ADD o09 :n2, f09 :n3, o :n2, f :n3",
			values: values("2", "3"),
		},
		{
			name: "in another zone",
			add:  circuit.Counts{OK: 2},
			at:   at.In(time.FixedZone("", 5400)), update: set + " ADD o09 :n2, o :n2",
			values: values("2"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t, answer{body: `{"Attributes":{
				"pk":{"S":"endpoint#ep_0123456789abcdef"},"sk":{"S":"stats#2026-01-02T03"},"expires_at":{"N":"1767499200"},
				"o00":{"N":"4"},"f00":{"N":"8"},"f05":{"N":"16"},"o09":{"N":"2"},"o10":{"N":"64"}
			}}`})
			got, err := store.Count(t.Context(), "acme", endpointID, &stats.Counts{OK: tt.add.OK, Failed: tt.add.Failed}, tt.at)
			if want := (circuit.Counts{OK: 6, Failed: 24, LastOK: 2}); err != nil || got != want {
				t.Errorf("Count(%+v) = %+v, %v; want %+v", tt.add, got, err, want)
			}
			want := request{"UpdateItem", body{
				"TableName":                 "table",
				"Key":                       map[string]any{"pk": s("endpoint#ep_0123456789abcdef"), "sk": s("stats#2026-01-02T03")},
				"UpdateExpression":          tt.update,
				"ExpressionAttributeValues": tt.values,
				"ReturnValues":              "ALL_NEW",
			}}
			if diff := cmp.Diff(want, w.only(t), cmp.AllowUnexported(request{})); diff != "" {
				t.Errorf("Count(%+v) sent (-want +got):\n%s", tt.add, diff)
			}
		})
	}
}

func TestStore_Count_ReadsTheHourBeforeOnlyForAFailure(t *testing.T) {
	t.Parallel()

	hour := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		add  circuit.Counts
		at   time.Time
		want circuit.Counts
		read bool
	}{
		{name: "a failure at once", add: circuit.Counts{Failed: 1}, at: hour, want: circuit.Counts{OK: 32, Failed: 1, LastFailed: 1}, read: true},
		{name: "a failure in the ninth minute", add: circuit.Counts{Failed: 1}, at: hour.Add(9*time.Minute - 1), want: circuit.Counts{OK: 32, Failed: 1}, read: true},
		{name: "a failure later", add: circuit.Counts{Failed: 1}, at: hour.Add(9 * time.Minute), want: circuit.Counts{Failed: 1}, read: false},
		{name: "a success", add: circuit.Counts{OK: 1}, at: hour, want: circuit.Counts{Failed: 1, LastFailed: 1}, read: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t,
				answer{body: `{"Attributes":{"f00":{"N":"1"}}}`},
				answer{body: `{"Item":{"sk":{"S":"stats#2026-01-01T23"},"o59":{"N":"32"},"o50":{"N":"1000"},"o00":{"N":"2000"}}}`},
			)
			got, err := store.Count(t.Context(), "acme", endpointID, &stats.Counts{OK: tt.add.OK, Failed: tt.add.Failed}, tt.at)
			if err != nil || got != tt.want {
				t.Errorf("Count(%+v, %s) = %+v, %v; want %+v", tt.add, tt.at, got, err, tt.want)
			}
			sent := w.sent()
			if read := len(sent) == 2; read != tt.read {
				t.Fatalf("Count(%+v, %s) sent %v; want a second request %t", tt.add, tt.at, sent, tt.read)
			}
			if tt.read && (sent[1].op != "GetItem" || sent[1].body.at("Key", "sk", "S") != "stats#2026-01-01T23" || sent[1].body.at("ConsistentRead") != true) {
				t.Errorf("second request = %v; want a consistent read of the hour before", sent[1])
			}
		})
	}
}

func TestStore_DueCircuits_DropsStaleRows(t *testing.T) {
	t.Parallel()

	keys := func(id, at string) string {
		return `"pk":{"S":"endpoint#` + id + `"},"sk":{"S":"circuit"},"state_pk":{"S":"circuit#03"},"state_sk":{"S":"` + at + "#" + id + `"}`
	}
	item := func(id, ms string) string {
		return `{"pk":{"S":"endpoint#` + id + `"},"sk":{"S":"circuit"},"id":{"S":"` + id + `"},"tenant":{"S":"acme"},"state":{"S":"open"},` +
			`"wave":{"N":"2"},"attend_at":{"N":"` + ms + `"}}`
	}
	const a, b, c = "ep_aaaaaaaaaaaaaaaa", "ep_bbbbbbbbbbbbbbbb", "ep_cccccccccccccccc"
	w, store := newWire(t)
	w.reply = func(r request) answer {
		switch {
		case r.op == "BatchGetItem":
			// After a move, the index still lists a at both positions. Now b is due later, and c
			// is gone.
			return answer{body: `{"Responses":{"table":[` + item(b, "1767323099999") + `,` + item(a, "1767323045678") + `]}}`}
		case r.body.at("ExpressionAttributeValues", ":pk", "S") == "circuit#03":
			return answer{body: `{"Items":[{` + keys(a, "2026-01-02T03:04:05.677Z") + `},{` + keys(b, "2026-01-02T03:04:05.677Z") + `},{` +
				keys(a, "2026-01-02T03:04:05.678Z") + `},{` + keys(c, "2026-01-02T03:04:05.678Z") + `}]}`}
		}
		return answer{body: `{"Items":[]}`}
	}
	got, err := store.DueCircuits(t.Context(), epoch.Add(999*time.Microsecond), 10)
	if diff := cmp.Diff([]hook.CircuitCheck{{Tenant: "acme", Endpoint: a, Wave: 2}}, got); diff != "" || err != nil {
		t.Errorf("DueCircuits() = %v, differs (-want +got):\n%s", err, diff)
	}
	sent := w.sent()
	if len(sent) != 17 || sent[16].op != "BatchGetItem" {
		t.Fatalf("DueCircuits() sent %v; want 16 queries and a BatchGetItem", sent)
	}
	wantShards(t, sent[:16], body{
		"TableName": "table", "IndexName": "by_state", "Limit": 10.0,
		"KeyConditionExpression": "state_pk = :pk AND state_sk < :from",
	}, "circuit", s("2026-01-02T03:04:05.679Z"))
	read, _ := sent[16].body.at("RequestItems", "table", "Keys").([]any)
	if len(read) != 3 || sent[16].body.at("RequestItems", "table", "ConsistentRead") != true {
		t.Errorf("BatchGetItem reads %v; want a consistent read of the three records", read)
	}
}

func TestStore_Parked_ReadsOnAfterStaleRows(t *testing.T) {
	t.Parallel()

	keys := func(n int, state string) string {
		at := fmt.Sprintf("#2026-01-02T03:04:05.%dZ#%s#0001", 678+n, eventID)
		return fmt.Sprintf(`"pk":{"S":"endpoint#ep_0123456789abcdef#00"},"sk":{"S":"delivery%s"},"endpoint_sk":{"S":"%s%s"},"state":{"S":"%s"},"created_at":{"N":"%d"}`,
			at, state, at, state, 1767323045678+n)
	}
	gone := func(n int) answer { return answer{body: `{"Responses":{"table":[{` + keys(n, "dead") + `}]}}`} }
	there := func(n int) answer { return answer{body: `{"Responses":{"table":[{` + keys(n, "parked") + `}]}}`} }
	last := func(n int) answer { return answer{body: `{"Items":[{` + keys(n, "parked") + `}]}`} }
	more := func(n int) answer {
		return answer{body: `{"Items":[{` + keys(n, "parked") + `}],"LastEvaluatedKey":{` + keys(n, "parked") + `}}`}
	}

	tests := []struct {
		name     string
		script   []answer
		want     int
		requests int
	}{
		{name: "the first page is current", script: []answer{more(0), there(0)}, want: 1, requests: 2},
		{name: "the only page is stale", script: []answer{last(0), gone(0)}, want: 0, requests: 2},
		{name: "the second page is current", script: []answer{more(0), gone(0), last(1), there(1)}, want: 1, requests: 4},
		{name: "the pages after the first are short", script: []answer{more(0), gone(0), more(1), more(2), last(3), there(2)}, want: 1, requests: 6},
		{name: "every page is stale", script: []answer{more(0), gone(0), more(1), more(2), more(3), more(4), gone(4), last(5), there(5)}, want: 0, requests: 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t, tt.script...)
			got, err := store.Parked(t.Context(), hook.Target{Endpoint: endpointID, Shards: 1}, time.Time{}, 1, admit.Except{})
			sent := w.sent()
			if err != nil || len(got) != tt.want || len(sent) != tt.requests {
				t.Fatalf("Parked(limit 1) = %v, %v, in %d requests; want %d in %d", got, err, len(sent), tt.want, tt.requests)
			}
			first := sent[0].body
			if first.at("Limit") != 1.0 || first.at("ExclusiveStartKey") != nil {
				t.Errorf("first query = %v; want the oldest row", first)
			}
			if tt.requests > 2 && (sent[2].body.at("Limit") != 100.0 || sent[2].body.at("ExclusiveStartKey", "pk") == nil) {
				t.Errorf("second query = %v; want a larger page after the first", sent[2].body)
			}
		})
	}
}
