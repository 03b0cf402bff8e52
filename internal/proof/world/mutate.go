package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Mutate returns the path and the code of a file below internal with old, which stands in
// the file exactly once, replaced by bug. The working directory must be two folders below
// internal, as in tests of internal/proof/sim.
func Mutate(t testing.TB, name, old, bug string) (file, code string) {
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
	return file, strings.Replace(string(text), old, bug, 1)
}
