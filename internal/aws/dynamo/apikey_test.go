package dynamo_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

func TestStore_TouchKey_IsConditional(t *testing.T) {
	t.Parallel()

	const condition = "attribute_exists(pk) AND (attribute_not_exists(last_used_on) OR last_used_on < :day)"
	update := func(pk, sk string) any {
		return map[string]any{"Update": map[string]any{
			"TableName":                 "table",
			"Key":                       map[string]any{"pk": map[string]any{"S": pk}, "sk": map[string]any{"S": sk}},
			"UpdateExpression":          "SET last_used_on = :day",
			"ConditionExpression":       condition,
			"ExpressionAttributeValues": map[string]any{":day": map[string]any{"S": "2026-11-21"}},
		}}
	}
	w, store := newWire(t)
	if err := store.TouchKey(t.Context(), hook.APIKey{ID: "key_1", Hash: "h"}, "2026-11-21"); err != nil {
		t.Fatal(err)
	}
	want := []any{update("key#h", "key"), update("keys", "key#key_1")}
	if diff := cmp.Diff(want, w.only(t).body.at("TransactItems")); diff != "" {
		t.Errorf("writes sent (-want +got):\n%s", diff)
	}
}

func TestStore_TouchKey_Refusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		answer answer
		want   hook.Code
	}{
		{name: "the key is gone, or the day is recorded", answer: canceled("ConditionalCheckFailed", "ConditionalCheckFailed"), want: hook.CodeConflict},
		{name: "a concurrent request records a day", answer: canceled("TransactionConflict", "None"), want: hook.CodeUnavailable},
		{name: "the function has no permission", answer: failure(400, "AccessDeniedException", ""), want: hook.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, store := newWire(t, tt.answer)
			if err := store.TouchKey(t.Context(), hook.APIKey{ID: "key_1", Hash: "h"}, "2026-11-21"); err == nil || hook.CodeOf(err) != tt.want {
				t.Errorf("TouchKey = %v (%s); want %s", err, hook.CodeOf(err), tt.want)
			}
		})
	}
}

func openedLink() hook.PortalLink {
	return hook.PortalLink{
		ID: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}, CodeHash: "c", KeyHash: "h",
		CreatedAt: epoch, OpenUntil: epoch.Add(time.Minute), ExpiresAt: epoch.Add(time.Hour),
	}
}

// TestStore_linksExpire checks that both items of a portal link have a TTL, and the items of
// other keys none: lists show expired keys.
func TestStore_linksExpire(t *testing.T) {
	t.Parallel()

	const want = "1767326645" // epoch and an hour
	w, store := newWire(t)
	if err := store.PutLink(t.Context(), openedLink()); err != nil {
		t.Fatal(err)
	}
	if got := w.only(t).body.at("Item", "expires_at", "N"); got != want {
		t.Errorf("PutLink: expires_at = %v; want %s", got, want)
	}
	w, store = newWire(t)
	if err := store.OpenLink(t.Context(), openedLink()); err != nil {
		t.Fatal(err)
	}
	if got := item(w.only(t), "1 Put Item expires_at N"); got != want {
		t.Errorf("OpenLink: expires_at of the key = %v; want %s", got, want)
	}
	w, store = newWire(t)
	k := hook.APIKey{ID: "key_2", Hash: "h2", Restriction: hook.Restriction{ExpiresAt: epoch.Add(time.Hour)}}
	if err := store.PutKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if got := item(w.only(t), "0 Put Item expires_at N"); got != nil {
		t.Errorf("PutKey: expires_at = %v; want none", got)
	}
}
