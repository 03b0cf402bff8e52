package sqs_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/aws/sqs"
	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

const jobsURL = "https://sqs.us-east-1.amazonaws.com/123456789012/replay-jobs"

func newJobs(t *testing.T, fake http.Handler) *sqs.JobQueue {
	t.Helper()

	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sqs.NewJobQueue(configOf(server), jobsURL)
}

func TestJobs_Continue_SendsTheMessageAfterTheDelay(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		delay time.Duration
		want  int
	}{
		{name: "at once", delay: 0, want: 0},
		{name: "a time that is over is at once", delay: -time.Minute, want: 0},
		{name: "a moment is a second", delay: 1, want: 1},
		{name: "whole seconds stay", delay: 2 * time.Second, want: 2},
		{name: "a moment more is a second more", delay: 2*time.Second + 1, want: 3},
		{name: "15 minutes", delay: 15 * time.Minute, want: 900},
		{name: "what is longer is cut", delay: 15*time.Minute + 1, want: 900},
		{name: "a day too", delay: 24 * time.Hour, want: 900},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			fake := &fakeSQS{}
			m := replay.Message{Tenant: "acme", Job: "rpl_01jgjb5c8weyrv1tzv2x3fjq7h"}
			if err := newJobs(t, fake).Continue(t.Context(), m, tt.delay); err != nil {
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

func TestJobs_Continue_TranslatesErrors(t *testing.T) {
	t.Parallel()

	tests := []struct {
		code   string
		status int
		want   hook.Code
	}{
		{code: "ThrottlingException", status: http.StatusBadRequest, want: hook.CodeUnavailable},
		{code: "InternalFailure", status: http.StatusInternalServerError, want: hook.CodeUnavailable},
		{code: "QueueDoesNotExist", status: http.StatusBadRequest, want: hook.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()

			fake := &fakeSQS{status: tt.status, code: tt.code}
			err := newJobs(t, fake).Continue(t.Context(), replay.Message{Tenant: "acme"}, 0)
			if err == nil || hook.CodeOf(err) != tt.want || len(fake.requests) != 1 {
				t.Errorf("Continue() = %v after %d requests; want %s after 1", err, len(fake.requests), tt.want)
			}
		})
	}
}
