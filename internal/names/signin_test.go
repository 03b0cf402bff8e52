package names_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"surehook.example/surehook/internal/names"
)

func TestParseRoles(t *testing.T) {
	t.Parallel()

	tests := []struct {
		text  string
		want  map[string]string
		fault string
	}{
		{text: "operator=ops", want: map[string]string{"ops": "operator"}},
		{text: " operator = ops ; support=a b;support=CN=x,OU=y;", want: map[string]string{"ops": "operator", "a b": "support", "CN=x,OU=y": "support"}},
		{text: "read-only=all", want: map[string]string{"all": "read-only"}},
		{text: "", fault: "no group"},
		{text: " ; ", fault: "no group"},
		{text: "operator", fault: "no group"},
		{text: "operator=", fault: "no group"},
		{text: "Operator=ops", fault: "not a role"},
		{text: "=ops", fault: "not a role"},
		{text: "operator=ops;support=ops", fault: "two roles"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()

			got, err := names.ParseRoles(tt.text)
			if tt.fault == "" && (err != nil || !reflect.DeepEqual(got, tt.want)) || tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)) {
				t.Errorf("ParseRoles(%q) = %v, %v; want %v, or an error with %q", tt.text, got, err, tt.want, tt.fault)
			}
		})
	}
}

func TestSignIn_Faults(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		change func(s *names.SignIn)
		want   string // part of the only fault; empty: no fault
	}{
		{name: "good settings", change: func(*names.SignIn) {}},
		{name: "no settings at all", change: func(s *names.SignIn) { *s = names.SignIn{} }},
		{name: "an issuer with a path", change: func(s *names.SignIn) { s.Issuer = "https://id.example.com/realms/a" }},
		{name: "an issuer on loopback", change: func(s *names.SignIn) { s.Issuer = "http://localhost:3000" }},
		{name: "an issuer without TLS", change: func(s *names.SignIn) { s.Issuer = "http://id.example.com" }, want: "https URL"},
		{name: "an issuer whose host begins like loopback", change: func(s *names.SignIn) { s.Issuer = "http://localhost.example.com" }, want: "https URL"},
		{name: "a user in the issuer", change: func(s *names.SignIn) { s.Issuer = "https://a@id.example.com" }, want: "https URL"},
		{name: "a query in the issuer", change: func(s *names.SignIn) { s.Issuer = "https://id.example.com?a" }, want: "https URL"},
		{name: "a fragment in the issuer", change: func(s *names.SignIn) { s.Issuer = "https://id.example.com#" }, want: "https URL"},
		{name: "a directive of a content security policy in the issuer", change: func(s *names.SignIn) { s.Issuer = "https://id.example.com;script-src *" }, want: "https URL"},
		{name: "a wildcard in the issuer", change: func(s *names.SignIn) { s.Issuer = "https://*.example.com" }, want: "https URL"},
		{name: "no client id", change: func(s *names.SignIn) { s.ClientID = "" }, want: "client id"},
		{name: "no roles", change: func(s *names.SignIn) { s.Roles = "" }, want: "the roles"},
		{name: "scopes without openid", change: func(s *names.SignIn) { s.Scopes = "email openidx" }, want: "openid"},
		{name: "an origin with a path", change: func(s *names.SignIn) { s.Origins = []string{"https://id.example.com/token"} }, want: "origins"},
		{name: "an origin with a wildcard", change: func(s *names.SignIn) { s.Origins = []string{"https://*.example.com"} }, want: "origins"},
		{name: "a claim that people choose themselves", change: func(s *names.SignIn) { s.Claim = "nickname" }, want: "choose the claim"},
		{name: "a claim of groups", change: func(s *names.SignIn) { s.Claim = "cognito:groups" }},
		{name: "settings without an issuer", change: func(s *names.SignIn) { s.Issuer = "" }, want: "without an issuer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := names.SignIn{Issuer: "https://id.example.com", ClientID: "surehook", Roles: "operator=ops", Origins: []string{"https://token.example.com"}}
			tt.change(&s)
			got := s.Faults()
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0].Error(), tt.want)) {
				t.Errorf("%+v.Faults() = %v; want %q", s, errors.Join(got...), tt.want)
			}
		})
	}
}
