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
	variable    = regexp.MustCompile("`([A-Z][A-Z_]+)`")            // in a document
	contextKey  = regexp.MustCompile(`-c ([a-z_]+)=`)               // passed by the Makefile
	contextRead = regexp.MustCompile(`contextOf\(app, "([a-z_]+)"`) // by the CDK app
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
	for _, variable := range sorted(settings(t, read(t, "docs/deploying.md"), "## Settings")) {
		var parameter strings.Builder
		for word := range strings.SplitSeq(variable, "_") {
			parameter.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
		if !slices.Contains(names, variable) && !slices.Contains(names, parameter.String()) {
			t.Errorf("docs/release.md names neither %s nor %s", variable, parameter.String())
		}
	}
}

// TestDeploying_context checks that the Makefile and the CDK app know the same keys of the context.
// Settings pass under their names: see infra/settings_test.go.
func TestDeploying_context(t *testing.T) {
	t.Parallel()

	var context strings.Builder
	for line := range strings.Lines(read(t, "Makefile")) {
		if strings.HasPrefix(line, "CONTEXT ") {
			context.WriteString(line)
		}
	}
	if diff := cmp.Diff(sorted(firsts(contextRead, read(t, "infra/main.go")), "arch", "host", "protect"), sorted(firsts(contextKey, context.String()))); diff != "" {
		t.Errorf("keys of the context (-infra/main.go +Makefile):\n%s", diff)
	}
}
