//go:build mutation

package isolation_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMutations proves that the rows and tests of isolation can fail: an overlay takes each rule
// out of the code, and its row or test must fail. Which deliveries meet is a matter of chance:
// without its rule, the row "slow tenant" still passes once in three runs. So a row is run up to
// five times.
func TestMutations(t *testing.T) {
	t.Parallel()

	for _, tt := range mutations() {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()

			folder, test := ".", "^TestRows$/^"+strings.ReplaceAll(tt.row, " ", "_")+"$"
			if tt.row == "" {
				folder, test, _ = strings.Cut(tt.test, " ")
				folder = filepath.Join("..", "..", folder)
			}
			overlay := tt.mutate(t)
			run := exec.CommandContext(t.Context(), "go", "test", "-count=5", "-failfast", "-vet=off", "-timeout", "5m", "-overlay", overlay, "-run", test, "./"+folder)
			out, err := run.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: Test")) {
				t.Errorf("%s does not find the broken rule (%v):\n%s", test, err, out)
			}
		})
	}
}
