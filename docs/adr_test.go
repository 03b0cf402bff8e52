package docs_test

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	mostDecisions     = 35
	mostDecisionWords = 250
)

// TestDecisions checks that every decision has its parts in few words, and a line in the
// index, in their order.
func TestDecisions(t *testing.T) {
	t.Parallel()

	form := regexp.MustCompile(`^# (\d{2}) ([^\n]+)\n\n## Context\n(?s:.+)\n## Decision\n(?s:.+)\n## Refused\n(?s:.+)\n## What would change our mind\n(?s:.+)$`)
	index, count := read(t, "docs/adr/README.md"), 0
	for _, p := range pages(t) {
		name := path.Base(p.path)
		if path.Dir(p.path) != "docs/adr" || name == "README.md" {
			continue
		}
		count++
		parts := form.FindStringSubmatch(p.text)
		if parts == nil {
			t.Errorf("%s has no number, title, context, decision, refused and what would change our mind in this order", p.path)
			continue
		}
		if want, _ := strconv.Atoi(parts[1]); want != count || !strings.HasPrefix(name, parts[1]+"-") {
			t.Errorf("%s has the number %s; want %d in both", p.path, parts[1], count)
		}
		if words := len(strings.Fields(p.text)); words > mostDecisionWords {
			t.Errorf("%s has %d words; want at most %d", p.path, words, mostDecisionWords)
		}
		line := "* [" + parts[1] + "](" + name + ") " + parts[2] + "\n"
		_, after, found := strings.Cut(index, line)
		if !found {
			t.Errorf("the index has no line of %s after those before it", p.path)
			continue
		}
		index = after
	}
	if count < 10 || count > mostDecisions {
		t.Errorf("%d decisions; want 10 to %d", count, mostDecisions)
	}
}
