// Command picture draws docs/dashboard.svg. It deploys the real stack to an
// emulator on this machine, sends some minutes of traffic with an outage, and
// draws the stack's own dashboard with the measured values.
//
// The functions' metrics come from their log lines, as in CloudWatch. Queue
// depths come from SQS, CloudWatch's own source. Metrics measured only by AWS
// have no values here, and the picture says so.
//
// RUN is the duration of the traffic, 6m by default. OUT is the output file.
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
	"surehook.example/surehook/localstack/tools/picture"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Getenv)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// settings are the options from the environment.
type settings struct {
	root, out string
	length    time.Duration
}

func read(get func(string) string) (settings, error) {
	root, err := os.Getwd()
	if err != nil {
		return settings{}, fmt.Errorf("find the repository: %w", err)
	}
	s := settings{root: root, out: filepath.Join(root, "docs", "dashboard.svg"), length: 6 * time.Minute}
	if out := get("OUT"); out != "" {
		s.out = out
	}
	if length := get("RUN"); length != "" {
		if s.length, err = time.ParseDuration(length); err != nil {
			return s, fmt.Errorf("RUN is %q, not a duration such as 6m: %w", length, err)
		}
	}
	return s, nil
}

// run deploys the stack, sends the traffic, stops the stack, and draws the
// picture.
func run(ctx context.Context, get func(string) string) (err error) {
	set, err := read(get)
	if err != nil {
		return err
	}
	// On AWS the template sets this variable. The emulator does not set the
	// variable.
	env := append(os.Environ(), "AWS_LAMBDA_LOG_FORMAT=JSON")
	e, err := emulator.Start(ctx, emulator.MiniStack, emulator.Options{Root: set.root, Name: "picture", Env: env})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	s, err := stack.Deploy(ctx, e, stack.Options{Root: set.root, Env: os.Environ(), Progress: os.Stderr})
	if err != nil {
		return err
	}
	name, bind := e.HostName()
	r, err := receiver.Start(ctx, name, bind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()

	values := picture.NewValues()
	t := traffic{api: s.Client(), receiver: r, length: set.length, depths: depths{stack: s, values: values}}
	fmt.Fprintf(os.Stderr, "sending events for %v\n", set.length)
	if err := t.run(ctx); err != nil {
		return err
	}
	return draw(ctx, set, e, s, values)
}

// draw adds the functions' metrics and writes the picture.
func draw(ctx context.Context, set settings, e *emulator.Emulator, s *stack.Stack, values *picture.Values) error {
	logs := filepath.Join(e.Dir, "functions.log")
	if err := s.SaveFunctionLogs(ctx, logs); err != nil {
		return err
	}
	written, err := os.ReadFile(logs)
	if err != nil {
		return fmt.Errorf("read the functions' logs: %w", err)
	}
	lines, err := values.AddLog(written)
	if err != nil {
		return err
	}
	template, err := os.ReadFile(filepath.Join(e.Dir, "cdk", "cdk.out", stack.Name+".template.json"))
	if err != nil {
		return fmt.Errorf("read the synthesised template: %w", err)
	}
	queues, err := queueNames(ctx, s)
	if err != nil {
		return err
	}
	board, err := picture.ReadBoard(template, queues)
	if err != nil {
		return err
	}
	f, err := os.Create(set.out)
	if err != nil {
		return fmt.Errorf("make the picture: %w", err)
	}
	caption := fmt.Sprintf("Drawn by localstack/cmd/picture from the dashboard's own widgets and the %d log lines with metrics of a local run of %v, in steps of 10 s.",
		lines, values.To.Sub(values.From).Round(time.Second))
	return errors.Join(picture.Draw(f, board, values, "CloudWatch dashboard "+stack.Name, caption), f.Close())
}
