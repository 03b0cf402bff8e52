package sqs_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/hook"
)

func TestQueue_Send_PutsTasksInBatchesOfTen(t *testing.T) {
	t.Parallel()

	b := setup(t)
	sent := tasks(t, 25)
	if errs := b.queue.Send(t.Context(), hook.QueueRetry, sent, 1500*time.Millisecond); errs != nil {
		t.Fatalf("Send(25 tasks) = %v; want nil", errs)
	}

	sizes := map[int]int{}
	got := map[string]entry{}
	for i, r := range b.fake.requests {
		if b.fake.targets[i] != "AmazonSQS.SendMessageBatch" || r.QueueURL != retryURL {
			t.Errorf("request %d = %s to %s; want SendMessageBatch to %s", i, b.fake.targets[i], r.QueueURL, retryURL)
		}
		sizes[len(r.Entries)]++
		for _, e := range r.Entries {
			e.ID = ""
			got[e.MessageBody] = e
		}
	}
	if diff := cmp.Diff(map[int]int{10: 2, 5: 1}, sizes); diff != "" {
		t.Errorf("requests by size (-want +got):\n%s", diff)
	}
	want := map[string]entry{}
	for _, task := range sent {
		body := encode(t, task)
		want[body] = entry{MessageBody: body, MessageGroupID: task.Group(), DelaySeconds: 2}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestQueue_Send_EachQueueHasItsQueue(t *testing.T) {
	t.Parallel()

	urls := map[hook.Queue]string{
		hook.QueueLive: liveURL, hook.QueueRetry: retryURL, hook.QueueReplay: replayURL, hook.QueueSlot: slotURL, hook.QueueOverflow: overflowURL, hook.QueueCoalesce: coalesceURL,
	}
	for _, queue := range hook.Queues() {
		want := urls[queue]
		b := setup(t)
		if errs := b.queue.Send(t.Context(), queue, tasks(t, 1), 0); errs != nil {
			t.Fatalf("Send(%s) = %v; want nil", queue, errs)
		}
		if got := b.fake.requests[0].QueueURL; got != want {
			t.Errorf("Send(%s) went to %s; want %s", queue, got, want)
		}
	}
}

func TestQueue_Send_RoundsDelaysUp(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		delay time.Duration
		want  int
	}{
		{name: "none", delay: 0, want: 0},
		{name: "the shortest", delay: 1, want: 1},
		{name: "a whole second", delay: time.Second, want: 1},
		{name: "more than a second", delay: time.Second + 1, want: 2},
		{name: "the longest", delay: hook.MaxQueueDelay, want: 900},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			if errs := b.queue.Send(t.Context(), hook.QueueLive, tasks(t, 1), tt.delay); errs != nil {
				t.Fatalf("Send(%s) = %v; want nil", tt.delay, errs)
			}
			r := b.fake.requests[0]
			if r.QueueURL != liveURL || r.Entries[0].DelaySeconds != tt.want {
				t.Errorf("Send(%s) = DelaySeconds %d to %s; want %d to %s", tt.delay, r.Entries[0].DelaySeconds, r.QueueURL, tt.want, liveURL)
			}
		})
	}
}

func TestQueue_Send_InvalidArgumentsAreInternal(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		queue hook.Queue
		urls  sqs.URLs
		delay time.Duration
	}{
		{name: "a delay above the maximum", queue: hook.QueueLive, urls: sqs.URLs{hook.QueueLive: liveURL}, delay: hook.MaxQueueDelay + 1},
		{name: "a delay below zero", queue: hook.QueueLive, urls: sqs.URLs{hook.QueueLive: liveURL}, delay: -1},
		{name: "a queue without a URL", queue: hook.QueueRetry, urls: sqs.URLs{hook.QueueLive: liveURL}},
		{name: "another queue without a URL", queue: hook.QueueReplay, urls: sqs.URLs{hook.QueueLive: liveURL, hook.QueueRetry: retryURL}},
		{name: "the slot queue without a URL", queue: hook.QueueSlot, urls: sqs.URLs{hook.QueueLive: liveURL, hook.QueueOverflow: overflowURL}},
		{name: "the overflow queue without a URL", queue: hook.QueueOverflow, urls: sqs.URLs{hook.QueueLive: liveURL, hook.QueueSlot: slotURL}},
		{name: "no queue", urls: sqs.URLs{hook.QueueLive: liveURL}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			errs := sqs.New(aws.Config{}, tt.urls).Send(t.Context(), tt.queue, tasks(t, 2), tt.delay)
			if len(errs) != 2 || hook.CodeOf(errs[0]) != hook.CodeInternal || hook.CodeOf(errs[1]) != hook.CodeInternal {
				t.Errorf("Send(%s, %s) = %v; want two internal errors", tt.queue, tt.delay, errs)
			}
		})
	}
}

func TestQueue_Send_RetriesRejectedEntries(t *testing.T) {
	t.Parallel()

	for _, code := range []string{"InternalError", "forgotten"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			sent := tasks(t, 3)
			hard := encode(t, sent[1])
			b.fake.refuse = func(body string, n int) (string, bool) {
				if body == hard && n <= 3 {
					return code, false
				}
				return "", false
			}
			if errs := b.queue.Send(t.Context(), hook.QueueLive, sent, 0); errs != nil {
				t.Errorf("Send(3 tasks) = %v; want nil after the fourth try", errs)
			}
			var sizes []int
			for _, r := range b.fake.requests {
				sizes = append(sizes, len(r.Entries))
			}
			if diff := cmp.Diff([]int{3, 1, 1, 1}, sizes); diff != "" {
				t.Errorf("entries per request (-want +got):\n%s", diff)
			}
			want := []time.Duration{75 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond}
			if diff := cmp.Diff(want, *b.waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQueue_Send_ReportsEachFailedTask(t *testing.T) {
	t.Parallel()

	b := setup(t)
	sent := tasks(t, 12)
	busy, lost, wrong := encode(t, sent[3]), encode(t, sent[4]), encode(t, sent[11])
	b.fake.refuse = func(body string, _ int) (string, bool) {
		switch body {
		case busy:
			return "ServiceUnavailable", false
		case lost:
			return "forgotten", false
		case wrong:
			return "InvalidMessageContents", true
		}
		return "", false
	}
	errs := b.queue.Send(t.Context(), hook.QueueLive, sent, 0)
	if len(errs) != len(sent) {
		t.Fatalf("Send(12 tasks) = %v; want 12 entries", errs)
	}
	for i, err := range errs {
		switch i {
		case 3:
			if hook.CodeOf(err) != hook.CodeUnavailable || !strings.Contains(err.Error(), "ServiceUnavailable") {
				t.Errorf("error of the refused task = %v; want unavailable, naming the code", err)
			}
		case 4:
			if err == nil || hook.CodeOf(err) != hook.CodeUnavailable {
				t.Errorf("error of the task missing in the answer = %v; want unavailable", err)
			}
		case 11:
			if err == nil || hook.CodeOf(err) != hook.CodeInternal {
				t.Errorf("error of the wrong task = %v; want internal", err)
			}
		default:
			if err != nil {
				t.Errorf("error of task %d = %v; want nil", i, err)
			}
		}
	}
	if got := b.fake.seen[busy]; got != 4 {
		t.Errorf("tries of the refused task = %d; want 4", got)
	}
	if got := b.fake.seen[wrong]; got != 1 {
		t.Errorf("tries of the wrong task = %d; want 1", got)
	}
}

func TestQueue_Send_StopsWhenTheContextEnds(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.fake.refuse = func(string, int) (string, bool) { return "InternalError", false }
	b.queue.Wait = func(context.Context, time.Duration) error {
		cancel()
		return ctx.Err()
	}
	errs := b.queue.Send(ctx, hook.QueueLive, tasks(t, 1), 0)
	if len(errs) != 1 || hook.CodeOf(errs[0]) != hook.CodeUnavailable || len(b.fake.requests) != 1 {
		t.Errorf("Send = %v after %d requests; want unavailable after 1", errs, len(b.fake.requests))
	}
	if errs := b.queue.Send(ctx, hook.QueueLive, tasks(t, 1), 0); hook.CodeOf(errs[0]) != hook.CodeUnavailable {
		t.Errorf("Send with an ended context = %v; want unavailable", errs)
	}
}

func TestQueue_TranslatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		code   string
		status int
		want   hook.Code
	}{
		{code: "RequestThrottled", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{code: "ThrottlingException", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{code: "InternalFailure", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{code: "ServiceUnavailable", status: http.StatusServiceUnavailable, want: hook.CodeUnavailable},
		{code: "QueueDoesNotExist", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{code: "AccessDeniedException", status: http.StatusForbidden, want: hook.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.fake.status, b.fake.code = tt.status, tt.code
			errs := b.queue.Send(t.Context(), hook.QueueLive, tasks(t, 2), 0)
			for i, err := range errs {
				if err == nil || hook.CodeOf(err) != tt.want {
					t.Errorf("Send error %d = %v; want %s", i, err, tt.want)
				}
			}
			if len(errs) != 2 || len(b.fake.requests) != 1 {
				t.Errorf("Send = %d errors after %d requests; want 2 after 1", len(errs), len(b.fake.requests))
			}
			if err := b.deadLetters.Send(t.Context(), hook.DeadLetter{}); err == nil || hook.CodeOf(err) != tt.want {
				t.Errorf("Send a dead letter = %v; want %s", err, tt.want)
			}
		})
	}
}

func TestQueue_Send_NoAnswerIsUnavailable(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	q := sqs.New(aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("id", "key", ""),
		BaseEndpoint: aws.String(server.URL),
		Retryer:      func() aws.Retryer { return aws.NopRetryer{} },
	}, sqs.URLs{hook.QueueLive: liveURL})
	errs := q.Send(t.Context(), hook.QueueLive, tasks(t, 1), 0)
	if len(errs) != 1 || hook.CodeOf(errs[0]) != hook.CodeUnavailable {
		t.Errorf("Send to a closed port = %v; want unavailable", errs)
	}
}

func TestQueue_Wait_EndsAfterTheTimeOrWithTheContext(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		q := sqs.New(aws.Config{}, sqs.URLs{})
		start := time.Now()
		if err := q.Wait(t.Context(), time.Second); err != nil || time.Since(start) != time.Second {
			t.Errorf("Wait(1 s) = %v after %s; want nil after 1 s", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("Wait(1 h) = %v after %s; want the context's end after 1 s more", err, time.Since(start))
		}
	})
}
