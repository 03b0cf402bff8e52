package surehook

import (
	"os"
	"regexp"
	"testing"
	"time"
)

// clockError is the part of erasure.Quiet for clocks that differ.
const clockError = 30 * time.Second

// TestErasure_quiet: a pass of an erasure begins erasure.Quiet after the last removal. By
// then, every process with something read before has ended. A removed key is out of the
// authorizer's cache, so the key is not valid for a later tenant of the name.
func TestErasure_quiet(t *testing.T) {
	t.Parallel()

	code, err := os.ReadFile("../../internal/admin/erasure/erasure.go")
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`Quiet = (\d+) \* time\.Second`).FindSubmatch(code)
	if written == nil {
		t.Fatal("package erasure has no Quiet in seconds")
	}
	quiet, err := time.ParseDuration(string(written[1]) + "s")
	if err != nil {
		t.Fatal(err)
	}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			functions, authorizers := tpl.all("AWS::Lambda::Function"), tpl.all("AWS::ApiGatewayV2::Authorizer")
			if len(functions) == 0 || len(authorizers) == 0 {
				t.Fatalf("%d functions, %d authorizers; want some", len(functions), len(authorizers))
			}
			for id, f := range functions {
				timeout, _ := f.at("Timeout").(float64)
				if d := time.Duration(timeout) * time.Second; d == 0 || d+clockError > quiet {
					t.Errorf("function %s has the timeout %v; want at most %v", id, d, quiet-clockError)
				}
			}
			for id, a := range authorizers {
				cache, _ := a.at("AuthorizerResultTtlInSeconds").(float64)
				if d := time.Duration(cache) * time.Second; d == 0 || d > quiet {
					t.Errorf("authorizer %s caches for %v; want at most %v", id, d, quiet)
				}
			}
		})
	}
}
