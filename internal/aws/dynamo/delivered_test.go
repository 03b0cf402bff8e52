package dynamo_test

import (
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// TestStore_Select_Delivered checks that delivered deliveries of the first generation are found
// in the partition, that the work per page is bounded, and that the cursor says how far the page
// read.
func TestStore_Select_Delivered(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	looked := 0
	position := func(n int) string {
		return epoch.Add(time.Duration(n)*time.Second).Format(milliseconds) + "#" + string(eventID) + "#0001"
	}
	w.reply = func(r request) answer {
		if r.op != "Query" || r.body.at("IndexName") != nil {
			return reply(map[string]any{"Items": []any{}})
		}
		looked++ // no delivery on this page is delivered
		return reply(map[string]any{"Items": []any{}, "LastEvaluatedKey": map[string]any{
			"pk": s("endpoint#" + string(endpointID) + "#00"), "sk": s("delivery#" + position(looked)),
		}})
	}
	selection := replay.Selection{Target: hook.Target{Endpoint: endpointID, Shards: 1}, State: hook.StateDelivered, Limit: 10}
	page, next, err := store.Select(t.Context(), selection)
	if err != nil || len(page) != 0 || next == "" || looked != 5 {
		t.Fatalf("Select(delivered) = %v, %q, %v after %d pages; want an empty page and a cursor after 5", page, next, err, looked)
	}
	w.reply = func(request) answer { return reply(map[string]any{"Items": []any{}}) }
	before := len(w.sent())
	selection.After = next
	if _, next, err = store.Select(t.Context(), selection); err != nil || next != "" {
		t.Fatalf("Select(delivered, cursor) = %q, %v; want the end", next, err)
	}
	for _, r := range w.sent()[before:] {
		prefix := map[any]string{nil: "delivery#", "by_endpoint": "delivered#"}[r.body.at("IndexName")]
		if from := r.body.at("ExpressionAttributeValues", ":from", "S"); from != prefix+position(5) {
			t.Errorf("the next page begins at %v; want %s%s, the end of the fifth page", from, prefix, position(5))
		}
	}
}
