package dynamo_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

const jobID hook.JobID = "rpl_01jgjb5c8weyrv1tzv2x3fjq7h"

func job(version int64) replay.Job {
	return replay.Job{
		ID: jobID, Tenant: "acme", Version: version, State: replay.JobRunning, Filter: replay.Filter{State: hook.StateDead},
		Terms: replay.Terms{Rate: 50}, CreatedAt: epoch, UpdatedAt: epoch, ExpiresAt: epoch.AddDate(0, 0, 30),
	}
}

// settled returns a delivery of the job, settled in the state.
func settled(state hook.State) hook.Delivery {
	d := delivery(3)
	d.ID.Generation, d.State, d.Job, d.JobIndex = 2, state, jobID, 12_345
	return d
}

func TestStore_Jobs_ContinuesBelowTheID(t *testing.T) {
	t.Parallel()

	tests := []struct {
		before hook.JobID
		limit  int
		start  any
		want   float64
	}{
		{before: "", limit: 10, start: nil, want: 10},
		{before: jobID, limit: 10, start: map[string]any{"pk": map[string]any{"S": "tenant#acme"}, "sk": map[string]any{"S": "replay#" + string(jobID)}}, want: 10},
		{before: "", limit: 0, start: nil, want: 1},
		{before: "", limit: 102, start: nil, want: replay.MaxListed},
	}
	for _, tt := range tests {
		w, store := newWire(t, answer{body: `{"Items":[]}`})
		if _, err := store.Jobs(t.Context(), "acme", tt.before, tt.limit); err != nil {
			t.Fatal(err)
		}
		sent := w.only(t).body
		if diff := cmp.Diff([]any{tt.start, tt.want, false}, []any{sent["ExclusiveStartKey"], sent["Limit"], sent["ScanIndexForward"]}); diff != "" {
			t.Errorf("Jobs(before %q, limit %d) start, limit and direction (-want +got):\n%s", tt.before, tt.limit, diff)
		}
	}
}

func TestStore_SaveJob_SetsTheExpiryTime(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	if err := store.SaveJob(t.Context(), job(0)); err != nil {
		t.Fatal(err)
	}
	if got := w.only(t).body.at("TransactItems", 0, "Put", "Item", "expires_at", "N"); got != "1769915045" { // 30 days after epoch
		t.Errorf("job has expires_at %v; want 1769915045", got)
	}
}

func TestStore_RecordOutcome_AddsTheIndexToOneSet(t *testing.T) {
	t.Parallel()

	tests := []struct {
		state   hook.State
		index   int
		sk, set string
		n       string
	}{
		{state: hook.StateDelivered, index: 0, sk: "outcomes#000000", set: "delivered", n: "0"},
		{state: hook.StateDead, index: 99, sk: "outcomes#000000", set: "dead", n: "99"},
		{state: hook.StateCancelled, index: 100, sk: "outcomes#000001", set: "cancelled", n: "0"},
		{state: hook.StateDiscarded, index: 12_345, sk: "outcomes#000123", set: "cancelled", n: "45"},
		{state: hook.StateDelivered, index: 99_999_999, sk: "outcomes#999999", set: "delivered", n: "99"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("index %d, %s", tt.index, tt.state), func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			d := settled(tt.state)
			d.JobIndex = tt.index
			if err := store.RecordOutcome(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			want := request{"UpdateItem", body{
				"TableName":        "table",
				"Key":              map[string]any{"pk": map[string]any{"S": "job#" + string(jobID)}, "sk": map[string]any{"S": tt.sk}},
				"UpdateExpression": "SET expires_at = :expires, tenant = :tenant ADD " + tt.set + " :index",
				"ExpressionAttributeValues": map[string]any{
					":index":   map[string]any{"NS": []any{tt.n}},
					":expires": map[string]any{"N": "1782875045"}, // 180 days after epoch
					":tenant":  map[string]any{"S": "acme"},
				},
			}}
			if diff := cmp.Diff(want, w.only(t), cmp.AllowUnexported(request{})); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStore_RecordOutcome_RejectsWithoutARequest(t *testing.T) {
	t.Parallel()

	none, negative := settled(hook.StateDead), settled(hook.StateDead)
	none.Job, negative.JobIndex = "", -1
	for _, d := range []hook.Delivery{settled(hook.StateParked), settled(0), none, negative} {
		w, store := newWire(t)
		if err := store.RecordOutcome(t.Context(), d); err == nil || hook.CodeOf(err) != hook.CodeInternal || len(w.sent()) != 0 {
			t.Errorf("RecordOutcome(%s, job %q, index %d) = %v after %d requests; want an internal error after none", d.State, d.Job, d.JobIndex, err, len(w.sent()))
		}
	}
}

func TestStore_JobOutcomes_ReadsAllPages(t *testing.T) {
	t.Parallel()

	w, store := newWire(t,
		answer{body: `{"Items":[{"delivered":{"NS":["0","1"]},"dead":{"NS":["1","2"]},"cancelled":{"NS":["2","3"]}}],` +
			`"LastEvaluatedKey":{"pk":{"S":"job#x"},"sk":{"S":"outcomes#000000"}}}`},
		answer{body: `{"Items":[{"dead":{"NS":["0","1"]},"expires_at":{"N":"1"}}]}`},
	)
	got, err := store.JobOutcomes(t.Context(), jobID)
	if want := (replay.Outcomes{Delivered: 2, Dead: 3, Cancelled: 1}); err != nil || got != want || len(w.sent()) != 2 {
		t.Errorf("JobOutcomes() = %+v, %v after %d requests; want %+v after 2", got, err, len(w.sent()), want)
	}
}

func TestStore_DeliveriesByRef_ReadsEachIDOnce(t *testing.T) {
	t.Parallel()

	ids := make([]hook.DeliveryRef, 0, 202)
	for n := range 101 {
		id := delivery(0).Ref()
		id.Generation = n + 1
		ids = append(ids, id, id)
	}
	w, store := newWire(t)
	if _, err := store.DeliveriesByRef(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for _, r := range w.sent() {
		keys, _ := r.body.at("RequestItems", "table", "Keys").([]any)
		sizes = append(sizes, len(keys))
	}
	if diff := cmp.Diff([]int{100, 1}, sizes); diff != "" {
		t.Errorf("keys per request (-want +got):\n%s", diff)
	}
}
