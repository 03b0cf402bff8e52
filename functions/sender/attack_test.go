package main

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/config"
	"surehook.example/surehook/internal/names"
)

// TestAttack_newHandler_settings: whatever else is set, the private sender sends nothing beyond the
// list, and a public sender nothing private. Loopback and a host of the local stack open nothing.
func TestAttack_newHandler_settings(t *testing.T) { //nolint:paralleltest // sets variables of the process
	const list = `[{"cidrs": ["10.20.0.0/16"], "ports": [443]}]`
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	for _, cfg := range []config.Settings{
		{Private: list},
		{Private: list, Choices: config.Choices{Egress: names.EgressPublic}},
		{Private: list, Choices: config.Choices{Egress: names.EgressLoopback, EgressHost: "host.docker.internal"}},
	} {
		handle, err := newHandler(lambdafn.Function{Settings: cfg, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{
			"http://127.0.0.1:9001/", "https://127.0.0.1/", "http://localhost/", "https://[::1]/", "http://host.docker.internal:9443/",
			"https://host.docker.internal/", "https://169.254.169.254/", "https://1.1.1.1/", "https://10.21.0.1/", "http://10.20.0.1:80/", "https://sqs.eu-west-1.amazonaws.com/",
		} {
			for _, message := range []string{
				`{"version":3,"private":"acme","url":"` + to + `","header":{},"timeout_ms":30000}`,
				`{"version":3,"private":"acme","url":"https://10.21.0.1/","header":{},"timeout_ms":30000,"grant":{"for":"ep_1","token_url":"` + to + `","client_id":"c","secret":"s"}}`,
				`{"version":3,"private":"acme","url":"","header":{},"timeout_ms":30000,"grant":{"for":"ep_1","token_url":"` + to + `","client_id":"c","secret":"s"}}`,
				`{"version":1,"url":"` + to + `","header":{},"timeout_ms":30000}`,
			} {
				answer, err := lambda.NewHandler(handle).Invoke(t.Context(), []byte(message))
				text := string(answer)
				unresolved := strings.Contains(to, "docker") && strings.Contains(text, `"class":"dns"`)
				blocked := strings.Contains(text, `"class":"blocked"`) || strings.Contains(text, `"class":"token"`) || strings.Contains(text, `"refused"`)
				if err != nil || !blocked && !unresolved {
					t.Errorf("Handle(%s) = %s, %v; want it blocked", message, answer, err)
				}
			}
		}
	}
	for _, text := range []string{" ", "null", "[]", "{}", "[null]", `[{}]`, list + list, `[{"cidrs":["10.20.0.0/16"],"ports":[443],"Tenants":["acme"]}]`, `[{"cidrs":["10.20.0.0/16"],"ports":[443],"tenants":["acme"],"tenants":["globex"]}]`, "\ufeff" + list} {
		if _, err := newHandler(lambdafn.Function{Settings: config.Settings{Private: text}, Now: time.Now}); err == nil {
			t.Errorf("the sender starts with the list %q", text)
		}
	}
}
