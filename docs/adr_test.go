package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecisions checks that every decision has the parts of a decision, and a
// row with its title, status and date in the index.
func TestDecisions(t *testing.T) {
	t.Parallel()

	head := regexp.MustCompile(`^# (\d{4}) (.+)\n\nStatus: (Proposed|Accepted|Superseded by \[?\d{4}.*)\n\nDate: (\d{4}-\d{2}-\d{2})\n\n## Context\n(?s:.*)\n## Decision\n(?s:.*)\n## Consequences\n`)
	var want [][]string
	for _, p := range pages(t) {
		name := path.Base(p.path)
		if path.Dir(p.path) != "docs/adr" || name == "README.md" {
			continue
		}
		parts := head.FindStringSubmatch(p.text)
		if parts == nil {
			t.Errorf("%s has no title, status, date, context, decision and consequences in this order", p.path)
			continue
		}
		if !strings.HasPrefix(name, parts[1]+"-") || !abridges(strings.TrimSuffix(name, ".md"), parts[1]+" "+parts[2]) {
			t.Errorf("%s has the title %q; want a file name of words of the title", p.path, parts[2])
		}
		want = append(want, []string{"[" + parts[1] + "](" + name + ")", parts[2], parts[3], parts[4]})
	}
	if len(want) < 17 {
		t.Errorf("%d decisions; want 17 or more", len(want))
	}
	if diff := cmp.Diff(want, document(t, "docs/adr/README.md").table(t, "number", "decision", "status", "date")); diff != "" {
		t.Errorf("index of decisions (-files +index):\n%s", diff)
	}
}

// abridges reports whether the words of a file name are words of the title, in
// their order. A file name may say "and" for punctuation.
func abridges(name, title string) bool {
	words := regexp.MustCompile(`[a-z0-9]+`)
	rest := words.FindAllString(strings.ToLower(title), -1)
	for _, word := range words.FindAllString(name, -1) {
		i := slices.Index(rest, word)
		if i < 0 && word != "and" {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}
