//go:build mutation

package sim_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestMutations proves that the simulator can fail: an overlay puts each bug into
// the code, and 2,000 seeds must find the bug.
func TestMutations(t *testing.T) { //nolint:paralleltest // each uses all processors
	for _, tt := range mutations() { //nolint:paralleltest // each uses all processors
		t.Run(tt.name, func(t *testing.T) {
			file, code := tt.mutate(t)
			found, out := mutated(t, file, code)
			if found == "" {
				t.Errorf("2,000 seeds do not find the bug:\n%s", out)
			}
			t.Log(found)
		})
	}
}

// mutated runs the simulator with the file's code replaced. found is the line of
// the seed that fails; empty if every seed passes.
func mutated(t *testing.T, file, code string) (found, out string) {
	t.Helper()

	dir := t.TempDir()
	changed, overlay, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "sim.test")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(code), overlay: text} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if built, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, built)
	}
	ran, err := exec.CommandContext(t.Context(), binary, "-test.run", "TestSeeds$", "-seeds", "2000").CombinedOutput()
	if err == nil {
		return "", string(ran)
	}
	return regexp.MustCompile(`seed \d+: .*`).FindString(string(ran)), string(ran)
}
