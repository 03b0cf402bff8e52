package sqs_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/delivery/breaker"
	"surehook/internal/hook"
)

func TestQueue_Exhume_HidesForAMinuteAndAsksAllServers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.fake.answer = func(request) any {
		return map[string]any{"Messages": []map[string]string{
			{"MessageId": "1", "ReceiptHandle": "r1", "Body": "one", "MD5OfBody": sum("one")},
			{"MessageId": "2", "ReceiptHandle": "r2", "Body": "two", "MD5OfBody": sum("two")},
		}}
	}
	got, err := b.queue.Exhume(t.Context())
	if diff := cmp.Diff([]breaker.Letter{{ID: "1", Receipt: "r1", Body: "one"}, {ID: "2", Receipt: "r2", Body: "two"}}, got); err != nil || diff != "" {
		t.Errorf("Exhume() = %v (-want +got):\n%s", err, diff)
	}
	want := []request{{QueueURL: deadURL, MaxNumberOfMessages: 10, VisibilityTimeout: 60, WaitTimeSeconds: 1}}
	if diff := cmp.Diff(want, b.fake.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestQueue_Remove_NamesReceipts(t *testing.T) {
	t.Parallel()

	b := setup(t)
	if err := b.queue.Remove(t.Context(), nil); err != nil || len(b.fake.requests) != 0 {
		t.Errorf("Remove(none) = %v after %d requests; want nil after none", err, len(b.fake.requests))
	}
	b.fake.answer = func(request) any {
		return map[string]any{"Successful": []map[string]string{{"Id": "0"}, {"Id": "1"}}}
	}
	if err := b.queue.Remove(t.Context(), []breaker.Letter{{Receipt: "r1"}, {Receipt: "r2"}}); err != nil {
		t.Errorf("Remove(2 letters) = %v; want nil", err)
	}
	want := []request{{QueueURL: deadURL, Entries: []entry{{ID: "0", ReceiptHandle: "r1"}, {ID: "1", ReceiptHandle: "r2"}}}}
	if diff := cmp.Diff(want, b.fake.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestQueue_Remove_ReportsWhatStayed(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name        string
		senderFault bool
		want        hook.Code
	}{
		{name: "SQS failed", senderFault: false, want: hook.CodeUnavailable},
		{name: "the receipt is none", senderFault: true, want: hook.CodeInternal},
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
			err := b.queue.Remove(t.Context(), []breaker.Letter{{Receipt: "r1"}, {Receipt: "r2"}})
			if err == nil || hook.CodeOf(err) != tt.want || !strings.Contains(err.Error(), "dead letter 1 of 2") {
				t.Errorf("Remove(1 of 2 fails) = %v; want %s that names it", err, tt.want)
			}
		})
	}
}

func TestQueue_Depth_CountsTheHiddenToo(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.fake.answer = func(request) any { return attributes("7", "10", "100") }
	if got, err := b.queue.Depth(t.Context()); err != nil || got != 17 {
		t.Errorf("Depth() = %d, %v; want 17", got, err)
	}
	if got := b.fake.requests; len(got) != 1 || got[0].QueueURL != deadURL {
		t.Errorf("requests = %+v; want one, about the dead letters", got)
	}
}

func TestQueue_Letters_TranslateErrors(t *testing.T) {
	t.Parallel()

	for code, want := range map[string]hook.Code{"InternalFailure": hook.CodeUnavailable, "QueueDoesNotExist": hook.CodeInternal} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.fake.code, b.fake.status = code, http.StatusBadRequest
			if want == hook.CodeUnavailable {
				b.fake.status = http.StatusInternalServerError
			}
			_, exhume := b.queue.Exhume(t.Context())
			remove := b.queue.Remove(t.Context(), []breaker.Letter{{Receipt: "r1"}})
			_, depth := b.queue.Depth(t.Context())
			for call, err := range map[string]error{"Exhume": exhume, "Remove": remove, "Depth": depth} {
				if err == nil || hook.CodeOf(err) != want {
					t.Errorf("%s() = %v; want %s", call, err, want)
				}
			}
			if len(b.fake.requests) != 3 {
				t.Errorf("Exhume(), Remove() and Depth() made %d requests; want one each", len(b.fake.requests))
			}
		})
	}
}
