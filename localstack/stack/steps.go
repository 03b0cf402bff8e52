package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"surehook.example/surehook/localstack/emulator"
)

// step is one or more commands with one progress line.
type step struct {
	title    string
	dir      string // below the repository's folder
	env      []string
	commands [][]string
}

// deploy deploys the stack with CDK.
func (d *deployment) deploy(ctx context.Context) error {
	for _, step := range d.steps() {
		if err := d.run(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// steps returns the commands in order.
func (d *deployment) steps() []step {
	functions := step{title: "build the functions", env: []string{"GOOS=" + d.os, "GOARCH=" + d.arch, "CGO_ENABLED=0"}}
	for _, name := range d.functions {
		functions.commands = append(functions.commands, []string{
			"go", "build", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w",
			"-o", filepath.Join(d.dist, name, "bootstrap"), "./functions/" + name,
		})
	}
	context := []string{
		"-c", "env=local", "-c", "arch=" + d.arch, "-c", "dist=" + d.dist, "-c", "SENDERS=" + SenderRegion, "-c", "DESTINATIONS=" + RolePath,
		"--output", d.assembly(),
	}
	if host, _ := d.emulator.HostName(); host != "127.0.0.1" {
		context = append(context, "-c", "host="+host)
	}
	for _, setting := range d.opts.Context {
		context = append(context, "-c", setting)
	}
	cdkEnv := d.cdkEnv()
	target := func(region string) string { return fmt.Sprintf("aws://%s/%s", emulator.Account, region) }
	bootstrap := slices.Concat([]string{d.cdk(), "bootstrap", target(emulator.Region), target(SenderRegion), "--no-notices"}, context)
	deploy := slices.Concat([]string{
		d.cdk(), "deploy", "--all", "--require-approval", "never", "--no-notices", "--progress", "events",
	}, context)
	steps := []step{
		functions,
		// With the flags of the Makefile's bin/infra, so that nothing is compiled twice.
		{title: "build the CDK app", env: []string{"CGO_ENABLED=0"}, commands: [][]string{{"go", "build", "-trimpath", "-o", filepath.Join("bin", "infra"), "./infra"}}},
	}
	if d.emulator.Attached {
		destroy := slices.Concat([]string{d.cdk(), "destroy", "--all", "--force", "--no-notices"}, context)
		steps = append(steps, step{title: "remove an earlier stack", dir: "infra", env: cdkEnv, commands: [][]string{destroy}})
	}
	return append(steps, []step{
		{title: "bootstrap CDK", dir: "infra", env: cdkEnv, commands: [][]string{bootstrap}},
		{title: "deploy " + Name, dir: "infra", env: cdkEnv, commands: [][]string{deploy}},
	}...)
}

// cdkEnv is the environment of the CDK command line.
func (d *deployment) cdkEnv() []string {
	return append(d.emulator.ClientEnv(),
		"CDK_DISABLE_CLI_TELEMETRY=true",
		"CDK_DEFAULT_ACCOUNT="+emulator.Account,
		"CDK_DEFAULT_REGION="+emulator.Region,
	)
}

// run runs one step and reports progress: a line at the end, and a line every
// fifteen seconds.
func (d *deployment) run(ctx context.Context, s step) error {
	begin := time.Now()
	tick := time.NewTicker(15 * time.Second)
	defer tick.Stop()
	done := make(chan error, 1)
	go func() { done <- d.execute(ctx, s) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%s: %w; the end of %s:\n%s", s.title, err, d.log, emulator.Tail(d.log, 25))
			}
			d.progress("%-24s %5.1f s", s.title, time.Since(begin).Seconds())
			return nil
		case <-tick.C:
			d.progress("%-24s %5.0f s so far", s.title, time.Since(begin).Seconds())
		}
	}
}

func (d *deployment) progress(format string, args ...any) {
	if d.opts.Progress != nil {
		fmt.Fprintf(d.opts.Progress, format+"\n", args...) //nolint:errcheck // a failed progress line is harmless
	}
}

// execute runs the step's commands and appends their output to the log.
func (d *deployment) execute(ctx context.Context, s step) (err error) {
	log, err := os.OpenFile(d.log, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, argv := range s.commands {
		cmd := d.prepare(ctx, filepath.Join(d.opts.Root, s.dir), argv...)
		cmd.Env = append(cmd.Env, s.env...)
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run %s: %w", filepath.Base(argv[0]), err)
		}
	}
	return nil
}

// output runs a program and returns the output.
func (d *deployment) output(ctx context.Context, dir string, argv ...string) (string, error) {
	out, err := d.prepare(ctx, dir, argv...).Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w", argv[0], err)
	}
	return string(bytes.TrimSpace(out)), nil
}

// prepare makes a command. The command ends with ctx, together with its
// children: cdk and go start children.
func (d *deployment) prepare(ctx context.Context, dir string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = slices.Clone(d.opts.Env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
