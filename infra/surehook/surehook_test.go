package surehook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"surehook.example/surehook/internal/names"
)

// newEmbedding makes a stack of another app with two Surehooks. The stack has
// an account and a region, like stacks of other apps, and the app applies the
// rules of cdk-nag.
func newEmbedding(app awscdk.App, dist string) (awscdk.Stack, error) {
	stack := awscdk.NewStack(app, jsii.String("Shop"), &awscdk.StackProps{
		Env: &awscdk.Environment{Account: jsii.String("123456789012"), Region: jsii.String("eu-central-1")},
	})
	for _, name := range []string{"eu", "us"} {
		env := customised()
		env.Domain.Name = name + ".example.com"
		props := Props{Environment: env, Dist: dist, Prefix: "shop-" + name, Version: "7"}
		if _, err := New(stack, "Webhooks"+name, props); err != nil {
			return nil, err
		}
	}
	checkRules(stack)
	return stack, nil
}

func TestNew_embedded(t *testing.T) {
	t.Parallel()

	tpl := templateOf(t, "embedding")
	for _, n := range tpl.notes {
		if n.level != "info" {
			t.Errorf("%s of %s: %s", n.level, n.path, n.text)
		}
	}
	for _, name := range []string{"eu", "us"} {
		deliver := tpl.get(t, "AWS::Lambda::Function", "Webhooks"+name+"Deliver")
		deliver.check(t, "FunctionName", "shop-"+name+"-deliver")
		deliver.check(t, "Environment.Variables."+"SUREHOOK_ENVIRONMENT", "shop-"+name)
		deliver.check(t, "Tags", []any{map[string]any{"Key": "surehook:version", "Value": "7"}})
		if got, want := variables(deliver)["SUREHOOK_TABLE"], "${Webhooks"+name+"Table}"; got != want {
			t.Errorf("deliver of %s works on %s; want %s", name, got, want)
		}
	}
}

// TestNew_version checks that a new version touches the functions alone.
func TestNew_version(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"prod", "custom", "released prod", "embedding"} {
		for id, r := range templateOf(t, name).Resources {
			if tagged := strings.Contains(show(r.at("Tags")), "surehook:version"); tagged != (r.Type == "AWS::Lambda::Function") {
				t.Errorf("%s of %s has the tag of the version: %t", id, name, tagged)
			}
		}
	}
}

func TestNewStack_refuses(t *testing.T) {
	t.Parallel()

	missing := filepath.Join(t.TempDir(), "dist")
	empty := t.TempDir()
	for _, name := range functionNames() {
		if err := os.Mkdir(filepath.Join(empty, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		change func(*Props)
		want   string // part of the error
	}{
		{name: "an environment that must not be deployed", change: func(p *Props) { p.Environment.Egress = names.EgressLoopback }, want: "local stack only"},
		{name: "functions that are not built", change: func(p *Props) { p.Dist = missing }, want: "function ingest is not built"},
		{name: "empty folders of functions", change: func(p *Props) { p.Dist = empty }, want: "ingest/bootstrap is missing or empty"},
		{name: "a prefix that is too short", change: func(p *Props) { p.Prefix = "s" }, want: `prefix "s"`},
		{name: "a prefix that is too long", change: func(p *Props) { p.Prefix = strings.Repeat("s", 41) }, want: "prefix"},
		{name: "a prefix that begins with a digit", change: func(p *Props) { p.Prefix = "1a" }, want: "prefix"},
		{name: "a prefix that ends with a hyphen", change: func(p *Props) { p.Prefix = "shop-" }, want: "prefix"},
		{name: "a prefix with capitals", change: func(p *Props) { p.Prefix = "Shop" }, want: "prefix"},
		{name: "a name of which no prefix can be made", change: func(p *Props) { p.Environment.Name = "EU" }, want: `prefix "surehook-EU"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			props := Props{Environment: environments("arm64")[0], Dist: t.TempDir()}
			tt.change(&props)
			if _, err := NewStack(nil, props); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewStack() = %v; want an error with %q", err, tt.want)
			}
			if _, err := New(nil, "Webhooks", props); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New() = %v; want an error with %q", err, tt.want)
			}
		})
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()

	for _, prefix := range []string{"s1", "surehook-dev", "a" + strings.Repeat("-", 38) + "z"} {
		if !prefixes.MatchString(prefix) {
			t.Errorf("%q is no prefix; want it to be one", prefix)
		}
	}
}
