package dynamo_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"surehook/internal/hook"
)

// TestStore_DeliveriesByEndpoint_ForgedCursors checks that the bound of a query
// is always a possible position of the endpoint in the state.
func TestStore_DeliveriesByEndpoint_ForgedCursors(t *testing.T) {
	t.Parallel()

	const at, own = "2026-01-02T03:04:05.678Z", "#" + string(eventID) + "#0001"
	tests := []struct {
		name, row string
		valid     bool
	}{
		{name: "a position of the endpoint", row: ownDead + at + own, valid: true},
		{name: "another endpoint's", row: "ep_fedcba9876543210#dead#" + at + own, valid: false},
		{name: "another state's", row: string(endpointID) + "#parked#" + at + own, valid: false},
		{name: "another state's, after the state", row: ownDead + "parked#" + at + own, valid: false},
		{name: "no endpoint", row: "dead#" + at + own, valid: false},
		{name: "no position", row: ownDead, valid: false},
		{name: "no time", row: ownDead + own, valid: false},
		{name: "a time in another format", row: ownDead + "2026-01-02T03:04:05Z" + own, valid: false},
		{name: "a date out of range", row: ownDead + "2026-02-30T03:04:05.678Z" + own, valid: false},
		{name: "invalid UTF-8", row: ownDead + "\xff\xfe" + own, valid: false},
		{name: "a zero byte", row: ownDead + at + "\x00" + own, valid: false},
		{name: "longer than a key", row: ownDead + strings.Repeat("2", 2000) + own, valid: false},
		{name: "no event", row: ownDead + at + "#x#0001", valid: false},
		{name: "a generation in another format", row: ownDead + at + "#" + string(eventID) + "#1", valid: false},
		{name: "text after the position", row: ownDead + at + own + "#x", valid: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t, answer{body: `{"Items":[],"Count":0}`})
			cursor := base64.RawURLEncoding.EncodeToString([]byte(tt.row))
			_, _, err := store.DeliveriesByEndpoint(t.Context(), hook.Target{Endpoint: endpointID, Shards: 1}, hook.StateDead, cursor, 1)
			if tt.valid {
				sent := w.only(t).body
				if err != nil || sent.at("ExpressionAttributeValues", ":pk", "S") != "endpoint#"+string(endpointID)+"#00" ||
					sent.at("ExpressionAttributeValues", ":to", "S") != strings.TrimPrefix(tt.row, string(endpointID)+"#") {
					t.Errorf("DeliveriesByEndpoint(%q) = %v, requests %v; want a query up to the position", tt.row, err, sent)
				}
				return
			}
			if len(w.sent()) != 0 || err == nil || hook.CodeOf(err) != hook.CodeInvalid {
				t.Errorf("DeliveriesByEndpoint(%q) = %v, requests %v; want CodeInvalid and no request", tt.row, err, w.sent())
			}
		})
	}
}
