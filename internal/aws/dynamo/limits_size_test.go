package dynamo_test

import (
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// All processes of an endpoint with the most slots have died. The claims that replace the ended
// leases remove them in the same write, which must stay within DynamoDB's limit for an
// expression.
func TestStore_ChangeLimits_ExpressionFits(t *testing.T) {
	t.Parallel()

	const expressionLimit = 4096 // bytes
	before := admission.Limits{RateSlot: epoch, Rate: 1, Leases: make(map[string]admission.Lease)}
	for i := range hook.MaxMaxInFlight {
		before.Leases[fmt.Sprint("ended", i)] = admission.Lease{Nonce: "n", Until: epoch}
	}
	after := before.Live(epoch).CountLate(1, epoch).Answered(admission.Answer{Took: time.Second, Timed: true}, 1, epoch, epoch)
	for i := range admission.MaxClaims {
		after, _ = after.Reserve(1, epoch)
		after = after.Begin(admission.Held{Key: fmt.Sprint("claim", i), Lease: admission.Lease{Nonce: "n", Until: epoch.Add(time.Minute)}})
	}
	after.Most = hook.MaxMaxInFlight
	w, store := newWire(t)
	if err := store.ChangeLimits(t.Context(), endpointID, before, after); err != nil {
		t.Fatal(err)
	}
	for _, expression := range []string{"ConditionExpression", "UpdateExpression"} {
		text, _ := w.only(t).body[expression].(string)
		if len(text) == 0 || len(text) > expressionLimit {
			t.Errorf("%s has %d bytes; want 1 to %d", expression, len(text), expressionLimit)
		}
	}
}
