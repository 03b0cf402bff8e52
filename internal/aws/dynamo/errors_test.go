package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"surehook/internal/aws/dynamo"
	"surehook/internal/hook"
)

func TestStore_TranslatesErrors(t *testing.T) {
	t.Parallel()

	putEvent := func(ctx context.Context, s *dynamo.Store) error { return s.PutEvent(ctx, event()) }
	save := func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, delivery(1), attempt()) }
	createEndpoint := func(ctx context.Context, s *dynamo.Store) error { return s.CreateEndpoint(ctx, endpoint("billing")) }
	update := func(ctx context.Context, s *dynamo.Store) error { return s.UpdateEndpoint(ctx, endpoint("billing")) }
	remove := func(ctx context.Context, s *dynamo.Store) error { return s.DeleteEndpoint(ctx, endpoint("billing")) }
	putKey := func(ctx context.Context, s *dynamo.Store) error {
		return s.PutKey(ctx, hook.APIKey{ID: "key_1", Hash: "h"})
	}
	load := func(ctx context.Context, s *dynamo.Store) error {
		_, err := s.Load(ctx, []hook.Token{hook.NewToken("acme", delivery(0).ID, 1)})
		return err
	}
	list := func(ctx context.Context, s *dynamo.Store) error {
		_, err := s.Endpoints(ctx, "acme")
		return err
	}
	saveJob := func(ctx context.Context, s *dynamo.Store) error { return s.SaveJob(ctx, job(1)) }
	count := func(ctx context.Context, s *dynamo.Store) error { return s.RecordOutcome(ctx, settled(hook.StateDead)) }
	selection := func(ctx context.Context, s *dynamo.Store) error {
		_, _, err := s.Select(ctx, dead())
		return err
	}
	jobs := func(ctx context.Context, s *dynamo.Store) error {
		_, err := s.Jobs(ctx, "acme", "", 1)
		return err
	}
	const failed, none = "ConditionalCheckFailed", "None"

	tests := []struct {
		name    string
		call    func(ctx context.Context, s *dynamo.Store) error
		answer  answer
		want    hook.Code
		message string // part of what the caller is told; empty for anything
	}{
		{"a condition that does not hold", putEvent, failure(400, "ConditionalCheckFailedException", ""), hook.CodeConflict, "exists already"},
		{"a delivery of another version", save, canceled(failed, none), hook.CodeConflict, "changed meanwhile"},
		{"a condition among throttled writes", save, canceled(failed, "ThrottlingError"), hook.CodeConflict, ""},
		{"an endpoint that exists", createEndpoint, canceled(failed, none, none), hook.CodeConflict, "the endpoint exists already"},
		{"a tenant at its limit", createEndpoint, canceled(none, failed, none), hook.CodeConflict, "a tenant has at most 500 endpoints"},
		{"a uid that is taken", createEndpoint, canceled(none, none, failed), hook.CodeConflict, "uid billing is taken"},
		{"an update of another version", update, canceled(failed, none), hook.CodeConflict, "the endpoint was changed meanwhile"},
		{"a delete of another version", remove, canceled(failed, none, none), hook.CodeConflict, "the endpoint was changed meanwhile"},
		{"a key that exists", putKey, canceled(failed, failed), hook.CodeConflict, ""},
		{"a job of another version", saveJob, failure(400, "ConditionalCheckFailedException", ""), hook.CodeConflict, "changed meanwhile"},
		{"a tally that is throttled", count, failure(400, "ThrottlingException", ""), hook.CodeUnavailable, ""},
		{"a selection past the capacity", selection, failure(400, "ProvisionedThroughputExceededException", ""), hook.CodeUnavailable, ""},
		{"a selection that is not valid", selection, failure(400, "ValidationException", ""), hook.CodeInternal, ""},
		{
			"a stored job whose state is none", jobs,
			answer{body: `{"Items":[{"state":{"S":"asleep"}}]}`},
			hook.CodeInternal, "",
		},
		{
			"a stored job whose page is none", jobs,
			answer{body: `{"Items":[{"state":{"S":"running"},"pending":{"L":[{"S":"x"}]}}]}`},
			hook.CodeInternal, "",
		},
		{"a concurrent transaction", update, canceled(none, "TransactionConflict"), hook.CodeUnavailable, "try again"},
		{"a write during a transaction", putEvent, failure(400, "TransactionConflictException", ""), hook.CodeUnavailable, ""},
		{"a transaction in progress", save, failure(400, "TransactionInProgressException", ""), hook.CodeUnavailable, ""},
		{"a throttled transaction", save, canceled(none, "ThrottlingError"), hook.CodeUnavailable, ""},
		{"a transaction past the capacity", save, canceled("ProvisionedThroughputExceeded", none), hook.CodeUnavailable, ""},
		{"a transaction that is not valid", save, canceled("ValidationError", none), hook.CodeInternal, ""},
		{"reads past the capacity", load, failure(400, "ProvisionedThroughputExceededException", ""), hook.CodeUnavailable, ""},
		{"throttling", load, failure(400, "ThrottlingException", ""), hook.CodeUnavailable, ""},
		{"requests past the account's limit", list, failure(400, "RequestLimitExceeded", ""), hook.CodeUnavailable, ""},
		{"a fault of DynamoDB", putEvent, failure(500, "InternalServerError", ""), hook.CodeUnavailable, ""},
		{"an answer that is no answer", list, answer{503, "<html>"}, hook.CodeUnavailable, ""},
		{"a table that is not there", list, failure(400, "ResourceNotFoundException", ""), hook.CodeInternal, ""},
		{"a request that is not valid", putEvent, failure(400, "ValidationException", ""), hook.CodeInternal, ""},
		{"a role that may not", load, failure(400, "AccessDeniedException", ""), hook.CodeInternal, ""},
		{
			"a stored word that is none", list,
			answer{body: `{"Items":[{"id":{"S":"ep_0123456789abcdef"},"status":{"S":"asleep"}}]}`},
			hook.CodeInternal, "",
		},
		{
			"a stored attribute of another type", list,
			answer{body: `{"Items":[{"version":{"S":"two"}}]}`},
			hook.CodeInternal, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, store := newWire(t, tt.answer)
			err := tt.call(t.Context(), store)
			e, ok := errors.AsType[*hook.Error](err)
			if !ok || e.Code != tt.want || !strings.Contains(e.Message, tt.message) {
				t.Errorf("error = %v (%s); want %s with the message %q", err, hook.CodeOf(err), tt.want, tt.message)
			}
		})
	}
}

func TestStore_ErrorsNameOperationAndID(t *testing.T) {
	t.Parallel()

	_, store := newWire(t)
	_, err := store.Event(t.Context(), eventID)
	if want := "read event " + string(eventID) + ": no such event"; err == nil || err.Error() != want {
		t.Errorf("Event(unknown) = %v; want %s", err, want)
	}
}

func TestStore_TriesAgainWhenThrottled(t *testing.T) {
	t.Parallel()

	w, store := newWire(t, failure(400, "ProvisionedThroughputExceededException", ""), answer{body: "{}"})
	if err := store.PutEvent(t.Context(), event()); err != nil {
		t.Errorf("PutEvent(throttled once) = %v; want nil", err)
	}
	if len(w.sent()) != 2 {
		t.Errorf("PutEvent(throttled once) sent %d requests; want 2", len(w.sent()))
	}
}

func TestStore_RetriedTransactionsKeepTheirToken(t *testing.T) {
	t.Parallel()

	w, store := newWire(t, failure(500, "InternalServerError", ""), answer{body: "{}"})
	for range 2 {
		if err := store.UpdateEndpoint(t.Context(), endpoint("")); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.sent()) != 3 {
		t.Fatalf("requests sent: %d; want 3, the first retried", len(w.sent()))
	}
	var tokens []any
	for _, r := range w.sent() {
		tokens = append(tokens, r.body.at("ClientRequestToken"))
	}
	if tokens[0] == nil || tokens[0] != tokens[1] || tokens[2] == tokens[0] {
		t.Errorf("ClientRequestToken = %v; want one for the first call and another for the second", tokens)
	}
}

func TestStore_Load_GivesUpWhenTheContextIsDone(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	w, store := newWire(t, answer{
		body: `{"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"event#x"},"sk":{"S":"event"}}],"ConsistentRead":true}}}`,
	})
	w.after = func(n int) {
		if n == 3 {
			cancel()
		}
	}
	_, err := store.Load(ctx, []hook.Token{hook.NewToken("acme", delivery(0).ID, 1)})
	if hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Load(never complete) = %v; want unavailable", err)
	}
}

func TestStore_Unreachable(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	w.hangUp = true
	if err := store.PutEvent(t.Context(), event()); hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("PutEvent(connection breaks) = %v; want unavailable", err)
	}
	if len(w.sent()) < 2 {
		t.Errorf("PutEvent(connection breaks) sent %d requests; want the SDK to try again", len(w.sent()))
	}
}
