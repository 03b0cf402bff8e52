package sqs_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

const jobsURL = "https://sqs.us-east-1.amazonaws.com/123456789012/replay-jobs"

func newJobQueue(t *testing.T, fake http.Handler) *sqs.JobQueue {
	t.Helper()

	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sqs.NewJobQueue(configOf(server), jobsURL)
}

func TestJobQueue_Continue_SendsTheMessageWithTheDelay(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		delay time.Duration
		want  int
	}{
		{name: "no delay", delay: 0, want: 0},
		{name: "a delay below 0 is 0", delay: -time.Minute, want: 0},
		{name: "a nanosecond is rounded up to a second", delay: 1, want: 1},
		{name: "whole seconds are kept", delay: 2 * time.Second, want: 2},
		{name: "a nanosecond more is rounded up", delay: 2*time.Second + 1, want: 3},
		{name: "15 minutes", delay: 15 * time.Minute, want: 900},
		{name: "a longer delay is cut", delay: 15*time.Minute + 1, want: 900},
		{name: "a day is cut", delay: 24 * time.Hour, want: 900},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			fake := &fakeSQS{}
			m := replay.Message{Tenant: "acme", Job: "rpl_01jgjb5c8weyrv1tzv2x3fjq7h"}
			if err := newJobQueue(t, fake).Continue(t.Context(), m, tt.delay); err != nil {
				t.Fatalf("Continue(%+v, %s) = %v; want nil", m, tt.delay, err)
			}
			body, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			want := []request{{QueueURL: jobsURL, MessageBody: body, MessageGroupID: "acme", DelaySeconds: tt.want}}
			if diff := cmp.Diff(want, fake.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobQueue_Continue_TranslatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		code   string
		status int
		want   hook.Code
	}{
		{code: "ThrottlingException", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{code: "InternalFailure", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{code: "QueueDoesNotExist", status: http.StatusBadRequest, want: hook.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()

			fake := &fakeSQS{status: tt.status, code: tt.code}
			err := newJobQueue(t, fake).Continue(t.Context(), replay.Message{Tenant: "acme"}, 0)
			if err == nil || hook.CodeOf(err) != tt.want || len(fake.requests) != 1 {
				t.Errorf("Continue() = %v after %d requests; want %s after 1", err, len(fake.requests), tt.want)
			}
		})
	}
}
