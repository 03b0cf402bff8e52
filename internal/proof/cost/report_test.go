package cost_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/proof/cost"
)

// TestReport_document checks that the parts of docs/cost.md without figures of
// a run are as the code writes them.
func TestReport_document(t *testing.T) {
	t.Parallel()

	committed, err := os.ReadFile("../../../docs/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	want, got := cost.Report{}.String(), string(committed)
	for _, bounds := range [][2]string{{"# What", "## USD"}, {"\nThe free tier", "\n## Assumptions"}, {"## Assumptions", ""}} {
		if diff := cmp.Diff(between(want, bounds), between(got, bounds)); diff != "" {
			t.Errorf("docs/cost.md is not as `make cost` writes it (-code +document):\n%s", diff)
		}
	}
	for line := range strings.Lines(want) {
		if runs, _, ok := strings.Cut(line, " | "); ok && strings.Contains(runs, ", every ") && !strings.Contains(got, runs+" | ") {
			t.Errorf("docs/cost.md has no row %q", runs)
		}
		if strings.Contains(line, " at ") && strings.HasPrefix(line, "| ") && !strings.Contains(got, line) {
			t.Errorf("docs/cost.md has no line %q", line)
		}
	}
}

// between returns the text from the first bound up to the second. An empty
// second bound is the end.
func between(text string, bounds [2]string) string {
	_, text, _ = strings.Cut(text, bounds[0])
	if bounds[1] != "" {
		text, _, _ = strings.Cut(text, bounds[1])
	}
	return text
}
