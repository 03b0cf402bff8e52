package docs_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// The documents stay short enough to be read: these are the words outside of tables and code.
const (
	mostWords     = 22_150 // of the pages together
	mostPageWords = 900    // of a page
)

// TestLength counts the words of the pages in docs and beside README.md, without the decisions. The
// code writes docs/cli.md. The runbook and the page for contributors have sections that are read one
// at a time. Lines of a table and of HTML are not words.
func TestLength(t *testing.T) {
	t.Parallel()

	total := 0
	for _, p := range pages(t) {
		if folder := path.Dir(p.path); folder != "docs" && folder != "." || p.path == "docs/cli.md" {
			continue
		}
		words := 0
		for line := range strings.Lines(p.prose) {
			if !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "<") {
				words += len(strings.Fields(line))
			}
		}
		if words > mostPageWords && !slices.Contains([]string{"docs/runbook.md", "CONTRIBUTING.md"}, p.path) {
			t.Errorf("%s has %d words; want at most %d", p.path, words, mostPageWords)
		}
		total += words
	}
	if total > mostWords {
		t.Errorf("the documents have %d words; want at most %d", total, mostWords)
	}
}
