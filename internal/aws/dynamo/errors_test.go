package dynamo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
)

func TestStore_TranslatesErrors(t *testing.T) {
	t.Parallel()

	putEvent := func(ctx context.Context, s *dynamo.Store) error { return s.PutEvent(ctx, event()) }
	save := func(ctx context.Context, s *dynamo.Store) error {
		return s.SaveDelivery(ctx, delivery(1), longAttempt())
	}
	createEndpoint := func(ctx context.Context, s *dynamo.Store) error { return s.CreateEndpoint(ctx, endpoint("billing")) }
	update := func(ctx context.Context, s *dynamo.Store) error { return s.UpdateEndpoint(ctx, endpoint("billing")) }
	remove := func(ctx context.Context, s *dynamo.Store) error { return s.DeleteEndpoint(ctx, endpoint("billing")) }
	putKey := func(ctx context.Context, s *dynamo.Store) error {
		return s.PutKey(ctx, hook.APIKey{ID: "key_1", Hash: "h"})
	}
	load := func(ctx context.Context, s *dynamo.Store) error {
		_, err := s.Load(ctx, []hook.Task{hook.NewTask("acme", delivery(0).Ref(), 1)})
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
	readJob := func(ctx context.Context, s *dynamo.Store) error {
		_, err := s.Job(ctx, "acme", jobID)
		return err
	}
	read := func(ctx context.Context, s *dynamo.Store) error {
		_, err := s.Endpoint(ctx, "acme", endpointID)
		return err
	}
	const failed, none = "ConditionalCheckFailed", "None"

	tests := []struct {
		name    string
		call    func(ctx context.Context, s *dynamo.Store) error
		answer  answer
		want    hook.Code
		message string // expected part of the message; empty: any message
	}{
		{name: "a failed condition", call: putEvent, answer: failure(400, "ConditionalCheckFailedException", ""), want: hook.CodeConflict, message: "exists already"},
		{name: "a delivery of another version", call: save, answer: canceled(failed, none), want: hook.CodeConflict, message: "changed meanwhile"},
		{name: "a condition among throttled writes", call: save, answer: canceled(failed, "ThrottlingError"), want: hook.CodeConflict, message: ""},
		{name: "an existing endpoint", call: createEndpoint, answer: canceled(failed, none, none, none), want: hook.CodeConflict, message: "the endpoint exists already"},
		{name: "a tenant at its limit", call: createEndpoint, answer: canceled(none, none, none, failed, none), want: hook.CodeConflict, message: "a tenant has at most 500 endpoints"},
		{name: "a URL at its limit", call: createEndpoint, answer: canceled(none, none, failed, none, none), want: hook.CodeForbidden, message: "at most 10 endpoints with one URL"},
		{name: "a taken uid", call: createEndpoint, answer: canceled(none, failed, none, none, none), want: hook.CodeConflict, message: "uid billing is taken"},
		{name: "an update of another version", call: update, answer: canceled(failed, none), want: hook.CodeConflict, message: "the endpoint was changed meanwhile"},
		{name: "a delete of another version", call: remove, answer: canceled(failed, none, none, none), want: hook.CodeConflict, message: "the endpoint was changed meanwhile"},
		{name: "an existing key", call: putKey, answer: canceled(failed, failed), want: hook.CodeConflict, message: ""},
		{name: "a job of another version", call: saveJob, answer: failure(400, "ConditionalCheckFailedException", ""), want: hook.CodeConflict, message: "changed meanwhile"},
		{name: "a throttled count of an outcome", call: count, answer: failure(400, "ThrottlingException", ""), want: hook.CodeUnavailable, message: ""},
		{name: "a selection past the capacity", call: selection, answer: failure(400, "ProvisionedThroughputExceededException", ""), want: hook.CodeUnavailable, message: ""},
		{name: "an invalid selection", call: selection, answer: failure(400, "ValidationException", ""), want: hook.CodeInternal, message: ""},
		{
			name: "a stored job with an unknown state", call: readJob,
			answer: answer{body: `{"Item":{"state":{"S":"asleep"}}}`},
			want:   hook.CodeInternal, message: "",
		},
		{
			name: "a stored job with an invalid delivery id", call: readJob,
			answer: answer{body: `{"Item":{"state":{"S":"running"},"pending":{"L":[{"S":"x"}]}}}`},
			want:   hook.CodeInternal, message: "",
		},
		{name: "a concurrent transaction", call: update, answer: canceled(none, "TransactionConflict"), want: hook.CodeUnavailable, message: "try again"},
		{name: "a write during a transaction", call: putEvent, answer: failure(400, "TransactionConflictException", ""), want: hook.CodeUnavailable, message: ""},
		{name: "a transaction in progress", call: save, answer: failure(400, "TransactionInProgressException", ""), want: hook.CodeUnavailable, message: ""},
		{name: "a throttled transaction", call: save, answer: canceled(none, "ThrottlingError"), want: hook.CodeUnavailable, message: ""},
		{name: "a transaction past the capacity", call: save, answer: canceled("ProvisionedThroughputExceeded", none), want: hook.CodeUnavailable, message: ""},
		{name: "an invalid transaction", call: save, answer: canceled("ValidationError", none), want: hook.CodeInternal, message: ""},
		{name: "reads past the capacity", call: load, answer: failure(400, "ProvisionedThroughputExceededException", ""), want: hook.CodeUnavailable, message: ""},
		{name: "throttling", call: load, answer: failure(400, "ThrottlingException", ""), want: hook.CodeUnavailable, message: ""},
		{name: "requests past the account's limit", call: list, answer: failure(400, "RequestLimitExceeded", ""), want: hook.CodeUnavailable, message: ""},
		{name: "a fault of DynamoDB", call: putEvent, answer: failure(500, "InternalServerError", ""), want: hook.CodeUnavailable, message: ""},
		{name: "an answer without JSON", call: list, answer: answer{503, "<html>"}, want: hook.CodeUnavailable, message: ""},
		{name: "a missing table", call: list, answer: failure(400, "ResourceNotFoundException", ""), want: hook.CodeUnavailable, message: "the store is missing, disabled or not permitted"},
		{name: "an invalid request", call: putEvent, answer: failure(400, "ValidationException", ""), want: hook.CodeInternal, message: ""},
		{name: "a role without permission", call: load, answer: failure(400, "AccessDeniedException", ""), want: hook.CodeUnavailable, message: "the store is missing, disabled or not permitted"},
		{
			name: "an unknown stored name", call: read,
			answer: answer{body: `{"Item":{"id":{"S":"ep_0123456789abcdef"},"tenant":{"S":"acme"},"status":{"S":"asleep"}}}`},
			want:   hook.CodeInternal, message: "",
		},
		{
			name: "a stored attribute of another type", call: read,
			answer: answer{body: `{"Item":{"tenant":{"S":"acme"},"version":{"S":"two"}}}`},
			want:   hook.CodeInternal, message: "",
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

func TestStore_RetriesWhenThrottled(t *testing.T) {
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
	_, err := store.Load(ctx, []hook.Task{hook.NewTask("acme", delivery(0).Ref(), 1)})
	if hook.CodeOf(err) != hook.CodeUnavailable {
		t.Errorf("Load(never complete) = %v; want unavailable", err)
	}
}

func TestStore_Load_GivesUpWhenKeysStayUnprocessed(t *testing.T) {
	t.Parallel()

	w, store := newWire(t, answer{
		body: `{"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"event#` + string(eventID) + `"},"sk":{"S":"event"}}],"ConsistentRead":true}}}`,
	})
	var waits int
	store.Wait = func(context.Context, time.Duration) error {
		waits++
		return nil
	}
	task := hook.NewTask("acme", delivery(0).Ref(), 1)
	snapshot, err := store.Load(t.Context(), []hook.Task{task})
	if err != nil || hook.CodeOf(snapshot.Faults[task]) != hook.CodeUnavailable {
		t.Errorf("Load(never complete) = %v, with the faults %v; want the task unavailable", err, snapshot.Faults)
	}
	if len(w.sent()) != 10 || waits != 9 {
		t.Errorf("Load(never complete) sent %d requests with %d waits; want 10 and 9", len(w.sent()), waits)
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
		t.Errorf("PutEvent(connection breaks) sent %d requests; want a retry of the SDK", len(w.sent()))
	}
}
