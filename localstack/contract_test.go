//go:build e2e

package localstack_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// contractLimit bounds the whole run of Schemathesis. A run takes about two
// minutes, and eight with the phase coverage.
const contractLimit = 15 * time.Minute

// exampleURL is the endpoint's URL in the document's examples.
const exampleURL = "https://example.com/hooks/surehook"

// TestTheContractHolds runs Schemathesis with api/openapi.yaml. Schemathesis
// sends valid and invalid requests and checks every answer of the deployed API:
// no 5xx but a 503 that a repetition mends, no undocumented status or media type, no header or body outside the
// description, no accepted invalid request, no answered request without a key.
// The settings are in schemathesis.toml, and what it does otherwise in contract/client.py. CONTRACT_PHASES adds
// the phase coverage, with each bound of each parameter, which the weekly run makes.
//
// The test runs before the concurrent tests, because it keeps the machine busy.
func TestTheContractHolds(t *testing.T) { //nolint:paralleltest // see above
	needs(t)
	program, err := filepath.Abs(filepath.Join("..", ".venv", "bin", "schemathesis"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("Schemathesis is not installed: %v; run `make local`", err)
	}
	config, err := filepath.Abs("schemathesis.toml")
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := filepath.Abs("contract")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), contractLimit, errors.New("Schemathesis did not end"))
	defer cancel()

	dir := world.emulator.Dir
	cmd := exec.CommandContext(ctx, program, "--config-file", config, "run", contract(t, dir),
		"--url", world.api.Address, "--phases", cmp.Or(os.Getenv("CONTRACT_PHASES"), "examples,fuzzing,stateful"), "--seed", "1", "--no-color")
	cmd.Dir = dir // Schemathesis keeps a cache in its working directory
	cmd.Env = append(os.Environ(), "CONTRACT_HOST="+world.api.Host, "CONTRACT_KEY="+world.api.Key,
		"PYTHONPATH="+hooks, "SCHEMATHESIS_HOOKS=client", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()

	report := filepath.Join(dir, "schemathesis.txt")
	if err := os.WriteFile(report, out, 0o600); err != nil {
		t.Fatal(err)
	}
	_, summary, found := strings.Cut(string(out), " SUMMARY ")
	if err != nil || !found {
		t.Fatalf("Schemathesis: %v, %v; want every answer to be as documented. The report (%s):\n%s", err, context.Cause(ctx), report, out)
	}
	t.Logf("the report is %s; its summary:\n%s", report, summary)
}

// contract writes the document for the test into the folder. The examples use
// an endpoint at the receiver, so nothing leaves this machine.
func contract(t *testing.T, dir string) string {
	t.Helper()
	document, err := os.ReadFile(filepath.Join("..", "api", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), exampleURL) {
		t.Fatalf("api/openapi.yaml has no example with the URL %s", exampleURL)
	}
	path := filepath.Join(dir, "openapi.yaml")
	local := strings.ReplaceAll(string(document), exampleURL, world.receiver.URL+"/"+t.Name())
	if err := os.WriteFile(path, []byte(local), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
