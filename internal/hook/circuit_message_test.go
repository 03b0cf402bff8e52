package hook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

func TestDecodeCircuitMessage(t *testing.T) {
	t.Parallel()

	check := hook.CircuitCheck{Tenant: "acme", Endpoint: "ep_0123456789abcdef", Wave: 3}
	page := hook.ReviewPage{At: time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC), Endpoints: []hook.CircuitCheck{check}}
	for _, want := range []hook.CircuitMessage{{CircuitCheck: check}, {Review: &page}} {
		body, err := want.Encode()
		if err != nil {
			t.Fatalf("Encode() = %v", err)
		}
		got, err := hook.DecodeCircuitMessage(body)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("DecodeCircuitMessage(%s) = %v, differs (-want +got):\n%s", body, err, diff)
		}
	}
}

func TestDecodeCircuitMessage_rejects(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, body, want string }{
		{name: "no JSON", body: "x", want: "invalid circuit check"},
		{name: "nothing", body: "{}", want: "tenant: is required"},
		{name: "a page without a time", body: `{"review":{"endpoints":[]}}`, want: "review.at: is required"},
		{name: "a page with an invalid endpoint", body: `{"review":{"at":"2026-03-04T05:06:07Z","endpoints":[{"tenant":"acme"}]}}`, want: "endpoint: is required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if _, err := hook.DecodeCircuitMessage(tt.body); hook.CodeOf(err) != hook.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("DecodeCircuitMessage(%s) = %v; want invalid, %s", tt.body, err, tt.want)
			}
		})
	}
}

func FuzzDecodeCircuitMessage(f *testing.F) {
	body, err := hook.CircuitMessage{CircuitCheck: hook.CircuitCheck{Tenant: "acme", Endpoint: someEndpoint, Wave: 3, Hops: 12}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add(`{"tenant":"acme","endpoint":"ep_"}`)
	f.Add(`{"tick":true}`)
	f.Add(`{"review":{"at":"2026-03-04T05:06:07Z","endpoints":[` + body + `]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		message, err := hook.DecodeCircuitMessage(body)
		if err != nil || message.Review != nil && message.Review.At.Year() > 9999 {
			return
		}
		again, err := message.Encode()
		if err != nil {
			t.Fatalf("Encode(%v) = %v", message, err)
		}
		if back, err := hook.DecodeCircuitMessage(again); err != nil || !cmp.Equal(message, back) {
			t.Errorf("DecodeCircuitMessage(%s) = %v, %v; want %v", again, back, err, message)
		}
	})
}
