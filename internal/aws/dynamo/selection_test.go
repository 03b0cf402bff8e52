package dynamo_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// dead is the selection of all dead deliveries of the endpoint.
func dead() replay.Selection {
	return replay.Selection{Target: hook.Target{Endpoint: endpointID, Shards: 1}, State: hook.StateDead, Limit: 2}
}

func TestStore_Select_QueriesTheRangeOfTheIndex(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name             string
		from, to         time.Time
		wantFrom, wantTo string
	}{
		{name: "without bounds", from: time.Time{}, to: time.Time{}, wantFrom: "dead#0", wantTo: "dead#~"},
		{name: "from a time on", from: epoch, to: time.Time{}, wantFrom: "dead#2026-01-02T03:04:05.678Z", wantTo: "dead#~"},
		{name: "to a time", from: time.Time{}, to: epoch, wantFrom: "dead#0", wantTo: "dead#2026-01-02T03:04:05.678Z"},
		{
			name: "between times within milliseconds", from: epoch.Add(1), to: epoch.Add(time.Hour + 1),
			wantFrom: "dead#2026-01-02T03:04:05.679Z", wantTo: "dead#2026-01-02T04:04:05.679Z",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			selection := dead()
			selection.From, selection.To = tt.from, tt.to
			w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
			if _, _, err := store.Select(t.Context(), selection); err != nil {
				t.Fatal(err)
			}
			if _, err := store.CountSelected(t.Context(), selection); err != nil {
				t.Fatal(err)
			}
			values := map[string]any{
				":pk":   map[string]any{"S": "endpoint#" + string(endpointID) + "#00"},
				":from": map[string]any{"S": tt.wantFrom},
				":to":   map[string]any{"S": tt.wantTo},
			}
			want := []request{
				{op: "Query", body: body{
					"TableName": "table", "IndexName": "by_endpoint", "Limit": 3.0,
					"KeyConditionExpression":    "pk = :pk AND endpoint_sk BETWEEN :from AND :to",
					"ExpressionAttributeValues": values,
				}},
				{op: "Query", body: body{
					"TableName": "table", "IndexName": "by_endpoint", "Select": "COUNT",
					"KeyConditionExpression":    "pk = :pk AND endpoint_sk BETWEEN :from AND :to",
					"ExpressionAttributeValues": values,
				}},
			}
			if diff := cmp.Diff(want, w.sent(), cmp.AllowUnexported(request{})); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStore_Select_EmptyIntervalMakesNoRequest: DynamoDB rejects a query with a
// lower bound above the upper bound.
func TestStore_Select_EmptyIntervalMakesNoRequest(t *testing.T) {
	t.Parallel()

	for _, to := range []time.Time{epoch, epoch.Add(-time.Hour)} {
		selection := dead()
		selection.From, selection.To = epoch, to
		w, store := newWire(t)
		page, next, err := store.Select(t.Context(), selection)
		n, countErr := store.CountSelected(t.Context(), selection)
		if len(page) != 0 || next != "" || err != nil || n != 0 || countErr != nil || len(w.sent()) != 0 {
			t.Errorf("Select(%s to %s) = %v, %q, %v and %d, %v, requests %v; want none", epoch, to, page, next, err, n, countErr, w.sent())
		}
	}
}

func TestStore_CountSelected_AddsAllPages(t *testing.T) {
	t.Parallel()

	last := `"LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"S":"s"},"endpoint_sk":{"S":"r"}}`
	w, store := newWire(t,
		answer{body: `{"Count":4000,` + last + `}`}, answer{body: `{"Count":0,` + last + `}`}, answer{body: `{"Count":321}`},
	)
	if got, err := store.CountSelected(t.Context(), dead()); err != nil || got != 4321 || len(w.sent()) != 3 {
		t.Errorf("CountSelected() = %d, %v after %d requests; want 4321 after 3", got, err, len(w.sent()))
	}
	if start := w.sent()[2].body.at("ExclusiveStartKey", "endpoint_sk", "S"); start != "r" {
		t.Errorf("ExclusiveStartKey = %v; want the last page's end", start)
	}
}

// TestStore_Select_ForgedPositions checks that the bound of a query is always inside
// the selection.
func TestStore_Select_ForgedPositions(t *testing.T) {
	t.Parallel()

	row := func(state string, at time.Time) string {
		return string(endpointID) + "#" + state + "#" + at.Format(milliseconds) + "#" + string(eventID) + "#0001"
	}
	selection := dead()
	selection.From, selection.To = epoch, epoch.Add(time.Second)
	tests := []struct {
		name, row string
		valid     bool
	}{
		{name: "the first possible row", row: row("dead", epoch), valid: true},
		{name: "the last possible row", row: row("dead", epoch.Add(999*time.Millisecond)), valid: true},
		{name: "a row before the selection", row: row("dead", epoch.Add(-time.Millisecond)), valid: false},
		{name: "a row after the selection", row: row("dead", epoch.Add(time.Second)), valid: false},
		{name: "another state's", row: row("delivered", epoch), valid: false},
		{name: "no row", row: ownDead, valid: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			forged := selection
			forged.After = base64.RawURLEncoding.EncodeToString([]byte(tt.row))
			w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
			_, _, err := store.Select(t.Context(), forged)
			if tt.valid {
				if err != nil || w.only(t).body.at("ExpressionAttributeValues", ":from", "S") != strings.TrimPrefix(tt.row, string(endpointID)+"#") {
					t.Errorf("Select(after %q) = %v, requests %v; want a query from the position on", tt.row, err, w.sent())
				}
				return
			}
			if err == nil || hook.CodeOf(err) != hook.CodeInvalid || len(w.sent()) != 0 {
				t.Errorf("Select(after %q) = %v, requests %v; want CodeInvalid and no request", tt.row, err, w.sent())
			}
		})
	}
}
