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
		{"a row of the endpoint", "dead#" + at + "#" + own.String(), true},
		{"another endpoint's", "dead#" + at + "#" + other.String(), false},
		{"another state's", "parked#" + at + "#" + own.String(), false},
		{"another state's, after the state", "dead#parked#" + at + "#" + own.String(), false},
		{"no state", at + "#" + own.String(), false},
		{"the state alone", "dead#", false},
		{"no time", "dead##" + own.String(), false},
		{"no time and no mark for it", "dead#" + own.String(), false},
		{"a time of another form", "dead#2026-01-02T03:04:05Z#" + own.String(), false},
		{"a time there is not", "dead#2026-02-30T03:04:05.678Z#" + own.String(), false},
		{"bytes that are no UTF-8", "dead#\xff\xfe#" + own.String(), false},
		{"a zero byte", "dead#" + at + "\x00#" + own.String(), false},
		{"more than a key can be", "dead#" + strings.Repeat("2", 2000) + "#" + own.String(), false},
		{"no delivery", "dead#" + at + "#x", false},
		{"something after the delivery", "dead#" + at + "#" + own.String() + "#x", false},
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
