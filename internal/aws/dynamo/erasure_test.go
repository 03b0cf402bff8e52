package dynamo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/hook"
)

const erasureID hook.ErasureID = "era_01jgjb5c8weyrv1tzv2x3fjq7h"

func begun() erasure.Erasure {
	return erasure.Erasure{ID: erasureID, Tenant: "acme", By: "key_1", CreatedAt: epoch, UpdatedAt: epoch, Stage: erasure.StageStop}
}

// TestStore_BeginErasure_Writes checks that the mark and the job are one transaction, and
// that a marked tenant keeps its job.
func TestStore_BeginErasure_Writes(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	if _, err := store.BeginErasure(t.Context(), begun()); err != nil {
		t.Fatal(err)
	}
	r := w.only(t)
	mark, put := r.body.at("TransactItems", 0, "Update"), r.body.at("TransactItems", 1, "Put")
	if r.op != "TransactWriteItems" || mark == nil || put == nil || r.body.at("TransactItems", 2) != nil {
		t.Fatalf("sent %s of %v; want a transaction of the mark and the job", r.op, r.body)
	}
	for path, want := range map[string]any{
		"0 Update Key pk S": "tenant#acme", "0 Update Key sk S": "tenant", "0 Update ConditionExpression": "attribute_not_exists(closing)",
		"0 Update ExpressionAttributeValues :closing S": string(erasureID), "0 Update ReturnValuesOnConditionCheckFailure": "ALL_OLD",
		"1 Put Item pk S": "erasure#acme", "1 Put Item sk S": "erasure#" + string(erasureID), "1 Put ConditionExpression": "attribute_not_exists(pk)", "1 Put Item version N": "1",
	} {
		if got := item(r, path); got != want {
			t.Errorf("%s = %v; want %v", path, got, want)
		}
	}

	w, store = newWire(t,
		answer{400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[` +
			`{"Code":"ConditionalCheckFailed","Item":{"closing":{"S":"era_earlier"}}},{"Code":"None"}]}`},
		answer{0, `{"Item":{"id":{"S":"era_earlier"},"tenant":{"S":"acme"},"stage":{"S":"walk"},"version":{"N":"7"}}}`})
	if got, err := store.BeginErasure(t.Context(), begun()); err != nil || got.ID != "era_earlier" || got.Stage != erasure.StageWalk || got.Version != 7 {
		t.Errorf("BeginErasure() of a marked tenant = %+v, %v; want its job", got, err)
	}
	if sent := w.sent(); len(sent) != 2 || sent[1].op != "GetItem" || sent[1].body.at("Key", "sk", "S") != "erasure#era_earlier" || sent[1].body["ConsistentRead"] != true {
		t.Errorf("sent %v; want the transaction, and a consistent read of the job", sent)
	}
}

// item follows the path in the items of a transaction: "0 Update Key pk S".
func item(r request, path string) any {
	steps := strings.Fields(path)
	at := []any{"TransactItems", int(steps[0][0] - '0')}
	for _, step := range steps[1:] {
		at = append(at, step)
	}
	return r.body.at(at...)
}

// TestStore_FinishErasure_Writes checks that the end, the data key and the tenant are one
// transaction, which a tenant of another job refuses.
func TestStore_FinishErasure_Writes(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	e := begun()
	e.Stage, e.Version = erasure.StageDone, 4
	if err := store.FinishErasure(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	r := w.only(t)
	for path, want := range map[string]any{
		"0 Update Key sk S": "erasure#" + string(erasureID), "0 Update ExpressionAttributeValues :version N": "4",
		"1 Delete Key pk S": "tenant#acme", "1 Delete Key sk S": "datakey",
		"2 Delete Key pk S": "tenant#acme", "2 Delete Key sk S": "tenant", "2 Delete ConditionExpression": "closing = :closing",
		"2 Delete ExpressionAttributeValues :closing S": string(erasureID), "3": nil,
	} {
		if got := item(r, path); got != want {
			t.Errorf("%s = %v; want %v", path, got, want)
		}
	}

	_, store = newWire(t, canceled("None", "None", "ConditionalCheckFailed"))
	if err := store.FinishErasure(t.Context(), e); hook.CodeOf(err) != hook.CodeConflict {
		t.Errorf("FinishErasure() of another job's tenant = %v; want a conflict", err)
	}
}

// TestStore_FindRecords_scan scans the table for tenants whose names look like parts of keys. The
// filter lets items of other tenants through, but only the tenant's own are found.
func TestStore_FindRecords_scan(t *testing.T) {
	t.Parallel()

	for _, tenant := range []hook.TenantID{"default", "keys", "catalogue", "event-types", "tenant", "endpoint", "00", "acme"} {
		t.Run(string(tenant), func(t *testing.T) {
			t.Parallel()

			// Each item has "T" for the tenant, and "T-2" for a tenant with the longer name.
			own := []string{
				"tenant#T rate", "tenant#T replay#job_1", "shares#T limits", "event#evt_1 event tenant=T", "endpoint#ep_1 endpoint tenant=T",
				"endpoint#ep_1#00 delivery#1 tenant=T", "endpoint#ep_1 stats#2026-01-02T03 state_sk=T#ep_1", "key#hash key tenant=T", "keys key#key_1 tenant=T", "later#T x",
			}
			kept := []string{
				"tenant#T tenant", "tenant#T datakey", "tenant#T endpoint#ep_1", "audit#T audit#1 tenant=T", "erasure#T erasure#1 tenant=T",
				"tenant#T-2 rate", "shares#T-2 limits", "event#evt_2 event tenant=T-2", "endpoint#T endpoint tenant=globex", "endpoint#ep_2#T delivery#1 tenant=globex",
				"endpoint#ep_2 stats#2026-01-02T03 state_sk=T-2#ep_2", "event#T event tenant=globex", "job#T outcomes#000000 tenant=globex", "key#T key tenant=globex",
				"keys key#T tenant=globex", "event-types event-type#T", "catalogue" + " catalogue",
			}
			w, store := newWire(t, answer{0, `{"Items":[` + itemsOf(tenant, own) + `],"LastEvaluatedKey":{"pk":{"S":"shares#x"},"sk":{"S":"limits"}}}`},
				answer{0, `{"Items":[` + itemsOf(tenant, kept) + `]}`})
			part, err := store.FindRecords(t.Context(), tenant, erasure.StageScan, "event#0 event")
			if err != nil || part.Next != "" {
				t.Fatalf("FindRecords() = %+v, %v; want the end of the table", part, err)
			}
			want := []string{"endpoint#ep_1 limits"} // names no tenant, and goes with its endpoint
			for _, line := range own {
				fields := strings.Fields(strings.ReplaceAll(line, "#T", "#"+string(tenant)))
				want = append(want, fields[0]+" "+fields[1])
			}
			var got []string
			for _, r := range part.Records {
				got = append(got, r.Key)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("found %q; want %q", got, want)
			}
			sent := w.sent()
			if len(sent) != 2 || sent[0].op != "Scan" || sent[0].body["ConsistentRead"] != true ||
				sent[0].body.at("ExclusiveStartKey", "pk", "S") != "event#0" || sent[1].body.at("ExclusiveStartKey", "pk", "S") != "shares#x" ||
				sent[0].body.at("ExpressionAttributeValues", ":named", "S") != "#"+string(tenant) {
				t.Errorf("sent %v; want two consistent scans from the cursor on", sent)
			}
		})
	}
}

// itemsOf returns the items in DynamoDB's JSON.
func itemsOf(tenant hook.TenantID, lines []string) string {
	var items []string
	for _, line := range lines {
		for _, mark := range []string{"#", "="} {
			line = strings.ReplaceAll(line, mark+"T", mark+string(tenant))
		}
		fields := strings.Fields(line)
		text := fmt.Sprintf(`{"pk":{"S":%q},"sk":{"S":%q}`, fields[0], fields[1])
		for _, more := range fields[2:] {
			name, value, _ := strings.Cut(more, "=")
			text += fmt.Sprintf(`,%q:{"S":%q}`, name, value)
		}
		items = append(items, text+"}")
	}
	return strings.Join(items, ",")
}

// TestStore_RemoveRecords_Writes checks the chunks, the repeated key, and the repetition of
// what a throttled request left.
func TestStore_RemoveRecords_Writes(t *testing.T) {
	t.Parallel()

	var records []erasure.Record
	for n := range 30 {
		records = append(records, erasure.Record{Key: fmt.Sprintf("event#%02d event", n)})
	}
	records = append(records, records[0])
	w, store := newWire(t)
	left := true
	w.reply = func(r request) answer {
		if writes, _ := r.body.at("RequestItems", "table").([]any); len(writes) == 5 && left {
			left = false
			return answer{0, `{"UnprocessedItems":{"table":[{"DeleteRequest":{"Key":{"pk":{"S":"event#29"},"sk":{"S":"event"}}}}]}}`}
		}
		return answer{0, "{}"}
	}
	if err := store.RemoveRecords(t.Context(), "acme", records); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range w.sent() {
		writes, _ := r.body.at("RequestItems", "table").([]any)
		sizes = append(sizes, len(writes))
		if r.op != "BatchWriteItem" || len(writes) == 1 && r.body.at("RequestItems", "table", 0, "DeleteRequest", "Key", "pk", "S") != "event#29" {
			t.Errorf("sent %s of %v; want removals", r.op, r.body)
		}
	}
	slices.Sort(sizes)
	if !slices.Equal(sizes, []int{1, 5, 25}) {
		t.Errorf("requests of %v removals; want 25 and 5, and the one that was left", sizes)
	}
}
