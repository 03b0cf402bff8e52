package sqs_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/aws/sqs"
	"surehook.example/surehook/internal/hook"
)

const circuitsURL = "https://sqs.us-east-1.amazonaws.com/123456789012/circuits"

func newCircuitQueue(t *testing.T, fake http.Handler) *sqs.CircuitQueue {
	t.Helper()

	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return sqs.NewCircuitQueue(configOf(server), circuitsURL)
}

func TestCircuitQueue_Enqueue_SendsTheCheckWithTheDelay(t *testing.T) {
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
			check := hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID(), Wave: 3}
			if err := newCircuitQueue(t, fake).Enqueue(t.Context(), check, tt.delay); err != nil {
				t.Fatalf("Enqueue(%+v, %s) = %v; want nil", check, tt.delay, err)
			}
			body, err := hook.CircuitMessage{CircuitCheck: check}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			want := []request{{QueueURL: circuitsURL, MessageBody: body, MessageGroupID: string(check.Endpoint), DelaySeconds: tt.want}}
			if diff := cmp.Diff(want, fake.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCircuitQueue_Enqueue_TranslatesErrors(t *testing.T) {
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
			err := newCircuitQueue(t, fake).Enqueue(t.Context(), hook.CircuitCheck{Tenant: "acme", Endpoint: hook.NewEndpointID()}, 0)
			if err == nil || hook.CodeOf(err) != tt.want || len(fake.requests) != 1 {
				t.Errorf("Enqueue() = %v after %d requests; want %s after 1", err, len(fake.requests), tt.want)
			}
		})
	}
}
