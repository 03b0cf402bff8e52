package sqs_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/hook"
)

func TestDeadLetters_Send_SendsTheLetter(t *testing.T) {
	t.Parallel()

	b := setup(t)
	id := tasks(t, 1)[0].Delivery
	letter := hook.DeadLetter{Delivery: id, Endpoint: id.Endpoint, Reason: hook.ReasonExhausted, Attempts: 7}
	if err := b.deadLetters.Send(t.Context(), letter); err != nil {
		t.Fatalf("Send(%s) = %v; want nil", id, err)
	}
	body, err := letter.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := []request{{QueueURL: deadURL, MessageBody: body, MessageGroupID: string(id.Endpoint)}}
	if diff := cmp.Diff(want, b.fake.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestDeadLetters_Receive_HidesForAMinuteAndQueriesAllServers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.fake.answer = func(request) any {
		return map[string]any{"Messages": []map[string]string{
			{"MessageId": "1", "ReceiptHandle": "r1", "Body": "one", "MD5OfBody": sum("one")},
			{"MessageId": "2", "ReceiptHandle": "r2", "Body": "two", "MD5OfBody": sum("two")},
		}}
	}
	got, err := b.deadLetters.Receive(t.Context())
	if diff := cmp.Diff([]breaker.Letter{{ID: "1", Receipt: "r1", Body: "one"}, {ID: "2", Receipt: "r2", Body: "two"}}, got); err != nil || diff != "" {
		t.Errorf("Receive() = %v (-want +got):\n%s", err, diff)
	}
	want := []request{{QueueURL: deadURL, MaxNumberOfMessages: 10, VisibilityTimeout: 60, WaitTimeSeconds: 1}}
	if diff := cmp.Diff(want, b.fake.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestDeadLetters_Remove_SendsReceipts(t *testing.T) {
	t.Parallel()

	b := setup(t)
	if err := b.deadLetters.Remove(t.Context(), nil); err != nil || len(b.fake.requests) != 0 {
		t.Errorf("Remove(none) = %v after %d requests; want nil after none", err, len(b.fake.requests))
	}
	b.fake.answer = func(request) any {
		return map[string]any{"Successful": []map[string]string{{"Id": "0"}, {"Id": "1"}}}
	}
	if err := b.deadLetters.Remove(t.Context(), []breaker.Letter{{Receipt: "r1"}, {Receipt: "r2"}}); err != nil {
		t.Errorf("Remove(2 letters) = %v; want nil", err)
	}
	want := []request{{QueueURL: deadURL, Entries: []entry{{ID: "0", ReceiptHandle: "r1"}, {ID: "1", ReceiptHandle: "r2"}}}}
	if diff := cmp.Diff(want, b.fake.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestDeadLetters_Remove_ReportsFailedEntries(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		senderFault bool
		want        hook.Code
	}{
		{name: "SQS failed", senderFault: false, want: hook.CodeUnavailable},
		{name: "the receipt is invalid", senderFault: true, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.fake.answer = func(request) any {
				return map[string]any{
					"Successful": []map[string]string{{"Id": "0"}},
					"Failed":     []failure{{ID: "1", Code: "Whatever", Message: "no", SenderFault: tt.senderFault}},
				}
			}
			err := b.deadLetters.Remove(t.Context(), []breaker.Letter{{Receipt: "r1"}, {Receipt: "r2"}})
			if err == nil || hook.CodeOf(err) != tt.want || !strings.Contains(err.Error(), "message 1 of 2") {
				t.Errorf("Remove(1 of 2 fails) = %v; want %s, naming the letter", err, tt.want)
			}
		})
	}
}

func TestDeadLetters_Depth_CountsHiddenLetters(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.fake.answer = func(request) any { return attributes("7", "10", "100") }
	if got, err := b.deadLetters.Depth(t.Context()); err != nil || got != 17 {
		t.Errorf("Depth() = %d, %v; want 17", got, err)
	}
	if got := b.fake.requests; len(got) != 1 || got[0].QueueURL != deadURL {
		t.Errorf("requests = %+v; want one for the dead-letter queue", got)
	}
}

func TestDeadLetters_TranslateErrors(t *testing.T) {
	t.Parallel()

	for code, want := range map[string]hook.Code{"InternalFailure": hook.CodeUnavailable, "QueueDoesNotExist": hook.CodeUnavailable} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.fake.code, b.fake.status = code, http.StatusBadRequest
			if want == hook.CodeUnavailable {
				b.fake.status = http.StatusInternalServerError
			}
			_, receive := b.deadLetters.Receive(t.Context())
			remove := b.deadLetters.Remove(t.Context(), []breaker.Letter{{Receipt: "r1"}})
			_, depth := b.deadLetters.Depth(t.Context())
			for call, err := range map[string]error{"Receive": receive, "Remove": remove, "Depth": depth} {
				if err == nil || hook.CodeOf(err) != want {
					t.Errorf("%s() = %v; want %s", call, err, want)
				}
			}
			if len(b.fake.requests) != 3 {
				t.Errorf("Receive(), Remove() and Depth() made %d requests; want one each", len(b.fake.requests))
			}
		})
	}
}
