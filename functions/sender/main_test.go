package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/proof/certificate"
)

// TestNewHandler checks that the sender does not start with a list or an authority that is wrong, and
// that with a list it is in the private network.
func TestNewHandler(t *testing.T) {
	t.Parallel()

	const list = `[{"cidrs": ["10.20.0.0/16"], "ports": [443]}]`
	authority, _ := certificate.Authority(t, "corp")
	tests := []struct {
		name, list, ca, wrong string
		private               bool
	}{
		{name: "no list"},
		{name: "a list", list: list, private: true},
		{name: "a list and an authority", list: list, ca: authority, private: true},
		{name: "a public network", list: `[{"cidrs": ["8.8.8.0/24"], "ports": [443]}]`, wrong: "private_allow[0].cidrs[0]"},
		{name: "no rule", list: `[]`, wrong: "private_allow"},
		{name: "no JSON", list: `10.20.0.0/16`, wrong: "private_allow"},
		{name: "an authority that is none", list: list, ca: "corp", wrong: "SUREHOOK_PRIVATE_CA"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			handle, err := newHandler(lambdafn.Function{Settings: config.Settings{Private: tt.list, PrivateCA: tt.ca}, Now: time.Now})
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("newHandler = %v; want an error that names %s", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatalf("newHandler = %v", err)
			}
			for _, message := range []string{`{"version": 1, "url": "https://169.254.169.254/", "timeout_ms": 1000}`, `{"version": 3, "private": "acme", "url": "https://169.254.169.254/", "timeout_ms": 1000}`} {
				answer, err := lambda.NewHandler(handle).Invoke(t.Context(), []byte(message))
				want := `"class":"blocked"`
				if strings.Contains(message, "acme") != tt.private {
					want = `"refused":"the message is for another network"`
				}
				if err != nil || !strings.Contains(string(answer), want) {
					t.Errorf("Handle(%s) = %s, %v; want %s", message, answer, err, want)
				}
			}
		})
	}
}
