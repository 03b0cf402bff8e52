// Command smoke deploys the stack to an emulator and runs the smoke test of
// deployments, internal/smoke: the same code as on AWS. The differences are the
// addresses of the API and of the receiver, the checks that the emulator cannot
// answer, and the limits of time.
//
// RELEASES are folders of releases of the environment local, with spaces between: their
// deploy.sh deploy in place of CDK, one after the other. LONG=1 also waits for a schedule beyond 15 minutes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"surehook.example/surehook/internal/smoke"
	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		os.Exit(1)
	}
}

// errFailed reports a FAIL in the table.
var errFailed = errors.New("a check failed")

func run(ctx context.Context, out io.Writer) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	e, err := emulator.Open(ctx, emulator.Options{Root: root, Name: "smoke", Env: os.Environ(), Stack: true, Strict: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	if _, err := stack.Probe(ctx, e, out); err != nil {
		return err
	}
	s, err := stack.Deploy(ctx, e, stack.Options{Root: root, Env: os.Environ(), Progress: out, Releases: strings.Fields(os.Getenv("RELEASES"))})
	if err != nil {
		return err
	}
	options, err := s.Smoke(e, out)
	if err != nil {
		return err
	}
	options.Long = os.Getenv("LONG") == "1"
	results, err := smoke.Run(ctx, options)
	if err == nil && smoke.Failed(results) {
		err = errFailed
	}
	return err
}
