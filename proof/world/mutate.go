package world

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Mutate returns the path of an overlay for go test: a file of the repository with old, which
// stands in it exactly once, replaced by bug. The working directory must be two folders below the
// root, as in tests of proof/sim.
func Mutate(t testing.TB, name, old, bug string) (overlay string) {
	t.Helper()

	file, err := filepath.Abs(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), old); n != 1 {
		t.Fatalf("%s has %d of %q; want 1: the code changed, so change the mutation", name, n, old)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{changed: strings.Replace(string(text), old, bug, 1), overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
