package docs_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The settings of a deployment, as its parts name them.
var (
	variable     = regexp.MustCompile("`([A-Z][A-Z_]+)`")                                          // in a document
	makeVariable = regexp.MustCompile(`\$\(([A-Z_]+)\)`)                                           // used in the Makefile
	passed       = regexp.MustCompile(`(?m)^      ([A-Z_]+): \$\{\{ (?:vars|inputs)\.(\w+) \}\}$`) // by the workflow, to make
	contextKey   = regexp.MustCompile(`-c ([a-z_]+)=`)                                             // passed by the Makefile
	contextRead  = regexp.MustCompile(`contextOf\(app, "([a-z_]+)"`)                               // by the CDK app
)

// sorted returns the names in order, each once, without the omitted ones.
func sorted(names []string, omit ...string) []string {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = !slices.Contains(omit, name)
	}
	maps.DeleteFunc(set, func(_ string, kept bool) bool { return !kept })
	return slices.Sorted(maps.Keys(set))
}

// firsts returns the first group of each match.
func firsts(r *regexp.Regexp, text string) []string {
	var all []string
	for _, match := range r.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// settings returns the variables in the first column of the tables between the heading and the next
// one of level 2.
func settings(t *testing.T, document, heading string) []string {
	t.Helper()

	_, after, ok := strings.Cut(document, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("the document has no %s", heading)
	}
	section, _, _ := strings.Cut(after, "\n## ")
	var names []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			names = append(names, firsts(variable, cells[1])...)
		}
	}
	return names
}

// TestRelease_settings checks that the document of releases names each setting: as a parameter, or
// among those that need a release of one's own.
func TestRelease_settings(t *testing.T) {
	t.Parallel()

	names := document(t, "docs/release.md").spans()
	for _, variable := range sorted(settings(t, read(t, "docs/deploying.md"), "## By hand"), "ENV", "PREFIX") {
		var parameter strings.Builder
		for word := range strings.SplitSeq(variable, "_") {
			parameter.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
		if !slices.Contains(names, variable) && !slices.Contains(names, parameter.String()) {
			t.Errorf("docs/release.md names neither %s nor %s", variable, parameter.String())
		}
	}
}

// TestDeploying_variables checks that the documents, the Makefile, the deploy workflow and
// the CDK app know the same settings. A deployment without a setting removes its effect, and so
// would each deployment of a workflow that does not pass the setting.
func TestDeploying_variables(t *testing.T) {
	t.Parallel()

	makefile, document, workflow, app := read(t, "Makefile"), read(t, "docs/deploying.md"), read(t, ".github/workflows/deploy-one.yml"), read(t, "infra/main.go")
	var context strings.Builder
	for line := range strings.Lines(makefile) {
		if strings.HasPrefix(line, "CONTEXT ") || strings.HasPrefix(line, "STACK ") {
			context.WriteString(line)
		}
	}
	want := sorted(firsts(makeVariable, context.String()), "STACK", "DIST", "VERSION", "RELEASED")
	if !slices.Contains(want, "PREFIX") || !slices.Contains(want, "PORTAL_NAME") || len(want) < 12 {
		t.Fatalf("the Makefile has the variables %v; want PREFIX, PORTAL_NAME and at least ten others", want)
	}
	if diff := cmp.Diff(want, sorted(settings(t, document, "## By hand"))); diff != "" {
		t.Errorf("docs/deploying.md, By hand (-Makefile +document):\n%s", diff)
	}
	account := []string{"AWS_DEPLOY_ROLE_ARN", "AWS_ACCOUNT_ID", "AWS_REGION"}
	if diff := cmp.Diff(sorted(want, "ENV"), sorted(settings(t, document, "### Once for the repository"), account...)); diff != "" {
		t.Errorf("docs/deploying.md, From GitHub (-Makefile +document):\n%s", diff)
	}
	for _, match := range passed.FindAllStringSubmatch(workflow, -1) {
		if match[1] != match[2] && match[1] != "ENV" {
			t.Errorf("the workflow passes %s as %s", match[2], match[1])
		}
	}
	if diff := cmp.Diff(want, sorted(firsts(passed, workflow))); diff != "" {
		t.Errorf("deploy-one.yml (-Makefile +workflow):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(firsts(contextRead, app), "arch", "host", "protect"), sorted(firsts(contextKey, context.String()))); diff != "" {
		t.Errorf("keys of the context (-infra/main.go +Makefile):\n%s", diff)
	}
}
