package dynamo_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// TestStore_Spend_Writes checks the number of requests and the result of each answer. The
// next-free time in an answer is relative to now.
func TestStore_Spend_Writes(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	busy := func(free time.Duration) answer {
		return answer{400, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"free_ns":{"N":"%d"}}}`, now.Add(free).UnixNano())}
	}
	tests := []struct {
		name   string
		script []answer
		writes int
		wait   time.Duration
		code   hook.Code
	}{
		{name: "an idle tenant costs one write", script: []answer{{}}, writes: 1, wait: 0, code: 0},
		{name: "a tenant with spent units costs two", script: []answer{busy(time.Millisecond), {}}, writes: 2, wait: 0, code: 0},
		{name: "a refusal costs one", script: []answer{busy(time.Second)}, writes: 1, wait: 100 * time.Millisecond, code: 0},
		{name: "units spent meanwhile", script: []answer{busy(time.Millisecond), busy(2 * time.Second)}, writes: 2, wait: 1100 * time.Millisecond, code: 0},
		{name: "a throttled write", script: []answer{failure(400, "ThrottlingException", "")}, writes: 0, wait: 0, code: hook.CodeUnavailable},
		{name: "an answer without the item", script: []answer{failure(400, "ConditionalCheckFailedException", "")}, writes: 1, wait: 0, code: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t, tt.script...)
			wait, err := store.Spend(t.Context(), "acme", hook.NewSpend(hook.SpentEvents, 1, 10, time.Second, now))
			if wait != tt.wait || (err != nil) != (tt.code != 0) || err != nil && hook.CodeOf(err) != tt.code {
				t.Errorf("Spend() = %v, %v; want %v and %s", wait, err, tt.wait, tt.code)
			}
			sent := w.sent()
			if tt.writes > 0 && len(sent) != tt.writes {
				t.Errorf("%d writes; want %d", len(sent), tt.writes)
			}
			for _, r := range sent {
				if r.op != "UpdateItem" || r.body.at("Key", "pk", "S") != "tenant#acme" || r.body.at("Key", "sk", "S") != "rate" {
					t.Errorf("sent %s of %v; want an update of the tenant's rate", r.op, r.body["Key"])
				}
			}
		})
	}
}

// TestStore_CreateEndpoint_NamesTheLimit checks that the error names the limit from the failed
// condition, and not one read later.
func TestStore_CreateEndpoint_NamesTheLimit(t *testing.T) {
	t.Parallel()

	w, store := newWire(t, answer{400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[` +
		`{"Code":"None"},{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"endpoints":{"N":"3"},"limits":{"M":{"endpoints":{"N":"3"}}}}}]}`})
	err := store.CreateEndpoint(t.Context(), endpoint(""))
	e, ok := errors.AsType[*hook.Error](err)
	if !ok || e.Code != hook.CodeForbidden || e.Message != "the tenant is limited to 3 endpoints (endpoints)" {
		t.Errorf("CreateEndpoint() = %v; want forbidden, with the limit", err)
	}
	w.only(t)
}

// The index lags, so all rows of a page may name tenants that are gone. Other tenants may still
// follow.
func TestStore_Tenants_AnEmptyPageGoesOn(t *testing.T) {
	t.Parallel()

	const row = `{"pk":{"S":"tenant#gone"},"sk":{"S":"tenant"},"state_pk":{"S":"tenants"},"state_sk":{"S":"gone"}}`
	_, store := newWire(t, answer{body: `{"Items":[` + row + `],"LastEvaluatedKey":` + row + `}`}, answer{body: `{"Responses":{"table":[]}}`})
	page, next, err := store.Tenants(t.Context(), "", "", 1)
	if err != nil || len(page) != 0 || next != "gone" {
		t.Errorf("Tenants() = %d tenants, next %q, %v; want none, and the next after gone", len(page), next, err)
	}
}
