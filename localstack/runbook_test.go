//go:build e2e

package localstack_test

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/receiver"
)

// TestRunbook runs the runbook's blocks marked local, in order and in one
// shell, like an operator.
func TestRunbook(t *testing.T) {
	t.Parallel()

	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the runbook needs %s: %v", tool, err)
		}
	}
	b := setup(t)
	b.endpoint("crm", map[string]any{"uid": "crm"}, receiver.Status(http.StatusForbidden), receiver.Status(http.StatusOK))
	b.await(b.postOne(), "dead")

	raw, err := os.ReadFile("../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```sh local\n(.*?)```\n").FindAllStringSubmatch(string(raw), -1)
	if len(blocks) < 10 {
		t.Fatalf("docs/runbook.md has %d blocks marked local; want 10 or more", len(blocks))
	}
	var script strings.Builder
	for _, block := range blocks {
		script.WriteString(block[1])
	}
	cmd := exec.CommandContext(b.ctx, "bash", "-euxo", "pipefail", "-c", script.String())
	cmd.Env = append(os.Environ(), "API=http://"+world.stack.Host, "KEY="+world.stack.Key, "TENANT="+b.tenant, "ENDPOINT=crm",
		"NO_PROXY=localhost,.localhost,127.0.0.1", "no_proxy=localhost,.localhost,127.0.0.1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the runbook's commands end with %v:\n%s", err, strings.ReplaceAll(string(out), world.stack.Key, "$KEY"))
	}
}
