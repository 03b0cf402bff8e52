package surehook

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRunbook checks that the runbook has one section per alarm link and no
// broken internal links.
func TestRunbook(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(raw), "\n# Alarms\n")
	alarms, _, closed := strings.Cut(rest, "\n# ")
	if !ok || !closed {
		t.Fatal("docs/runbook.md has no part Alarms with another after it")
	}
	var got []string
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(alarms, -1) {
		got = append(got, heading[1])
	}
	var want []string
	for name, r := range everyAlarm(t) {
		_, section, ok := strings.Cut(show(r.at("AlarmDescription")), " Runbook: docs/runbook.md#")
		if !ok {
			t.Errorf("%s links to no section of the runbook", name)
		}
		want = append(want, section)
	}
	slices.Sort(got)
	slices.Sort(want)
	want = slices.Compact(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections of alarms (-want +got):\n%s", diff)
	}

	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(raw), -1) {
		anchors[anchor(heading[1])] = true
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(string(raw), -1) {
		if !anchors[link[1]] {
			t.Errorf("docs/runbook.md links to #%s; want one of its headings", link[1])
		}
	}
}

// anchor returns GitHub's anchor of a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}
