// Command run starts the whole stack on this machine. It starts an AWS
// emulator, deploys the real stack with the real functions, and starts a
// receiver. Then it shows one delivery with success on the first attempt, and
// one with success on the third attempt. The stack runs until Ctrl-C.
//
// EMULATOR=localstack selects LocalStack in Docker instead of MiniStack.
// ONESHOT=1 ends the program after the demonstration; the exit code reports the
// result.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stopped := ctx.Err() != nil
	stop()
	switch {
	case err == nil:
	case stopped:
		fmt.Fprintln(os.Stderr, "Stopped before the end.")
		os.Exit(interrupted)
	default:
		fmt.Fprintln(os.Stderr, "\nrun:", err)
		os.Exit(1)
	}
}

// interrupted is the shells' exit code of a program after Ctrl-C.
const interrupted = 130

// run starts everything, runs the demonstration, and stops everything.
func run(ctx context.Context) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	say := &narrator{out: os.Stdout, now: time.Now, began: time.Now()}

	say.step("Start an AWS emulator, or use the one of %s", emulator.URLVariable)
	e, err := emulator.Open(ctx, emulator.Options{Root: root, Name: "run", Port: emulator.DefaultPort, Stack: true, Env: os.Environ(), Strict: true})
	if err != nil {
		return err
	}
	defer func() {
		say.line("")
		say.line("%s", e.Farewell())
		err = errors.Join(err, e.Stop())
	}()
	say.item("ready", "%s at %s", e.Kind, e.URL)
	if _, err := stack.Probe(ctx, e, say.indented()); err != nil {
		return err
	}
	if !e.Attached {
		say.item("log", "%s", e.LogPath)
	}

	say.step("Deploy the stack")
	s, err := stack.Deploy(ctx, e, stack.Options{Root: root, Env: os.Environ(), Progress: say.indented()})
	if err != nil {
		return err
	}

	say.step("Start a receiver")
	name, bind := e.HostName()
	r, err := receiver.Start(ctx, name, bind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	say.item("ready", "%s", r.URL)

	d := &demo{say: say, api: s.Client(), receiver: r}
	if err := d.show(ctx); err != nil {
		return withLogs(ctx, e, s, err)
	}
	if os.Getenv("ONESHOT") == "1" {
		return nil
	}
	say.staysUp(s, r, d.lastEvent)
	<-ctx.Done()
	return nil
}

// withLogs adds the last lines of the functions' and the emulator's logs.
func withLogs(ctx context.Context, e *emulator.Emulator, s *stack.Stack, err error) error {
	if ctx.Err() != nil {
		return err
	}
	functions := filepath.Join(e.Dir, "functions.log")
	if logErr := s.SaveFunctionLogs(ctx, functions); logErr != nil {
		err = errors.Join(err, logErr)
	}
	return fmt.Errorf("%w\n\nThe end of %s:\n%s\n\nThe end of %s:\n%s",
		err, e.LogPath, emulator.Tail(e.LogPath, 10), functions, emulator.Tail(functions, 20))
}
