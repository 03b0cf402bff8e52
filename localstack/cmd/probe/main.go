// Command probe prints which of the services and calls that the stack needs the server at
// EMULATOR_URL has. It exits with 1 if the stack cannot run there.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"surehook.example/surehook/localstack/emulator"
	"surehook.example/surehook/localstack/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if os.Getenv(emulator.URLVariable) == "" {
		return errors.New("say which server: EMULATOR_URL=http://127.0.0.1:4566")
	}
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	e, err := emulator.Open(ctx, emulator.Options{Root: root, Name: "probe", Env: os.Environ()})
	if err != nil {
		return err
	}
	_, err = stack.Probe(ctx, e, os.Stdout)
	return err
}
