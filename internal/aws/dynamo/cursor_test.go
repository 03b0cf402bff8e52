package dynamo_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"surehook/internal/hook"
)

// TestStore_DeliveriesByEndpoint_ForgedCursors checks that nothing is asked of
// the table but to go on after what can be a row of the endpoint in the state.
func TestStore_DeliveriesByEndpoint_ForgedCursors(t *testing.T) {
	t.Parallel()

	own, other := delivery(0).ID, delivery(0).ID
	other.Endpoint = "ep_fedcba9876543210"
	const at = "2026-01-02T03:04:05.678Z"
	tests := []struct {
		name, row string
		goesOn    bool
	}{
		{name: "a row of the endpoint", row: "dead#" + at + "#" + own.String(), goesOn: true},
		{name: "another endpoint's", row: "dead#" + at + "#" + other.String(), goesOn: false},
		{name: "another state's", row: "parked#" + at + "#" + own.String(), goesOn: false},
		{name: "another state's, after the state", row: "dead#parked#" + at + "#" + own.String(), goesOn: false},
		{name: "no state", row: at + "#" + own.String(), goesOn: false},
		{name: "the state alone", row: "dead#", goesOn: false},
		{name: "no time", row: "dead##" + own.String(), goesOn: false},
		{name: "no time and no mark for it", row: "dead#" + own.String(), goesOn: false},
		{name: "a time of another form", row: "dead#2026-01-02T03:04:05Z#" + own.String(), goesOn: false},
		{name: "a time there is not", row: "dead#2026-02-30T03:04:05.678Z#" + own.String(), goesOn: false},
		{name: "bytes that are no UTF-8", row: "dead#\xff\xfe#" + own.String(), goesOn: false},
		{name: "a zero byte", row: "dead#" + at + "\x00#" + own.String(), goesOn: false},
		{name: "more than a key can be", row: "dead#" + strings.Repeat("2", 2000) + "#" + own.String(), goesOn: false},
		{name: "no delivery", row: "dead#" + at + "#x", goesOn: false},
		{name: "something after the delivery", row: "dead#" + at + "#" + own.String() + "#x", goesOn: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
			cursor := base64.RawURLEncoding.EncodeToString([]byte(tt.row))
			_, _, err := store.DeliveriesByEndpoint(t.Context(), endpointID, hook.StateDead, cursor, 1)
			if tt.goesOn {
				sent := w.only(t).body
				if err != nil || sent.at("ExpressionAttributeValues", ":endpoint", "S") != string(endpointID) || sent.at("ExclusiveStartKey", "endpoint_sk", "S") != tt.row {
					t.Errorf("DeliveriesByEndpoint(%q) = %v, asking %v; want to go on in the endpoint", tt.row, err, sent)
				}
				return
			}
			if len(w.sent()) != 0 || err == nil || hook.CodeOf(err) != hook.CodeInvalid {
				t.Errorf("DeliveriesByEndpoint(%q) = %v, asking %v; want CodeInvalid and nothing asked", tt.row, err, w.sent())
			}
		})
	}
}
