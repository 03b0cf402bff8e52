package ingest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
	"surehook.example/surehook/internal/rule/schema"
)

// costly creates as many endpoints as allowed, with filters that match nothing and take almost
// all of their steps for the payload.
func (w *bundle) costly() (payload string) {
	w.T.Helper()

	for range hook.DefaultEndpoints {
		w.filtered(`{"payload":{"a":[2]}}`, "*")
	}
	return `{"a":[` + strings.Repeat(`1,`, filter.MaxSteps/2-10) + `1]}`
}

// The steps are always enough for the filters of one event. Events of a batch past the bound are
// refused, and accepted when they are posted alone.
func TestAcceptBatch_refusesEventsPastTheFilterSteps(t *testing.T) {
	t.Parallel()

	w := setup(t)
	payload := w.costly()
	requests := make([]ingest.Request, 3)
	for i, key := range []string{"a", "b", "c"} {
		requests[i] = ingest.Request{Type: "a", Payload: []byte(payload), IdempotencyKey: key}
	}
	results := w.acceptor.AcceptBatch(t.Context(), "acme", requests)
	if results[0].Err != nil || results[0].Deliveries != 0 {
		t.Errorf("result of the first event = %+v; want no delivery", results[0])
	}
	for i, key := range []string{"b", "c"} {
		if i == 0 { // the steps that the first event left are enough for a few filters only
			refused(t, results[1].Err, hook.CodeTooLarge, fmt.Sprint(ingest.MaxFilterSteps, " steps"), 0)
		}
		refused(t, results[1+i].Err, hook.CodeTooLarge, "smaller batch", 0)
		if _, err := w.Store.Event(t.Context(), hook.KeyedEventID("acme", key)); hook.CodeOf(err) != hook.CodeNotFound {
			t.Errorf("Event(%s) = %v; want no event", key, err)
		}
	}
	if result, err := w.acceptor.Accept(t.Context(), "acme", requests[1]); err != nil || result.Duplicate {
		t.Errorf("Accept(alone) = %+v, %v; want a new event", result, err)
	}
	// A repeat of an accepted event succeeds, because the filters do not run again.
	if results := w.acceptor.AcceptBatch(t.Context(), "acme", requests); results[1].Err != nil || !results[1].Duplicate {
		t.Errorf("AcceptBatch(again) = %+v; want a duplicate", results[1])
	}
}

// Events past the bound are not checked, and the response says so.
func TestAcceptBatch_leavesEventsPastTheCheckStepsUnchecked(t *testing.T) {
	t.Parallel()

	for _, validation := range []hook.Validation{hook.ValidationWarn, hook.ValidationReject} {
		w := setup(t)
		w.endpoint("acme", "*")
		w.checked(validation)
		w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(`{"items":{"enum":[` + strings.Repeat(`1,`, 4000) + `2]}}`)})
		requests := slices.Repeat([]ingest.Request{order(`[` + strings.Repeat("1,", 999) + `1]`)}, ingest.MaxCheckSteps/schema.MaxSteps+2)
		for i, result := range w.acceptor.AcceptBatch(t.Context(), "acme", requests) {
			got := result.Warnings
			if refusal, ok := errors.AsType[*hook.Error](result.Err); ok {
				got = refusal.Fields
			}
			want := "is too large for the schema"
			if i >= ingest.MaxCheckSteps/schema.MaxSteps {
				want = "is not checked"
			}
			if (result.Err != nil) != (validation == hook.ValidationReject) || len(got) != 1 || !strings.HasPrefix(got[0].Message, want) {
				t.Errorf("%s: result %d = %+v; want %q", validation, i, result, want)
			}
		}
	}
}

// A batch past the tenant's limit runs no filter and no schema. Decoding a payload for them would
// allocate memory for each of its values.
func TestAcceptBatch_pastTheLimitDecodesNoPayload(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all goroutines
	w := setup(t)
	payload := w.costly()
	w.checked(hook.ValidationReject)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(`{"items":{"enum":[1,2,3]}}`)})
	w.limit(hook.TenantLimits{EventsPerSecond: 1})
	requests := slices.Repeat([]ingest.Request{order(payload)}, hook.MaxBatchEvents)
	w.acceptor.AcceptBatch(t.Context(), "acme", requests[:1])
	allocations := testing.AllocsPerRun(3, func() {
		for i, result := range w.acceptor.AcceptBatch(t.Context(), "acme", requests) {
			if hook.CodeOf(result.Err) != hook.CodeThrottled {
				t.Fatalf("result %d = %v; want throttled", i, result.Err)
			}
		}
	})
	if most := 20.0 * hook.MaxBatchEvents; allocations > most {
		t.Errorf("%.0f allocations; want at most %.0f", allocations, most)
	}
}

// A schema from a build with other bounds stops only the events of its type.
func TestAcceptBatch_anUnusableSchemaStopsOnlyItsType(t *testing.T) {
	t.Parallel()

	w := setup(t)
	w.endpoint("acme", "*")
	w.checked(hook.ValidationReject)
	w.eventType(hook.EventType{Name: "order.paid", Schema: []byte(`{"pattern":"a{1000}b{0,1000}c{0,1000}d{0,1000}e{0,1000}"}`)})
	w.eventType(hook.EventType{Name: "free"})
	results := w.acceptor.AcceptBatch(t.Context(), "acme", []ingest.Request{order(`"a"`), {Type: "free", Payload: []byte(`1`)}})
	if results[1].Err != nil || hook.CodeOf(results[0].Err) != hook.CodeMismatch || !strings.Contains(results[0].Err.Error(), "has a schema that cannot be used") {
		t.Errorf("AcceptBatch() = %+v; want a refusal of the first alone", results)
	}
}
