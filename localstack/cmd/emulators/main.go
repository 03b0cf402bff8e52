// Command emulators starts the emulators of the integration tests and runs the
// command after "--" with the emulators' addresses in SUREHOOK_EMULATORS. At
// the end, it stops the emulators and exits with the command's exit code:
//
//	go run ./localstack/cmd/emulators -- go test -tags integration -count=1 ./...
//
// EMULATOR=localstack selects LocalStack instead of MiniStack and Moto, and
// EMULATOR=localstack-4.14.0 the Python package of this LocalStack version.
// EMULATORS_FOLDER names the logs' folder in bin/local, "integration" by
// default. Two concurrent runs need two folders.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/tools/strict"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if errors.Is(err, strict.ErrViolations) {
		fmt.Fprintln(os.Stderr, "emulators:", err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		if !errors.Is(err, strict.ErrViolations) {
			fmt.Fprintln(os.Stderr, "emulators:", err)
		}
		os.Exit(1)
	}
}

// run starts the emulators, runs the command, and stops the emulators.
func run(ctx context.Context, args []string) (err error) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("no command: give a command after --")
	}
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	opts := emulator.Options{Root: root, Name: cmp.Or(os.Getenv("EMULATORS_FOLDER"), "integration"), Env: os.Environ(), Strict: true}
	var addresses []string
	use := func(e *emulator.Emulator) {
		fmt.Fprintf(os.Stderr, "%s is ready at %s (log: %s)\n", e.Kind, e.URL, e.LogPath)
		addresses = append(addresses, e.Name()+"="+e.URL)
	}
	first, err := emulator.Open(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.Stop()) }()
	use(first)
	if first.Kind == emulator.MiniStack && !first.Attached { // the second opinion
		moto, startErr := emulator.Start(ctx, emulator.Moto, opts)
		if startErr != nil {
			return startErr
		}
		defer func() { err = errors.Join(err, moto.Stop()) }()
		use(moto)
	}
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // Ctrl-C reaches the command directly; the command gets time for a clean end
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "SUREHOOK_EMULATORS="+strings.Join(addresses, ","))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}
