package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArchitecture checks that the table of packages names every package of
// internal, proof and functions/internal, and no other.
func TestArchitecture(t *testing.T) {
	t.Parallel()

	folders := make(map[string]bool)
	for _, file := range files(t) {
		folder := path.Dir(file)
		if path.Ext(file) == ".go" && path.Base(folder) != "testdata" &&
			(strings.HasPrefix(folder, "internal/") || strings.HasPrefix(folder, "proof/") || strings.HasPrefix(folder, "functions/internal/")) {
			folders[folder] = true
		}
	}
	var want, got []string
	for folder := range folders {
		want = append(want, folder)
	}
	for _, row := range document(t, "docs/architecture.md").table(t, "package", "content") {
		got = append(got, strings.Trim(row[0], "`"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages (-folders +document):\n%s", diff)
	}
}

// TestRunbook checks that the schedules named in the runbook are those of the
// prod stack.
func TestRunbook(t *testing.T) {
	t.Parallel()

	_, section, _ := strings.Cut(read(t, "docs/runbook.md"), "\n## breaker-silent\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for id, r := range resources(t) {
		if r.Type == "AWS::Scheduler::Schedule" && !strings.Contains(section, "`"+id+"`") {
			t.Errorf("the section breaker-silent of docs/runbook.md does not name the schedule `%s`", id)
		}
	}
}

// TestAlarms checks that the paths of the API in the alarms' descriptions exist.
func TestAlarms(t *testing.T) {
	t.Parallel()

	for id, r := range resources(t) {
		text, _ := r.Properties["AlarmDescription"].(string)
		for _, path := range regexp.MustCompile(`/v1/[a-z0-9{}/_-]+`).FindAllString(text, -1) {
			if !served("", path) {
				t.Errorf("the alarm %s names %s; want a path of the API", id, path)
			}
		}
	}
}

// TestIndex checks that the index of the documents names every document of its folder.
func TestIndex(t *testing.T) {
	t.Parallel()

	index := read(t, "docs/README.md")
	for _, p := range pages(t) {
		if path.Dir(p.path) == "docs" && path.Base(p.path) != "README.md" && !strings.Contains(index, "]("+path.Base(p.path)+")") {
			t.Errorf("docs/README.md does not link to %s", p.path)
		}
	}
}
