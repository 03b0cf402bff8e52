package sqs_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/aws/sqs"
	"surehook/internal/hook"
)

const circuitsURL = "https://sqs.us-east-1.amazonaws.com/123456789012/circuits"

func newCircuits(t *testing.T, fake http.Handler) *sqs.CircuitQueue {
	t.Helper()

	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sqs.NewCircuitQueue(configOf(server), circuitsURL)
}

func TestCircuits_Ask_SendsTheLookAfterTheDelay(t *testing.T) {
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
			look := hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID(), Wave: 3}
			if err := newCircuits(t, fake).Enqueue(t.Context(), look, tt.delay); err != nil {
				t.Fatalf("Ask(%+v, %s) = %v; want nil", look, tt.delay, err)
			}
			body, err := look.Encode()
			if err != nil {
				t.Fatal(err)
			}
			want := []request{{QueueURL: circuitsURL, MessageBody: body, MessageGroupID: string(look.Endpoint), DelaySeconds: tt.want}}
			if diff := cmp.Diff(want, fake.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCircuits_Ask_TranslatesErrors(t *testing.T) {
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
			err := newCircuits(t, fake).Enqueue(t.Context(), hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID()}, 0)
			if err == nil || hook.CodeOf(err) != tt.want || len(fake.requests) != 1 {
				t.Errorf("Ask() = %v after %d requests; want %s after 1", err, len(fake.requests), tt.want)
			}
		})
	}
}
