package formats_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/memory/table"
)

var update = flag.Bool("update", false, "write the folder unreleased, and the meanings of all builds")

// unreleased is the folder of today's code.
const unreleased = "unreleased"

// file is a file of a folder.
func file(folder string, path ...string) string {
	return filepath.Join(append([]string{"testdata", folder}, path...)...) + ".json"
}

// read returns what the build wrote.
func read(t *testing.T, folder string) build {
	t.Helper()

	b := build{items: files(t, folder, "items")}
	for name, into := range map[string]*map[string]string{"messages": &b.messages, "cursors": &b.cursors} {
		raw, err := os.ReadFile(file(folder, name))
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatalf("read %s of the build %s: %v", name, folder, err)
		}
	}
	return b
}

// files returns the files of a folder by name.
func files(t *testing.T, folder, part string) map[string][]byte {
	t.Helper()

	paths, err := filepath.Glob(file(folder, part, "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("the build %s has no %s: %v", folder, part, err)
	}
	all := make(map[string][]byte)
	for _, path := range paths {
		if all[strings.TrimSuffix(filepath.Base(path), ".json")], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// write replaces the files of a part of a folder.
func write(t *testing.T, folder, part string, all map[string][]byte) {
	t.Helper()

	if err := os.RemoveAll(filepath.Dir(file(folder, part, "any"))); err != nil {
		t.Fatal(err)
	}
	for name, content := range all {
		path := file(folder, part, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWritten compares what today's code writes with the folder unreleased.
func TestWritten(t *testing.T) { //nolint:paralleltest // the randomness of the process is fixed; the other tests are parallel, so they come later
	now := written(t)
	singles := map[string][]byte{"messages": text(t, now.messages), "cursors": text(t, now.cursors)}
	if *update {
		write(t, unreleased, "items", now.items)
		for name, content := range singles {
			if err := os.WriteFile(file(unreleased, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	stored := read(t, unreleased)
	compare(t, "items", stored.items, now.items)
	compare(t, "messages", map[string][]byte{"messages": text(t, stored.messages), "cursors": text(t, stored.cursors)}, singles)
}

// compare compares the files by name.
func compare(t *testing.T, part string, want, got map[string][]byte) {
	t.Helper()

	for name := range maps.Keys(got) {
		if diff := cmp.Diff(string(want[name]), string(got[name])); diff != "" {
			t.Errorf("%s %s (-stored +now):\n%s\nread package formats' documentation, and then: go test ./proof/formats -args -update", part, name, diff)
		}
	}
	for name := range want {
		if got[name] == nil {
			t.Errorf("%s %s: nothing writes it now", part, name)
		}
	}
}

// TestRead reads the folder of each build with today's code.
func TestRead(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder

	folders, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()

			now := make(map[string][]byte)
			b := read(t, folder.Name())
			for name, shown := range meaning(t, b, load(t, b.items), newCoverage()) {
				now[name] = text(t, shown)
			}
			if *update {
				write(t, folder.Name(), "meaning", now)
			}
			compare(t, "meaning of", files(t, folder.Name(), "meaning"), now)
			if now["unreadable"] != nil {
				t.Errorf("today's code cannot read %s", now["unreadable"])
			}
		})
	}
}

// TestRead_everyItem removes each item of the folder unreleased: the meaning changes, so
// TestRead reads the item.
func TestRead_everyItem(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder
	if testing.Short() {
		t.Skip("a read of everything for each item")
	}

	b := read(t, unreleased)
	whole := text(t, meaning(t, b, load(t, b.items), newCoverage()))
	var all []table.Key
	load(t, b.items).Table.Each(func(k table.Key, _ table.Item) bool {
		all = append(all, k)
		return true
	})
	for _, k := range all {
		if slices.Equal(whole, text(t, meaning(t, b, load(t, b.items, k), newCoverage()))) {
			t.Errorf("nothing of the meaning comes from the item %s", k)
		}
	}
}
