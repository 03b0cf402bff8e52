// Package layers_test holds the import rules of the repository.
package layers_test

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "surehook"

// TestLayers checks, through all transitive imports, what each layer may know.
func TestLayers(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, pkgs, why string
		bad             []string
	}{
		{
			"rules", "./internal/names ./internal/hook ./internal/retry ./internal/circuit ./internal/latency ./internal/stats ./internal/review ./internal/metric ./internal/analysis ./internal/sign ./internal/gate", "rules know no cloud and no client",
			[]string{"github.com/aws/", module + "/internal/aws/", module + "/internal/memory"},
		},
		{
			"use cases", "./internal/ingest ./internal/deliver ./internal/replay ./internal/aftermath ./internal/breaker ./internal/registry ./internal/authorize", "use cases declare ports",
			[]string{"github.com/aws/", module + "/internal/aws/", module + "/internal/memory", module + "/internal/httpapi"},
		},
		{
			"API", "./internal/httpapi", "HTTP knows use cases, not adapters",
			[]string{"github.com/aws/", module + "/internal/aws/", module + "/internal/memory"},
		},
		{
			"functions", "./functions/...", "no CDK and no fakes in a Lambda binary",
			[]string{"github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go", module + "/internal/memory", module + "/internal/porttest", "testing"},
		},
		{
			"infra", "./infra/...", "infra knows names only",
			[]string{module + "/internal/hook", "github.com/aws/aws-sdk-go-v2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			for _, dep := range deps(t, strings.Fields(tt.pkgs)...) {
				for _, bad := range tt.bad {
					if dep == bad || strings.HasPrefix(dep, strings.TrimSuffix(bad, "/")+"/") {
						t.Errorf("%s imports %s: %s", tt.pkgs, dep, tt.why)
					}
				}
			}
		})
	}
}

// TestAdaptersAreApart checks that no adapter leans on another; what all their
// errors mean is in fault, which leans on none.
func TestAdaptersAreApart(t *testing.T) {
	t.Parallel()

	const adapters = module + "/internal/aws/"
	for _, pkg := range list(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./internal/aws/...") {
		path, imports, _ := strings.Cut(pkg, " ")
		for _, imported := range strings.Fields(imports) {
			if strings.HasPrefix(imported, adapters) && imported != path && imported != adapters+"fault" {
				t.Errorf("%s imports %s: adapters do not know each other", path, imported)
			}
		}
	}
}

func deps(t *testing.T, pkgs ...string) []string {
	t.Helper()

	return list(t, append([]string{"-deps"}, pkgs...)...)
}

func list(t *testing.T, args ...string) []string {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
