//go:build mutation

package sim_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMutations proves that the simulator can fail: an overlay puts each bug into
// the code, and in 5,000 seeds the first failed check must be one of the bug's. For
// some bugs it is a test of a package in place of the seeds.
func TestMutations(t *testing.T) {
	t.Parallel()

	for _, tt := range mutations() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if tt.test != "" {
				fails(t, tt.test, tt.mutate(t))
				return
			}
			found, line, out := mutated(t, tt.mutate(t))
			switch {
			case found == "":
				t.Errorf("5,000 seeds do not find the bug:\n%s", out)
			case !slices.Contains(tt.by, found):
				t.Errorf("check %q finds the bug; want %q: %s", found, tt.by, line)
			}
			t.Log(line)
		})
	}
}

// fails runs the test with the overlay. The test must fail.
func fails(t *testing.T, test, overlay string) {
	t.Helper()

	folder, name, _ := strings.Cut(test, " ")
	run := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-run", "^"+name+"$", "./"+filepath.Join("..", "..", folder))
	if out, err := run.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("--- FAIL: "+name)) {
		t.Errorf("%s does not find the bug (%v):\n%s", test, err, out)
	}
}

// mutated runs the simulator with the overlay. found is the check that
// fails in the lowest seed; empty if every seed passes.
func mutated(t *testing.T, overlay string) (found check, line, out string) {
	t.Helper()

	binary := filepath.Join(t.TempDir(), "sim.test")
	// The linking takes most of the time of a bug that is found soon.
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, ".")
	if built, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, built)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run", "TestSeeds$", "-seeds", "5000")
	run.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400") // the mutants run in parallel
	ran, err := run.CombinedOutput()
	if err == nil {
		return "", "", string(ran)
	}
	lowest := 0
	for _, m := range regexp.MustCompile(`seed (\d+): check ([a-z ]+): .*`).FindAllStringSubmatch(string(ran), -1) {
		if seed, err := strconv.Atoi(m[1]); err == nil && (lowest == 0 || seed < lowest) {
			lowest, found, line = seed, check(m[2]), m[0]
		}
	}
	return found, line, string(ran)
}
