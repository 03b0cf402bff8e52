package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/hook"
)

// answers returns the same answer for every header.
type answers struct {
	principal hook.Principal
	err       error
}

func (a answers) Identify(context.Context, string) (hook.Principal, error) { return a.principal, a.err }

// recorder records the header, and refuses it.
type recorder struct{ header string }

func (h *recorder) Identify(_ context.Context, header string) (hook.Principal, error) {
	h.header = header
	return hook.Principal{}, &hook.Error{Code: hook.CodeUnauthorized, Message: "the API key is not known"}
}

func TestHandle_ReadsTheIdentitySource(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		sources []string
		want    string
	}{
		{name: "none", sources: nil, want: ""},
		{name: "one", sources: []string{"Bearer x"}, want: "Bearer x"},
		{name: "two values are joined", sources: []string{"Bearer x", "Bearer y"}, want: "Bearer x,Bearer y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			asked := new(recorder)
			h := &handler{authenticator: asked}
			got, err := h.Handle(t.Context(), events.APIGatewayV2CustomAuthorizerV2Request{IdentitySource: tt.sources})
			if err != nil || got.IsAuthorized || got.Context != nil || asked.header != tt.want {
				t.Errorf("Handle(%q) = %+v, %v, having asked for %q; want a refusal after %q", tt.sources, got, err, asked.header, tt.want)
			}
		})
	}
}

func TestHandle_AnswersAPIGateway(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		answers answers
		want    string
		fails   bool
	}{
		{
			name:    "a known key is admitted",
			answers: answers{principal: hook.Principal{Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead, hook.ScopeReplay}}},
			want:    `{"isAuthorized":true,"context":{"expires_at":"","key_id":"key_1","key_name":"","networks":"","scopes":"read,replay","tenant":"acme"}}`, fails: false,
		},
		{
			name: "a restricted key",
			answers: answers{principal: hook.Principal{
				Key: "key_1", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead},
				Restriction: hook.Restriction{
					ExpiresAt: time.UnixMilli(1_800_000_000_123), Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
				},
			}},
			want: `{"isAuthorized":true,"context":{"expires_at":"1800000000123","key_id":"key_1","key_name":"","networks":"192.0.2.0/24,2001:db8::/32","scopes":"read","tenant":"acme"}}`, fails: false,
		},
		{
			name: "a person without a role",
			answers: answers{principal: hook.Principal{
				Key: hook.PersonID("ann@example.com"), Name: "ann@example.com (1)", Tenant: hook.AllTenants,
				Restriction: hook.Restriction{ExpiresAt: time.UnixMilli(1_800_000_000_123)},
			}},
			want: `{"isAuthorized":true,"context":{"expires_at":"1800000000123","key_id":"user:ann@example.com","key_name":"ann@example.com (1)","networks":"","scopes":"","tenant":"*"}}`, fails: false,
		},
		{
			name:    "an unknown key is refused",
			answers: answers{err: &hook.Error{Code: hook.CodeUnauthorized, Message: "the API key is not known"}},
			want:    `{"isAuthorized":false}`, fails: false,
		},
		{name: "an internal fault is an error, not a refusal", answers: answers{err: errors.New("boom")}, want: "", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			h := &handler{authenticator: tt.answers}
			response, err := h.Handle(t.Context(), events.APIGatewayV2CustomAuthorizerV2Request{IdentitySource: []string{"Bearer x"}})
			if (err != nil) != tt.fails {
				t.Fatalf("Handle() = %v; want an error: %t", err, tt.fails)
			}
			if tt.fails {
				return
			}
			got, err := json.Marshal(response)
			if err != nil || string(got) != tt.want {
				t.Errorf("Handle() = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}
