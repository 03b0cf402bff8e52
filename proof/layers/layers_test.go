// Package layers_test checks the import rules of the repository.
package layers_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const module = "surehook.example/surehook"

// A fence is a room of the repository, with the forbidden imports of its packages.
type fence struct {
	name  string
	glob  string // of packages, as `go list` takes it
	bad   []string
	apart bool // the room's packages do not import each other
	why   string
}

// fences returns every room, with the globs of .golangci.yaml. The linter checks
// direct imports, and these tests check transitive imports.
func fences() []fence {
	aws := []string{"github.com/aws/", module + "/internal/aws/"}
	upward := func(more ...string) []string {
		return append(append(aws[:len(aws):len(aws)], module+"/internal/memory", module+"/proof/", module+"/functions/"), more...)
	}
	return []fence{
		{name: "hook", glob: "internal/hook", why: "the domain words know the standard library", bad: upward("net/http", module+"/internal/rule/", module+"/internal/delivery/", module+"/internal/names")},
		{name: "store", glob: "internal/store", why: "a change knows error codes alone", bad: upward(module+"/internal/rule/", module+"/internal/delivery/", module+"/internal/names")},
		{name: "cache", glob: "internal/cache", why: "a cache knows no value", bad: upward(module+"/internal/hook", module+"/internal/rule/", module+"/internal/delivery/", module+"/internal/names")},
		{name: "merge", glob: "internal/merge", why: "a merge knows no row", bad: upward(module+"/internal/hook", module+"/internal/rule/", module+"/internal/delivery/", module+"/internal/names")},
		{name: "names", glob: "internal/names", why: "names know nothing", bad: []string{module + "/internal/hook", "github.com/"}},
		{name: "config", glob: "internal/config", why: "config turns the environment into structs", bad: upward(module + "/internal/hook")},
		{name: "emf", glob: "internal/emf", why: "metric lines know names and words", bad: upward(module+"/internal/rule/", module+"/internal/delivery/")},
		{name: "rule", glob: "internal/rule/...", why: "rules are values in, values out", bad: upward(module+"/internal/delivery/", module+"/internal/admin/", module+"/internal/names")},
		{name: "delivery", glob: "internal/delivery/...", why: "use cases declare ports", bad: upward(module+"/internal/admin/", module+"/internal/httpapi")},
		{name: "admin", glob: "internal/admin/...", why: "use cases declare ports", bad: upward(module + "/internal/httpapi")},
		{name: "httpapi", glob: "internal/httpapi", why: "HTTP knows use cases, not adapters", bad: upward()},
		{name: "aws", glob: "internal/aws/...", apart: true, why: "adapters do not know each other", bad: []string{module + "/internal/memory", module + "/proof/", module + "/functions/"}},
		{name: "smoke", glob: "internal/smoke", why: "the smoke test sees a deployment from outside", bad: []string{module + "/internal/hook", module + "/internal/rule/", module + "/internal/delivery/", module + "/internal/admin/", module + "/internal/httpapi", module + "/internal/aws/", module + "/internal/memory", module + "/proof/", module + "/functions/", module + "/localstack/", "github.com/aws/aws-cdk-go"}},
		{name: "cmd", glob: "cmd/...", why: "the command line is a client: of our code it starts the process of dev, with the store over a table, and the smoke test", bad: []string{module + "/internal/aws/apigateway", module + "/internal/aws/kms", module + "/internal/aws/lambda", module + "/internal/aws/scheduler", module + "/internal/aws/secretsmanager", module + "/internal/aws/sns", module + "/internal/aws/sqs", module + "/proof/", module + "/functions/", module + "/localstack/emulator", module + "/localstack/stack", module + "/localstack/tools/picture", module + "/localstack/tools/strict", "github.com/aws/aws-cdk-go", "testing"}},
		{name: "client", glob: "client/...", why: "the client knows the contract alone", bad: []string{module + "/internal/", module + "/functions/", "github.com/aws/"}},
		{name: "clients", glob: "clients/...", why: "what makes and tests the clients knows the contract alone", bad: []string{module + "/internal/", module + "/functions/", "github.com/aws/"}},
		{name: "table", glob: "internal/memory/table", why: "the table knows requests, and no record", bad: []string{module + "/internal/hook", module + "/internal/aws/", module + "/internal/memory", module + "/proof/", module + "/internal/names"}},
		{name: "memory", glob: "internal/memory", why: "memory implements ports, and the store is the deployed one", bad: []string{module + "/proof/", module + "/internal/httpapi"}},
		{name: "proof", glob: "proof/...", why: "proofs know no infrastructure", bad: []string{"github.com/aws/aws-cdk-go"}},
		{name: "functions", glob: "functions/...", why: "no CDK, fakes or proofs in a Lambda binary", bad: []string{"github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go", module + "/internal/memory", module + "/proof/", "testing"}},
		{name: "infra", glob: "infra/...", why: "infra knows names, and the rules of what an operator writes", bad: []string{module + "/internal/delivery/", "github.com/aws/aws-sdk-go-v2"}},
		{name: "localstack", glob: "localstack/...", why: "local tools know no infrastructure and no proofs", bad: []string{"github.com/aws/aws-cdk-go", module + "/proof/"}},
		{name: "examples", glob: "examples/...", why: "examples use what users have", bad: []string{module + "/internal/", "github.com/aws/"}},
		{name: "docs", glob: "docs/...", why: "documents have tests only", bad: []string{"github.com/", module + "/internal/"}},
		{name: "api", glob: "api/...", why: "the contract knows nothing", bad: []string{"github.com/", module + "/internal/"}},
		{name: "web", glob: "web/...", why: "the pages call the API only", bad: []string{"github.com/", module + "/internal/"}},
	}
}

// TestFences checks all transitive imports of each room.
func TestFences(t *testing.T) {
	t.Parallel()

	for _, f := range fences() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()

			for _, dep := range list(t, "-deps", "./"+f.glob) {
				if f.pattern().MatchString(dep) {
					continue // the room itself
				}
				for _, bad := range f.bad {
					if dep == bad || strings.HasPrefix(dep, strings.TrimSuffix(bad, "/")+"/") {
						t.Errorf("%s imports %s: %s", f.name, dep, f.why)
					}
				}
			}
		})
	}
}

// TestFences_traces checks that only function export links OpenTelemetry: the functions
// on the path of an event stay small.
func TestFences_traces(t *testing.T) {
	t.Parallel()

	for _, function := range list(t, "./functions/...") {
		if strings.HasSuffix(function, "/export") {
			continue
		}
		for _, dep := range list(t, "-deps", function) {
			if strings.HasPrefix(dep, "go.opentelemetry.io/") {
				t.Errorf("%s imports %s; want OpenTelemetry in functions/export only", function, dep)
			}
		}
	}
}

// TestFences_all checks that every package is in exactly one fence.
func TestFences_all(t *testing.T) {
	t.Parallel()

	for _, pkg := range list(t, "./...") {
		var in []string
		for _, f := range fences() {
			if f.pattern().MatchString(pkg) {
				in = append(in, f.name)
			}
		}
		if len(in) != 1 {
			t.Errorf("%s is in the fences %v; want exactly one", pkg, in)
		}
	}
}

// TestFences_apart checks that adapters do not import each other. The one
// exception is awserr, which translates AWS errors.
func TestFences_apart(t *testing.T) {
	t.Parallel()

	for _, f := range fences() {
		if !f.apart {
			continue
		}
		for _, pkg := range list(t, "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./"+f.glob) {
			path, imports, _ := strings.Cut(pkg, " ")
			for _, imported := range strings.Fields(imports) {
				if f.pattern().MatchString(imported) && imported != path && !strings.HasSuffix(imported, "/awserr") {
					t.Errorf("%s imports %s: %s", path, imported, f.why)
				}
			}
		}
	}
}

// pattern returns the fence's glob for import paths.
func (f fence) pattern() *regexp.Regexp {
	return regexp.MustCompile("^" + module + "/" + strings.Replace(regexp.QuoteMeta(f.glob), `/\.\.\.`, "(/.*)?", 1) + "$")
}

func list(t *testing.T, args ...string) []string {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-tags=integration,e2e,chaos,mutation,examples"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
