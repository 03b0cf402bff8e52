package dynamo_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"surehook/internal/hook"
)

// TestStore_DeliveriesByEndpoint_ForgedCursors checks that the start key of a query
// is always a possible row of the endpoint in the state.
func TestStore_DeliveriesByEndpoint_ForgedCursors(t *testing.T) {
	t.Parallel()

	own, other := delivery(0).ID, delivery(0).ID
	other.Endpoint = "ep_fedcba9876543210"
	const at = "2026-01-02T03:04:05.678Z"
	tests := []struct {
		name, row string
		valid     bool
	}{
		{name: "a row of the endpoint", row: "dead#" + at + "#" + own.String(), valid: true},
		{name: "another endpoint's", row: "dead#" + at + "#" + other.String(), valid: false},
		{name: "another state's", row: "parked#" + at + "#" + own.String(), valid: false},
		{name: "another state's, after the state", row: "dead#parked#" + at + "#" + own.String(), valid: false},
		{name: "no state", row: at + "#" + own.String(), valid: false},
		{name: "the state alone", row: "dead#", valid: false},
		{name: "no time", row: "dead##" + own.String(), valid: false},
		{name: "no time and no separator", row: "dead#" + own.String(), valid: false},
		{name: "a time in another format", row: "dead#2026-01-02T03:04:05Z#" + own.String(), valid: false},
		{name: "a date out of range", row: "dead#2026-02-30T03:04:05.678Z#" + own.String(), valid: false},
		{name: "invalid UTF-8", row: "dead#\xff\xfe#" + own.String(), valid: false},
		{name: "a zero byte", row: "dead#" + at + "\x00#" + own.String(), valid: false},
		{name: "longer than a key", row: "dead#" + strings.Repeat("2", 2000) + "#" + own.String(), valid: false},
		{name: "no delivery", row: "dead#" + at + "#x", valid: false},
		{name: "text after the delivery", row: "dead#" + at + "#" + own.String() + "#x", valid: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
			cursor := base64.RawURLEncoding.EncodeToString([]byte(tt.row))
			_, _, err := store.DeliveriesByEndpoint(t.Context(), endpointID, hook.StateDead, cursor, 1)
			if tt.valid {
				sent := w.only(t).body
				if err != nil || sent.at("ExpressionAttributeValues", ":endpoint", "S") != string(endpointID) || sent.at("ExclusiveStartKey", "endpoint_sk", "S") != tt.row {
					t.Errorf("DeliveriesByEndpoint(%q) = %v, requests %v; want a query after the row", tt.row, err, sent)
				}
				return
			}
			if len(w.sent()) != 0 || err == nil || hook.CodeOf(err) != hook.CodeInvalid {
				t.Errorf("DeliveriesByEndpoint(%q) = %v, requests %v; want CodeInvalid and no request", tt.row, err, w.sent())
			}
		})
	}
}
